/** What has just happened in one sentence, for screen readers. Pure. */

import { cardWords } from "../cards/card";
import { say, sayOr } from "../words/words";
import { isSuit } from "./games/plain";
import { contractName } from "./games/king";
import { nameOf } from "./look";
import type { Heard, State, Told } from "./state";

/** What is said otherwise of oneself. */
type OfOneself = "said.bids" | "said.passes" | "said.contract" | "said.sat" | "said.back";

/** An empty text: nothing that has to be told. */
export function sentenceOf(state: State, { kind, shown }: Told): string {
  const name = typeof shown.seat === "number" ? nameOf(state, shown.seat) : "";
  const of = (key: OfOneself, values: Record<string, string | number>): string => (shown.seat === state.seat ? say(`${key}.you`, values) : say(key, values));
  switch (kind) {
    case "card_played":
      return played(state, shown as { card?: string; trick?: { winner: number }; converted?: unknown }, name);
    case "trump_shown":
    case "trump_chosen":
      return typeof shown.suit === "string" && isSuit(shown.suit) ? say("said.trump_shown", { suit: say(`suits.${shown.suit}`) }) : "";
    case "bid_made":
      return of("said.bids", { name, count: shown.points as number });
    case "bid_passed":
      return of("said.passes", { name });
    case "declared":
      return of("said.contract", { name, contract: contractName(shown.contract as string, shown.suit as string | null) });
    case "seat_taken":
      return of("said.sat", { name });
    case "leave_asked":
      return say("said.left", { name });
    case "player_went_offline":
      return say("said.away", { name });
    case "player_came_back":
      return of("said.back", { name });
    case "stakes_refused":
      return say("said.short");
    default:
      return "";
  }
}

export const phraseOf = (state: State, { seat, phrase }: Heard): string =>
  say("said.phrase", { name: nameOf(state, seat), phrase: sayOr(`phrase.${phrase}`, "") });

const taking = (state: State, seat: number): string =>
  seat === state.seat ? say("said.takes.you") : say("said.takes", { name: nameOf(state, seat) });

function played(state: State, shown: { card?: string; trick?: { winner: number }; converted?: unknown }, name: string): string {
  const card = shown.card ? say("said.plays", { name, card: cardWords(shown.card) }) : say("said.face_down", { name });
  const taken = shown.trick ? taking(state, shown.trick.winner) : "";
  return [card, shown.converted ? say("join") : "", taken].filter(Boolean).join(". ");
}

/** The card by which a King has become a Rebel after this version; null: none has. */
export const convertedSince = (version: number, { told }: State): string | null =>
  (told.findLast((event) => event.version > version && event.shown.converted !== undefined)?.shown.converted as { card: string } | undefined)?.card ?? null;
