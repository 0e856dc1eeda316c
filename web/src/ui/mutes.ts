/** Whom this player does not hear at the table where they sit. The table forgets it when it moves: it is told again. */

import type { State } from "../model/state";

const PLACE = "darbar.muted";

interface Kept {
  table_id: string;
  handles: readonly string[];
}

/** Handles of players: two of them may have one name. */
export function mutedAt(tableId: string): readonly string[] {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE) ?? "null") as Partial<Kept> | null;
    return kept?.table_id === tableId && Array.isArray(kept.handles) ? kept.handles : [];
  } catch {
    // Somebody else's text under our name.
    return [];
  }
}

/** One sits at one table: what was muted at another one is over. */
export function keepMuted(tableId: string, handles: readonly string[]): void {
  localStorage.setItem(PLACE, JSON.stringify({ table_id: tableId, handles } satisfies Kept));
}

/** The muted seats once the table has gone on: whoever leaves is forgotten, whoever changes seats is not. */
export function mutedAfter(muted: ReadonlySet<number>, before: State, now: State): ReadonlySet<number> {
  let seats = new Set(muted);
  for (const { version, kind, shown } of now.told) {
    if (version <= before.version) continue;
    if (kind === "seat_freed" || kind === "seat_taken") seats.delete(shown.seat as number);
    if (kind === "seats_swapped") seats = swapped(seats, shown.seats as [number, number]);
  }
  return seats;
}

function swapped(seats: ReadonlySet<number>, [first, second]: readonly [number, number]): Set<number> {
  const others: Record<number, number> = { [first]: second, [second]: first };
  return new Set([...seats].map((seat) => others[seat] ?? seat));
}
