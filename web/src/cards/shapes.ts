/** What every deck is drawn from: suits, indices, places of pips. A card is 250 by 350 units. */

import type { Rank, Suit } from "./card";

export const WIDTH = 250;
export const HEIGHT = 350;

/** Each about 100 units high around 0, 0. */
export const SUIT_PATHS: Record<Suit, string> = {
  S: "M0-50C10-30 46-8 46 17C46 38 20 45 7 28C9 40 14 47 22 50H-22C-14 47-9 40-7 28C-20 45-46 38-46 17C-46-8-10-30 0-50Z",
  H: "M0 49C-10 29-47 4-47-20C-47-44-14-52 0-24C14-52 47-44 47-20C47 4 10 29 0 49Z",
  D: "M0-52C9-33 25-13 39 0C25 13 9 33 0 52C-9 33-25 13-39 0C-25-13-9-33 0-52Z",
  C: "M0-49C13-49 24-39 24-26C24-17 18-9 11-5C19-8 46-10 46 13C46 36 17 38 7 22C8 38 13 46 22 50H-22C-13 46-8 38-7 22C-17 38-46 36-46 13C-46-10-19-8-11-5C-18-9-24-17-24-26C-24-39-13-49 0-49Z",
};

const SIX = "M32 6C29 3 25 2 21 2C10 2 4 13 4 32C4 46 10 54 20 54C30 54 36 47 36 37C36 27 30 21 21 21C11 21 4 28 4 36";
/** Letters and figures as strokes in a box of 40 by 56; "10" has the width of one. */
const GLYPHS: Record<string, string> = {
  "2": "M5 16C5 7 11 2 20 2C29 2 35 7 35 15C35 27 20 34 5 54H36",
  "3": "M5 3H34L18 23C29 23 36 29 36 38C36 48 29 54 19 54C11 54 6 50 4 44",
  "4": "M28 54V2L3 40H38",
  "5": "M33 3H10L8 25C11 22 15 20 20 20C30 20 36 27 36 37C36 47 29 54 19 54C11 54 6 50 4 44",
  "6": SIX,
  "7": "M4 3H36C25 18 17 34 15 54",
  "8": "M20 26C11 26 7 21 7 14C7 7 12 2 20 2C28 2 33 7 33 14C33 21 29 26 20 26C10 26 4 32 4 40C4 48 10 54 20 54C30 54 36 48 36 40C36 32 30 26 20 26Z",
  "10": "M-3 11L6 3V54M31 2C22 2 18 12 18 28C18 44 22 54 31 54C40 54 44 44 44 28C44 12 40 2 31 2Z",
  A: "M3 54L20 2L37 54M9 36H31",
  K: "M7 2V54M35 2L8 32M18 23L37 54",
  Q: "M20 2C8 2 3 13 3 28C3 43 8 54 20 54C32 54 37 43 37 28C37 13 32 2 20 2ZM23 41L38 58",
  J: "M30 2V40C30 50 25 54 17 54C9 54 5 49 5 41",
  D: "M7 3V53H16C30 53 36 44 36 28C36 12 30 3 16 3Z",
  B: "M7 3V53H22C32 53 36 47 36 40C36 33 31 27 22 27H7M22 27C29 27 33 22 33 15C33 8 29 3 21 3H7",
  Т: "M3 4H37M20 4V54",
  К: "M7 2V54M35 2C33 20 24 27 8 28C25 28 34 36 37 54",
  Д: "M2 58V47H38V58M7 47C13 38 14 22 14 4H32V47",
  В: "M7 3V53H22C32 53 36 47 36 40C36 33 31 27 22 27H7M22 27C29 27 33 22 33 15C33 8 29 3 21 3H7",
};

export interface Lettering {
  weight: number;
  caps: "butt" | "round";
}

/** An index at 0, 0, `height` units high. */
export function glyph(text: string, colour: string, height: number, { weight, caps }: Lettering): string {
  const scale = height / 56;
  const turned = text === "9" ? "rotate(180 20 28)" : "";
  const joins = caps === "round" ? "round" : "miter";
  return (
    `<g transform="translate(${-20 * scale} ${-28 * scale}) scale(${scale})"><path transform="${turned}" ` +
    `d="${GLYPHS[text === "9" ? "6" : text]}" fill="none" stroke="${colour}" stroke-width="${weight}" ` +
    `stroke-linecap="${caps}" stroke-linejoin="${joins}"/></g>`
  );
}

export function pip(suit: Suit, colour: string, x: number, y: number, height: number, turned = false): string {
  const scale = height / 100;
  const turn = turned ? " rotate(180)" : "";
  return `<path transform="translate(${x} ${y})${turn} scale(${scale})" d="${SUIT_PATHS[suit]}" fill="${colour}"/>`;
}

/** Columns from -1 to 1 and rows from -1 to 1; what lies below the middle stands on its head. */
const PLACES: Partial<Record<Rank, readonly (readonly [number, number])[]>> = {
  "2": [[0, -1], [0, 1]],
  "3": [[0, -1], [0, 0], [0, 1]],
  "4": [[-1, -1], [1, -1], [-1, 1], [1, 1]],
  "5": [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]],
  "6": [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]],
  "7": [[-1, -1], [1, -1], [0, -0.5], [-1, 0], [1, 0], [-1, 1], [1, 1]],
  "8": [[-1, -1], [1, -1], [0, -0.5], [-1, 0], [1, 0], [0, 0.5], [-1, 1], [1, 1]],
  "9": [[-1, -1], [1, -1], [-1, -0.33], [1, -0.33], [0, 0], [-1, 0.33], [1, 0.33], [-1, 1], [1, 1]],
  T: [[-1, -1], [1, -1], [0, -0.67], [-1, -0.33], [1, -0.33], [-1, 0.33], [1, 0.33], [0, 0.67], [-1, 1], [1, 1]],
};

export interface PipField {
  across: number;
  down: number;
  height: number;
}

/** The pips of a card of numbers. */
export function pips(rank: Rank, suit: Suit, colour: string, { across, down, height }: PipField): string {
  // Nine and ten leave less room for each.
  const size = rank === "9" || rank === "T" ? height * 0.86 : height;
  return (PLACES[rank] ?? [])
    .map(([x, y]) => pip(suit, colour, WIDTH / 2 + x * across, HEIGHT / 2 + y * down, size, y > 0))
    .join("");
}

/** The same thing twice, the second time turned by half a turn around the card's centre. */
export function twice(content: string): string {
  return `${content}<g transform="rotate(180 ${WIDTH / 2} ${HEIGHT / 2})">${content}</g>`;
}

export function svg(content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">${content}</svg>`;
}

/** The card itself: its ground with the rounded edge. */
export function ground(fill: string, edge: string): string {
  return `<rect x="1.5" y="1.5" width="247" height="347" rx="15" fill="${fill}" stroke="${edge}" stroke-width="3"/>`;
}
