/** What a deck is, and where each one is drawn. Open this to add a deck. */

import type { Rank, Suit } from "./card";

export interface Drawing {
  /** The whole card as SVG; `colour` is the suit's. */
  front(rank: Rank, suit: Suit, colour: string): string;
  back(): string;
}

export interface Deck {
  name: DeckName;
  title: string;
  /** Drawn apart from the rest of the client, and loaded when it is chosen. */
  load: () => Promise<Drawing>;
}

export type DeckName = "classic" | "atlasnye" | "renaissance" | "skat";

export const DECKS: readonly Deck[] = [
  {
    name: "classic",
    title: "Classic",
    load: async () => (await import("./decks/classic")).drawing,
  },
  {
    name: "atlasnye",
    title: "Atlasnye",
    load: async () => (await import("./decks/atlasnye")).drawing,
  },
  {
    name: "renaissance",
    title: "Renaissance",
    load: async () => (await import("./decks/renaissance")).drawing,
  },
  {
    name: "skat",
    title: "Skat",
    load: async () => (await import("./decks/skat")).drawing,
  },
];

export const TWO_COLOURS: Record<Suit, string> = { S: "#15191c", C: "#15191c", H: "#c8202c", D: "#c8202c" };
export const FOUR_COLOURS: Record<Suit, string> = { S: "#15191c", C: "#17734a", H: "#c8202c", D: "#1d5fb4" };
