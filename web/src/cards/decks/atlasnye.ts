/** "Atlasnye": satin cards with a soft sheen, figures in Russian dress, Cyrillic indices. */

import { COURTS, type Rank, type Suit } from "../card";
import type { Drawing } from "../deck";
import { type Colours, figure, type Hat } from "../figures";
import { glyph, ground, pip, pips, svg, twice } from "../shapes";

const INDICES: Partial<Record<Rank, string>> = { A: "Т", K: "К", Q: "Д", J: "В", T: "10" };
const LETTERING = { weight: 6, caps: "round" } as const;
const HATS: Partial<Record<Rank, Hat>> = { K: "fur", Q: "kokoshnik", J: "cap" };
const COLOURS: Record<Suit, Colours> = {
  S: colours("#4b3f8f", "#e9d7b0", "#8f6f4e", "#4a382c"),
  H: colours("#b3263b", "#f1dcae", "#7e5a3c", "#b98444"),
  D: colours("#c0632a", "#f4e4bd", "#6f4a33", "#d0a35a"),
  C: colours("#1f6f5c", "#efdfb4", "#7a5c43", "#5b4030"),
};
const SATIN = `<linearGradient id="s" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#fffefa"/><stop offset=".35" stop-color="#f8f1e6"/><stop offset=".5" stop-color="#fffefb"/><stop offset=".7" stop-color="#f4ecdf"/><stop offset="1" stop-color="#fdf9f1"/></linearGradient>`;

function colours(robe: string, panel: string, trim: string, hair: string): Colours {
  return { skin: "#fde6d6", hair, line: "#4d372b", robe, panel, trim, gold: "#d9a441", white: "#fffaf2" };
}

function court(rank: Rank, suit: Suit, colour: string): string {
  const look = { colours: COLOURS[suit], hat: HATS[rank]!, lineWidth: 1.3, cloth: "lozenges", features: "drawn" } as const;
  const turned = suit === "S" || suit === "D" ? " scale(-1 1)" : "";
  const half = `<g clip-path="url(#half)"><g transform="translate(125 174)${turned} scale(0.82)">${figure(rank, suit, colour, look)}</g></g>`;
  const oval = `<rect x="54" y="26" width="142" height="298" rx="66" fill="${COLOURS[suit].robe}" fill-opacity=".1" stroke="#d9a441" stroke-width="1.600"/>`;
  const lace = `<rect x="59" y="31" width="132" height="288" rx="61" fill="none" stroke="#d9a441" stroke-width="3.200" stroke-dasharray=".1 7" stroke-linecap="round"/>`;
  return `<clipPath id="half"><path d="M60 175V92A65 61 0 0 1 190 92V175Z"/></clipPath>${oval}${lace}${twice(half)}<path d="M60 175H190" stroke="#d9a441" stroke-width="4"/>`;
}

function ace(suit: Suit, colour: string): string {
  const petals = Array.from({ length: 16 }, (_, place) => place * 22.5)
    .map((turn) => `<path transform="rotate(${turn} 125 175)" d="M125 101C117 90 119 82 125 76C131 82 133 90 125 101Z"/>`)
    .join("");
  const ring = `<g fill="none" stroke="#d9a441" stroke-width="1.600"><circle cx="125" cy="175" r="72"/>${petals}</g>`;
  return ring + pip(suit, colour, 125, 175, 92);
}

function front(rank: Rank, suit: Suit, colour: string): string {
  const index =
    `<g transform="translate(29 44)">${glyph(INDICES[rank] ?? rank, colour, 57, LETTERING)}</g>` + pip(suit, colour, 29, 103, 40);
  const middle = COURTS.has(rank)
    ? court(rank, suit, colour)
    : rank === "A"
      ? ace(suit, colour)
      : pips(rank, suit, colour, { across: 40, down: 108, height: 44 });
  const frame = `<rect x="7" y="7" width="236" height="336" rx="11" fill="none" stroke="#d9a441" stroke-opacity=".55" stroke-width="1.200"/>`;
  return svg(SATIN + ground("url(#s)", "#d9d2c0") + frame + middle + twice(index));
}

function back(): string {
  const rosettes = `<pattern id="p" width="44" height="44" patternUnits="userSpaceOnUse"><g fill="none" stroke="#e9c98a" stroke-width="1.600">${[0, 45, 90, 135].map((turn) => `<ellipse transform="rotate(${turn} 22 22)" cx="22" cy="22" rx="5" ry="16"/>`).join("")}</g><g fill="#e9c98a"><circle cx="22" cy="22" r="3"/><circle r="3"/><circle cx="44" r="3"/><circle cy="44" r="3"/><circle cx="44" cy="44" r="3"/></g></pattern>`;
  const sheen = `<linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#7d1630"/><stop offset=".45" stop-color="#a52a45"/><stop offset="1" stop-color="#6f1229"/></linearGradient>`;
  return svg(
    rosettes +
      sheen +
      ground("#fffaf0", "#d9d2c0") +
      `<rect x="12" y="12" width="226" height="326" rx="9" fill="url(#g)"/><rect x="15" y="21" width="220" height="308" fill="url(#p)"/>` +
      `<rect x="19" y="19" width="212" height="312" rx="6" fill="none" stroke="#e9c98a" stroke-width="2"/>`,
  );
}

export const drawing: Drawing = { front, back };
