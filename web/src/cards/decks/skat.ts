/** "Skat": flat shapes without outlines, cut along the diagonal, German indices. */

import { COURTS, type Rank, type Suit } from "../card";
import type { Drawing } from "../deck";
import { type Colours, figure, type Hat } from "../figures";
import { glyph, ground, pip, pips, svg, twice } from "../shapes";

const INDICES: Partial<Record<Rank, string>> = { Q: "D", J: "B", T: "10" };
const LETTERING = { weight: 8.5, caps: "round" } as const;
const HATS: Partial<Record<Rank, Hat>> = { K: "plain_crown", Q: "coronet", J: "beret" };
const COLOURS: Record<Suit, Colours> = {
  S: colours("#2b3a55", "#e9b44c", "#6f86b0"),
  H: colours("#d1495b", "#f4d58d", "#8d2036"),
  D: colours("#e07a3f", "#2b3a55", "#f4d58d"),
  C: colours("#3d7a5e", "#f4d58d", "#234a39"),
};
const GROUNDS: Record<Suit, string> = { S: "#dde4ef", H: "#fae0dc", D: "#fbe8d3", C: "#dcebe0" };

function colours(robe: string, panel: string, trim: string): Colours {
  return { skin: "#f3c9a5", hair: "#3b2a23", line: "#1d2430", robe, panel, trim, gold: "#e9b44c", white: "#ffffff" };
}

function court(rank: Rank, suit: Suit, colour: string): string {
  const look = { colours: COLOURS[suit], hat: HATS[rank]!, lineWidth: 0, cloth: "plain", features: "flat" } as const;
  const half =
    `<g clip-path="url(#half)"><rect x="54" y="24" width="142" height="302" fill="${GROUNDS[suit]}"/>` +
    `<g transform="translate(126 188) scale(0.9)">${figure(rank, suit, colour, look)}<path d="M-90 0H90V40H-90Z" fill="${COLOURS[suit].robe}"/></g></g>`;
  return (
    `<clipPath id="half"><path d="M54 38A14 14 0 0 1 68 24H182A14 14 0 0 1 196 38V148L54 202Z"/></clipPath>` +
    `${twice(half)}<path d="M54 202L196 148" stroke="#fff" stroke-width="5"/>`
  );
}

function front(rank: Rank, suit: Suit, colour: string): string {
  const index =
    `<g transform="translate(29 44)">${glyph(INDICES[rank] ?? rank, colour, 57, LETTERING)}</g>` + pip(suit, colour, 29, 103, 40);
  const middle = COURTS.has(rank)
    ? court(rank, suit, colour)
    : rank === "A"
      ? pip(suit, colour, 125, 175, 130)
      : pips(rank, suit, colour, { across: 40, down: 108, height: 50 });
  return svg(ground("#ffffff", "#cfd3d8") + middle + twice(index));
}

function back(): string {
  const checks = `<pattern id="p" width="28" height="28" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="28" height="28" fill="#d1495b"/><rect width="14" height="14" fill="#e9818f"/><rect x="14" y="14" width="14" height="14" fill="#b5364a"/></pattern>`;
  return svg(checks + ground("#ffffff", "#cfd3d8") + `<rect x="14" y="14" width="222" height="322" rx="10" fill="url(#p)"/>`);
}

export const drawing: Drawing = { front, back };
