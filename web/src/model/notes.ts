/** Whether a voice note can be sent now, as far as this client can know (TL-46, TL-47). Pure. The table has the last word. */

import type { State } from "./state";

export type NoNote = "alone" | "taken" | "used";

/** Each player has one note in this. */
export const noteRound = ({ table }: State): string => (table === null ? "" : `${table.table_id}.${table.game_number}.${table.round}`);

/** null: nothing speaks against it. `usedIn` is the round of the note that was sent or thrown away last. */
export function whyNoNote(state: State, usedIn: string): NoNote | null {
  const { table, seat, microphone } = state;
  const people = table?.seats.filter(({ kind }) => kind === "player").length ?? 0;
  if (!table?.started || people < 2) return "alone";
  if (microphone !== null && microphone !== seat) return "taken";
  return usedIn === noteRound(state) ? "used" : null;
}
