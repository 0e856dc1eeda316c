/** Every card of a deck on one page: `cards.html?deck=skat&width=72&four`. For looking at what is drawn. */

import { cardWords, RANKS, SUITS } from "./card";
import { DECKS, type DeckName } from "./deck";
import { pictures } from "./pictures";
import "./page.css";

const asked = new URLSearchParams(location.search);
const names = asked.has("deck") ? [asked.get("deck") as DeckName] : DECKS.map((deck) => deck.name);
const width = Number(asked.get("width") ?? 72);

for (const name of names) {
  const drawn = await pictures(name, asked.has("four"));
  const cards = SUITS.flatMap((suit) => RANKS.toReversed().map((rank) => rank + suit));
  const row = document.createElement("section");
  for (const [source, words] of [...cards.map((card) => [drawn.front(card), cardWords(card)]), [drawn.back, "back"]]) {
    const image = new Image(width, width * 1.4);
    image.src = source!;
    image.alt = words!;
    row.append(image);
  }
  document.body.append(row);
}
