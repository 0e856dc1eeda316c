/** "Renaissance": one portrait under an arch, on old paper, in the colours of old paintings. */

import { COURTS, type Rank, type Suit } from "../card";
import type { Drawing } from "../deck";
import { type Colours, figure, type Hat } from "../figures";
import { glyph, ground, pip, pips, svg, twice } from "../shapes";

const LETTERING = { weight: 5.5, caps: "butt" } as const;
const HATS: Partial<Record<Rank, Hat>> = { K: "plain_crown", Q: "veil", J: "beret" };
const COLOURS: Record<Suit, Colours> = {
  S: colours("#3b3a52", "#8a6d3b", "#a5443a", "#4b3a2d"),
  H: colours("#8e2f2b", "#3f5a4c", "#c49a4a", "#7d4f2b"),
  D: colours("#a8692b", "#5a2f2f", "#3f5a4c", "#a9804a"),
  C: colours("#3f5a4c", "#8e2f2b", "#c49a4a", "#33271f"),
};
const SKIES: Record<Suit, string> = { S: "#7f8ea0", H: "#5f7f78", D: "#6f7a94", C: "#93825c" };

function colours(robe: string, panel: string, trim: string, hair: string): Colours {
  return { skin: "#f0d3b4", hair, line: "#2e2118", robe, panel, trim, gold: "#c89b3c", white: "#f7ecd4" };
}

/** Hills and a river behind whoever sits for the picture. */
function scene(suit: Suit): string {
  return (
    `<path d="M56 336V132A69 69 0 0 1 194 132V336Z" fill="${SKIES[suit]}"/>` +
    `<path d="M56 236C80 196 104 214 122 204C150 188 172 208 194 190V336H56Z" fill="#5c6b4d" fill-opacity=".75"/>` +
    `<path d="M56 262C90 246 120 262 194 238V336H56Z" fill="#43523c"/>` +
    `<path d="M150 214C138 224 160 230 142 242" fill="none" stroke="#cfd6cf" stroke-width="4"/>`
  );
}

function court(rank: Rank, suit: Suit, colour: string): string {
  const look = { colours: COLOURS[suit], hat: HATS[rank]!, lineWidth: 1.4, cloth: "plain", features: "drawn" } as const;
  const turned = suit === "H" || suit === "C" ? " scale(-1 1)" : "";
  const portrait = `<g clip-path="url(#arch)">${scene(suit)}<g transform="translate(125 306)${turned} scale(1.02 1.22)">${figure(rank, suit, colour, look)}</g></g>`;
  const frame = `<g fill="none" stroke="#7a5a2a"><path d="M56 306V132A69 69 0 0 1 194 132V306Z" stroke-width="5"/><path d="M50 311V132A75 75 0 0 1 200 132V311Z" stroke-width="1.500"/></g>`;
  const sill = `<rect x="46" y="304" width="158" height="12" rx="3" fill="#b58b45" stroke="#7a5a2a" stroke-width="1.500"/>`;
  return `<clipPath id="arch"><path d="M56 306V132A69 69 0 0 1 194 132V306Z"/></clipPath>${portrait}${frame}${sill}`;
}

function ace(suit: Suit, colour: string): string {
  const leaves = Array.from({ length: 12 }, (_, place) => place * 30)
    .map((turn) => `<path transform="rotate(${turn} 125 175)" d="M125 98C112 92 112 82 118 74C124 80 130 80 134 88C132 94 128 96 125 98Z"/>`)
    .join("");
  return (
    `<circle cx="125" cy="175" r="84" fill="none" stroke="#7a5a2a" stroke-width="1.500"/><g fill="#9aa06a" stroke="#5f6a3c" stroke-width="1.200">${leaves}</g>` +
    `<circle cx="125" cy="175" r="66" fill="#f9efd6" stroke="#b58b45" stroke-width="4"/>` +
    pip(suit, colour, 125, 175, 88)
  );
}

function front(rank: Rank, suit: Suit, colour: string): string {
  const text = rank === "T" ? "10" : rank;
  const serif = `<path d="M-17 35H17" stroke="${colour}" stroke-width="2.500"/>`;
  const index =
    `<g transform="translate(29 44)">${glyph(text, colour, 57, LETTERING)}${serif}</g>` + pip(suit, colour, 29, 106, 38);
  const middle = COURTS.has(rank)
    ? court(rank, suit, colour)
    : rank === "A"
      ? ace(suit, colour)
      : pips(rank, suit, colour, { across: 40, down: 108, height: 44 });
  const paper = `<radialGradient id="o" r=".75"><stop offset=".6" stop-color="#f8eed6"/><stop offset="1" stop-color="#eddcb6"/></radialGradient>`;
  return svg(paper + ground("url(#o)", "#c9b68a") + middle + twice(index));
}

function back(): string {
  const leaf = `<pattern id="p" width="50" height="50" patternUnits="userSpaceOnUse"><g fill="none" stroke="#c8a85a" stroke-width="2"><path d="M25 0C10 12 10 38 25 50C40 38 40 12 25 0ZM0 25C12 10 38 10 50 25C38 40 12 40 0 25Z"/></g><circle cx="25" cy="25" r="4" fill="#c8a85a"/><path d="M0-6L6 0L0 6L-6 0ZM50-6L56 0L50 6L44 0ZM0 44L6 50L0 56L-6 50ZM50 44L56 50L50 56L44 50Z" fill="#8e2f2b"/></pattern>`;
  return svg(
    leaf +
      ground("#f8eed6", "#c9b68a") +
      `<rect x="12" y="12" width="226" height="326" rx="6" fill="#2f473c"/><rect x="25" y="25" width="200" height="300" fill="url(#p)"/>` +
      `<g fill="none" stroke="#c8a85a"><rect x="18" y="18" width="214" height="314" stroke-width="1.500"/><rect x="24" y="24" width="202" height="302" stroke-width="3"/></g>`,
  );
}

export const drawing: Drawing = { front, back };
