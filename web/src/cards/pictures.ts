/** Cards as pictures for an <img>: drawn once, then kept. Open this when a card shows an old face. */

import { rankOf, suitOf } from "./card";
import { DECKS, type DeckName, type Drawing, FOUR_COLOURS, TWO_COLOURS } from "./deck";

export interface Pictures {
  front(card: string): string;
  back: string;
}

/** The pictures of a deck. Raises what the loading of its drawing raises. */
export async function pictures(name: DeckName, fourColours: boolean): Promise<Pictures> {
  const deck = DECKS.find((known) => known.name === name) ?? DECKS[0]!;
  return picturesOf(await deck.load(), fourColours);
}

export function picturesOf(drawing: Drawing, fourColours: boolean): Pictures {
  const colours = fourColours ? FOUR_COLOURS : TWO_COLOURS;
  const kept = new Map<string, string>();
  return {
    back: address(drawing.back()),
    front(card) {
      const known = card.slice(0, 2);
      const picture = kept.get(known) ?? address(drawing.front(rankOf(card), suitOf(card), colours[suitOf(card)]));
      kept.set(known, picture);
      return picture;
    },
  };
}

const address = (svg: string): string => `data:image/svg+xml,${encodeURIComponent(svg)}`;
