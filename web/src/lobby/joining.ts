/** What somebody was given to join a table: a code, or a link with one, with an invite or with the table. Pure. */

export type Joining = { by: "code" | "invite" | "table"; value: string };

const LINKS: readonly [Joining["by"], RegExp][] = [
  ["code", /#\/code\/(\d{6})$/],
  ["invite", /(?:#\/invite\/|\/join\/)([\w-]+)$/],
  ["table", /#\/table\/([\w-]+)$/],
];

/** Null: it leads to no table. A code may be written with spaces, as it is read out. */
export function joiningOf(text: string): Joining | null {
  const given = text.trim();
  const code = given.replaceAll(/[\s-]/g, "");
  if (/^\d{6}$/.test(code)) return { by: "code", value: code };
  for (const [by, link] of LINKS) {
    const value = link.exec(given)?.[1];
    if (value !== undefined) return { by, value };
  }
  return null;
}
