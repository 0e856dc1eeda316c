/** "Classic": two-headed figures with strong outlines, as on the cards that everybody knows. */

import { COURTS, type Rank, type Suit } from "../card";
import type { Drawing } from "../deck";
import { type Colours, figure, type Hat } from "../figures";
import { glyph, ground, HEIGHT, pip, pips, svg, twice, WIDTH } from "../shapes";

const LETTERING = { weight: 7.5, caps: "butt" } as const;
const COLOURS: Record<Suit, Colours> = {
  S: colours("#1d3f8f", "#c8202c", "#f2b632", "#6b4a2b"),
  H: colours("#c8202c", "#1d3f8f", "#f2b632", "#c9953f"),
  D: colours("#c8202c", "#15191c", "#f5cf6a", "#8d5a2b"),
  C: colours("#1d3f8f", "#f2b632", "#c8202c", "#3a2c22"),
};
const HATS: Partial<Record<Rank, Hat>> = { K: "crown", Q: "coronet", J: "cap" };

function colours(robe: string, panel: string, trim: string, hair: string): Colours {
  return { skin: "#fbe3cd", hair, line: "#15191c", robe, panel, trim, gold: "#f2b632", white: "#fffdf6" };
}

function court(rank: Rank, suit: Suit, colour: string): string {
  const cloth = suit === "S" || suit === "D" ? "stripes" : "lozenges";
  const look = { colours: COLOURS[suit], hat: HATS[rank]!, lineWidth: 1.8, cloth, features: "drawn" } as const;
  const turned = suit === "H" || suit === "C" ? " scale(-1 1)" : "";
  const half = `<g clip-path="url(#half)"><g transform="translate(125 174)${turned} scale(0.84)">${figure(rank, suit, colour, look)}</g></g>`;
  return (
    `<clipPath id="half"><rect x="57" y="24" width="136" height="151"/></clipPath>` +
    `<rect x="56" y="26" width="138" height="298" fill="#fff8e6"/>${twice(half + pip(suit, colour, turned ? 174 : 76, 56, 30))}` +
    `<path d="M57 175H193" stroke="#15191c" stroke-width="2"/>` +
    `<rect x="56" y="26" width="138" height="298" fill="none" stroke="#1d3f8f" stroke-width="2"/>`
  );
}

function ace(suit: Suit, colour: string): string {
  const ring = `<circle cx="125" cy="175" r="70" fill="none" stroke="${colour}" stroke-width="1.5"/><circle cx="125" cy="175" r="76" fill="none" stroke="${colour}" stroke-width="3" stroke-dasharray="1 8.950" stroke-linecap="round"/>`;
  return (suit === "S" ? ring : "") + pip(suit, colour, 125, 175, suit === "S" ? 104 : 88);
}

function front(rank: Rank, suit: Suit, colour: string): string {
  const text = rank === "T" ? "10" : rank;
  const index =
    `<g transform="translate(29 44)">${glyph(text, colour, 57, LETTERING)}</g>` + pip(suit, colour, 29, 103, 40);
  const middle = COURTS.has(rank)
    ? court(rank, suit, colour)
    : rank === "A"
      ? ace(suit, colour)
      : pips(rank, suit, colour, { across: 40, down: 108, height: 48 });
  return svg(ground("#fdfaf2", "#d9d2c0") + middle + twice(index));
}

function back(): string {
  const lattice = `<pattern id="p" width="20" height="20" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 10H20M10 0V20" stroke="#f5f0e2" stroke-width="2.2"/><circle cx="10" cy="10" r="3.400" fill="#f5f0e2"/></pattern>`;
  return svg(
    lattice +
      ground("#fdfaf2", "#d9d2c0") +
      `<rect x="14" y="14" width="${WIDTH - 28}" height="${HEIGHT - 28}" rx="8" fill="#1d3f8f"/>` +
      `<rect x="22" y="22" width="${WIDTH - 44}" height="${HEIGHT - 44}" rx="4" fill="url(#p)" stroke="#f5f0e2" stroke-width="2"/>` +
      `<circle cx="125" cy="175" r="44" fill="#1d3f8f" stroke="#f5f0e2" stroke-width="2.500"/>` +
      `<g fill="#f5f0e2">${[0, 45, 90, 135, 180, 225, 270, 315].map((turn) => `<path transform="rotate(${turn} 125 175)" d="M125 175C117 160 119 147 125 138C131 147 133 160 125 175Z"/>`).join("")}</g>`,
  );
}

export const drawing: Drawing = { front, back };
