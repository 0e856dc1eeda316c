/** Cards as the table writes them: rank, suit and, with two decks, which copy. Open this about names and order. */

import { say } from "../words/words";

export type Suit = "C" | "D" | "H" | "S";
export type Rank = "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "T" | "J" | "Q" | "K" | "A";

export const SUITS: readonly Suit[] = ["S", "H", "C", "D"];
export const RANKS: readonly Rank[] = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"];
export const COURTS: ReadonlySet<Rank> = new Set<Rank>(["J", "Q", "K"]);

const SUIT_SIGNS: Record<Suit, string> = { C: "♣", D: "♦", H: "♥", S: "♠" };

/** `"AS"` and `"AS#2"` are the ace of spades of the first and of the second deck. */
export const rankOf = (card: string): Rank => card[0] as Rank;
export const suitOf = (card: string): Suit => card[1] as Suit;
export const isRed = (suit: Suit): boolean => suit === "H" || suit === "D";

/** "king of hearts", as a screen reader says it. */
export const cardWords = (card: string): string => say("card", { rank: say(`rank.${rankOf(card)}`), suit: say(`suit.${suitOf(card)}`) });

/** "K♥", where there is no room for a card. */
export const cardShort = (card: string): string => `${rankOf(card) === "T" ? "10" : rankOf(card)}${SUIT_SIGNS[suitOf(card)]}`;

export type Sorting = "suit" | "rank";

/** A hand in the order in which it is held; suits alternate in colour as far as the hand allows. */
export function sorted(hand: readonly string[], by: Sorting): string[] {
  const suits = alternating(SUITS.filter((suit) => hand.some((card) => suitOf(card) === suit)));
  const rank = (card: string): number => -RANKS.indexOf(rankOf(card));
  const suit = (card: string): number => suits.indexOf(suitOf(card));
  const keys = by === "suit" ? [suit, rank] : [rank, suit];
  return [...hand].sort((one, other) => {
    for (const key of keys) {
      if (key(one) !== key(other)) return key(one) - key(other);
    }
    return one.localeCompare(other);
  });
}

function alternating(suits: readonly Suit[]): Suit[] {
  const reds = suits.filter(isRed);
  const blacks = suits.filter((suit) => !isRed(suit));
  const [first, second] = reds.length > blacks.length ? [reds, blacks] : [blacks, reds];
  return first.flatMap((suit, place) => [suit, ...second.slice(place, place + 1)]);
}
