/** Whom this player does not hear at the table where they sit. The table forgets it when it moves: it is told again. */

const PLACE = "darbar.muted";

interface Kept {
  table_id: string;
  names: readonly string[];
}

/** Names of players, as the table shows them. */
export function mutedAt(tableId: string): readonly string[] {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE) ?? "null") as Kept | null;
    return kept?.table_id === tableId ? kept.names : [];
  } catch {
    // Somebody else's text under our name.
    return [];
  }
}

/** One sits at one table: what was muted at another one is over. */
export function keepMuted(tableId: string, names: readonly string[]): void {
  localStorage.setItem(PLACE, JSON.stringify({ table_id: tableId, names } satisfies Kept));
}
