/** How the last game of a table ended, for somebody who opens its page again: no snapshot brings it between two games. */

import type { State } from "../model/state";

const PLACE = "darbar.ended";

type Result = Pick<State, "board" | "shared">;

/** The state to begin with at this table. */
export function resultAt(tableId: string): Result {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "null") as (Result & { table_id: string }) | null;
    if (kept?.table_id === tableId) return { board: kept.board, shared: kept.shared };
  } catch {
    // Somebody else's text under our name.
  }
  return { board: null, shared: null };
}

export function keepResult(tableId: string, { board, shared }: Result): void {
  if (board?.ended?.game_over) sessionStorage.setItem(PLACE, JSON.stringify({ table_id: tableId, board, shared }));
}
