/** What is heard of a change. Pure. */

import type { Sound } from "../ui/sounds";
import { isCaughtUp, type State, type Told } from "./state";

/** Coming back, nothing is heard of what was missed. */
export function soundsOf(before: State, after: State): Sound[] {
  if (!isCaughtUp(before) || after.version !== before.version + 1) return [];
  const { kind, shown }: Pick<Told, "kind" | "shown"> = after.told.at(-1) ?? { kind: "", shown: {} };
  const sounds: Sound[] = [];
  if (kind === "card_played") sounds.push(shown.trick ? "trick" : "card");
  if (kind === "round_ended") sounds.push(...resultOf(after));
  if (kind === "settle_asked" && after.seat !== null && (after.shared?.shares[after.seat] ?? 0) > 0) sounds.push("coin");
  if (isOnTurn(after) && !isOnTurn(before)) sounds.push("turn");
  return sounds;
}

function resultOf({ board, seat }: State): Sound[] {
  const winners = board?.ended?.winners;
  return winners === undefined || seat === null ? [] : [winners.includes(seat) ? "won" : "lost"];
}

const isOnTurn = ({ board, seat, legal }: State): boolean => legal !== null && seat !== null && board?.to_act === seat;
