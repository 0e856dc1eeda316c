/** How the last game of a table ended, for somebody who opens its page again: no snapshot brings it between two games. */

import { NO_PAST } from "../model/past";
import type { State } from "../model/state";

const PLACE = "darbar.ended";

type Result = Pick<State, "board" | "past" | "shared">;

/** The state to begin with at this table. */
export function resultAt(tableId: string): Result {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "null") as (Result & { table_id: string }) | null;
    if (kept?.table_id === tableId) return { board: kept.board, past: kept.past ?? NO_PAST, shared: kept.shared };
  } catch {
    // Somebody else's text under our name.
  }
  return { board: null, past: NO_PAST, shared: null };
}

export function keepResult(tableId: string, { board, past, shared }: Result): void {
  if (board?.ended?.game_over) sessionStorage.setItem(PLACE, JSON.stringify({ table_id: tableId, board, past, shared }));
}
