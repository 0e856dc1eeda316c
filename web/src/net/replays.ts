/** The log of a table as far as its rounds are over: for whoever has sat there, and of a public table for everybody. */

import type { Replay } from "../contracts";
import { ask } from "./http";
import { asAccount, known } from "./session";

const PAGES_MAX = 200;

/** All pages in one. Raises Failed. */
export async function replay(tableId: string): Promise<Replay> {
  const path = `/v1/tables/${encodeURIComponent(tableId)}/replay`;
  // A link to a public table's replay is good for whoever has no account yet.
  const get = (from: string): Promise<Replay> => (known() === null ? ask<Replay>("GET", from) : asAccount<Replay>("GET", from));
  let page = await get(path);
  const events = [...page.events];
  for (let pages = 1; page.more && page.events.length > 0 && pages < PAGES_MAX; pages += 1) {
    page = await get(`${path}?after=${events.at(-1)!.version}`);
    events.push(...page.events);
  }
  return { ...page, events, more: false };
}
