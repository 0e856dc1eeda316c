// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { cardWords, RANKS, sorted, SUITS } from "../src/cards/card";
import { DECKS, FOUR_COLOURS, TWO_COLOURS } from "../src/cards/deck";
import { pictures } from "../src/cards/pictures";

const WHOLE_DECK = SUITS.flatMap((suit) => RANKS.map((rank) => rank + suit));
/** Of one card; all decks together stay far below what a photograph of one card would need. */
const CARD_BYTES_MAX = 24_000;

describe.each(DECKS)("the deck $title", (deck) => {
  it("draws every card and the back as whole SVG, each one another, in few bytes", async () => {
    const drawing = await deck.load();
    const drawn = [
      ...WHOLE_DECK.map((card) => drawing.front(card[0] as never, card[1] as never, "#123456")),
      drawing.back(),
    ];
    expect(new Set(drawn).size).toBe(53);
    for (const svg of drawn) {
      const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
      expect(parsed.querySelector("parsererror")).toBeNull();
      expect(parsed.documentElement.getAttribute("viewBox")).toBe("0 0 250 350");
      expect(svg).not.toMatch(/undefined|NaN|null/);
      expect(svg.length).toBeLessThan(CARD_BYTES_MAX);
    }
  });
});

it("shows a second copy as the card that it copies", async () => {
  const drawn = await pictures("classic", false);
  expect(drawn.front("AH#2")).toBe(drawn.front("AH"));
});

it("gives each suit its own colour when four are wanted", () => {
  expect(new Set(Object.values(FOUR_COLOURS)).size).toBe(4);
  expect(new Set(Object.values(TWO_COLOURS)).size).toBe(2);
});

it("says a card in words", () => {
  expect(cardWords("KH")).toBe("king of hearts");
  expect(cardWords("TC#2")).toBe("ten of clubs");
});

describe("sorting a hand", () => {
  it("puts suits together, colours in turn, the highest card first", () => {
    expect(sorted(["2C", "AS", "KH", "3D", "TS", "AH"], "suit")).toEqual(["AS", "TS", "AH", "KH", "2C", "3D"]);
  });

  it("begins with red when there is more of it", () => {
    expect(sorted(["2D", "AS", "KH"], "suit")).toEqual(["KH", "AS", "2D"]);
  });

  it("puts ranks together when that is wanted", () => {
    expect(sorted(["2C", "AS", "KH", "AD"], "rank")).toEqual(["AS", "AD", "KH", "2C"]);
  });

  it("keeps both copies of a card", () => {
    expect(sorted(["AS#2", "AS"], "suit")).toEqual(["AS", "AS#2"]);
  });
});
