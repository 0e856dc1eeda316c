/** Kings, queens and jacks from the waist up, put together from parts. 0, 0 is the waist's middle, up is negative. */

import type { Rank, Suit } from "./card";
import { pip } from "./shapes";

export interface Colours {
  skin: string;
  hair: string;
  line: string;
  robe: string;
  panel: string;
  trim: string;
  gold: string;
  white: string;
}

export type Hat = "crown" | "coronet" | "cap" | "kokoshnik" | "fur" | "beret" | "veil" | "plain_crown";

export interface Look {
  colours: Colours;
  hat: Hat;
  lineWidth: number;
  /** What is on the robe. */
  cloth: "stripes" | "lozenges" | "plain";
  features: "drawn" | "flat";
}

const shape = (d: string, fill: string, line: string): string => `<path d="${d}" fill="${fill}" stroke="${line}"/>`;
const stroke = (d: string, line: string, width: number): string =>
  `<path d="${d}" fill="none" stroke="${line}" stroke-width="${width}" stroke-linecap="round"/>`;
const dot = (x: number, y: number, r: number, fill: string, line = "none"): string =>
  `<circle cx="${x}" cy="${y}" r="${r}" fill="${fill}" stroke="${line}"/>`;

export function figure(rank: Rank, suit: Suit, suitColour: string, look: Look): string {
  const { colours: c, lineWidth } = look;
  const parts = [
    hairBehind(rank, look),
    backOfHat(look),
    body(rank, look),
    pip(suit, c.white, 0, -24, 26),
    pip(suit, suitColour, 0, -24, 22),
    shape("M-9-74V-62C-5-56 5-56 9-62V-74Z", c.skin, c.line),
    collar(rank, look),
    shape("M0-130C15-130 22-118 22-102C22-86 12-70 0-70C-12-70-22-86-22-102C-22-118-15-130 0-130Z", c.skin, c.line),
    rank === "K" ? beard(look) : "",
    face(rank, look),
    fringe(rank, look),
    frontOfHat(look),
    held(rank, look),
  ];
  return `<g stroke-width="${lineWidth}" stroke-linejoin="round">${parts.join("")}</g>`;
}

function body(rank: Rank, { colours: c, cloth }: Look): string {
  const robe = shape("M-80 1V-24C-72-50-42-60-16-66H16C42-60 72-50 80-24V1Z", c.robe, c.line);
  const stripes = [-66, -48, 48, 66].map((x) => stroke(`M${x * 0.62}-58C${x * 0.9}-46 ${x}-24 ${x} 0`, c.trim, 5)).join("");
  const lozenges = [-62, -44, 44, 62]
    .flatMap((x) => [-36, -14].map((y) => shape(`M${x} ${y - 9}L${x + 6} ${y}L${x} ${y + 9}L${x - 6} ${y}Z`, c.trim, "none")))
    .join("");
  const clothes = cloth === "stripes" ? stripes : cloth === "lozenges" ? lozenges : "";
  const panel = shape("M-20-64L-28 1H28L20-64Z", c.panel, c.line);
  const border = stroke("M-24-60L-33 0M24-60L33 0", c.gold, 4);
  const buttons = rank === "J" ? [-50, -3].map((y) => dot(0, y, 2.6, c.gold, c.line)).join("") : "";
  return robe + clothes + panel + border + buttons;
}

function collar(rank: Rank, { colours: c }: Look): string {
  if (rank === "K") {
    const fur = shape("M-46-56C-30-74-18-66 0-54C18-66 30-74 46-56C34-40 16-40 0-42C-16-40-34-40-46-56Z", c.white, c.line);
    return fur + [-32, -18, 18, 32].map((x) => stroke(`M${x}-55V-49`, c.line, 2.4)).join("");
  }
  if (rank === "Q") {
    const lace = shape("M-36-58C-22-70-10-68 0-52C10-68 22-70 36-58C26-50 12-50 0-44C-12-50-26-50-36-58Z", c.white, c.line);
    return lace + [-12, -6, 0, 6, 12].map((x) => dot(x, -59 + (144 - x * x) / 24, 2.2, c.gold, c.line)).join("");
  }
  return shape("M-26-62L-9-68L0-56L9-68L26-62L14-46L0-54L-14-46Z", c.trim, c.line);
}

function hairBehind(rank: Rank, { colours: c }: Look): string {
  const long = "M-24-116C-38-96-34-70-42-50C-26-54-20-62-18-74H18C20-62 26-54 42-50C34-70 38-96 24-116Z";
  const curled = "M-23-118C-40-104-36-84-40-74C-34-68-24-70-20-78H20C24-70 34-68 40-74C36-84 40-104 23-118Z";
  const page = "M-23-120C-36-106-32-84-30-72C-24-70-18-72-16-78H16C18-72 24-70 30-72C32-84 36-106 23-120Z";
  return shape(rank === "Q" ? long : rank === "K" ? curled : page, c.hair, c.line);
}

function fringe(rank: Rank, { colours: c }: Look): string {
  if (rank === "Q") return shape("M-22-104C-23-122-12-132 0-132C12-132 23-122 22-104C18-116 8-122 0-123C-8-122-18-116-22-104Z", c.hair, c.line);
  if (rank === "J") return shape("M-22-102C-24-124-10-132 0-132C12-132 24-124 22-102C20-112 16-116 12-117C4-113-12-113-17-117C-20-114-21-110-22-102Z", c.hair, c.line);
  return "";
}

function beard({ colours: c }: Look): string {
  const chin = shape("M-22-100C-23-78-12-56 0-52C12-56 23-78 22-100C18-92 13-88 0-88C-13-88-18-92-22-100Z", c.hair, c.line);
  return chin + stroke("M-12-72C-8-66-8-62-6-60M12-72C8-66 8-62 6-60M0-70V-58", c.line, 1.2);
}

function face(rank: Rank, { colours: c, features }: Look): string {
  const eyes = features === "flat" ? dot(-8, -103, 2.4, c.line) + dot(8, -103, 2.4, c.line) : drawnEyes(c);
  const nose = stroke("M0-103C1-97 3-93 3-91C1-90-1-90-2-91", c.line, 1.6);
  if (rank === "K") {
    const moustache = shape("M-13-84C-10-91-4-90 0-87C4-90 10-91 13-84C8-82 4-83 0-85C-4-83-8-82-13-84Z", c.hair, c.line);
    return eyes + nose + moustache + stroke("M-4-79H4", c.robe, 2.4);
  }
  const cheeks = rank === "Q" ? dot(-13, -90, 4, "#e7795f55") + dot(13, -90, 4, "#e7795f55") : "";
  return eyes + cheeks + nose + shape("M-6-82C-3-85-1-83 0-83C1-83 3-85 6-82C3-78-3-78-6-82Z", "#b5392f", "none");
}

function drawnEyes(c: Colours): string {
  const eye = (x: number): string =>
    shape(`M${x - 5}-103C${x - 2}-107 ${x + 2}-107 ${x + 5}-103C${x + 2}-101 ${x - 2}-101 ${x - 5}-103Z`, c.white, c.line) +
    dot(x, -103.4, 1.9, c.line);
  return `<g stroke-width="1">${eye(-9)}${eye(9)}</g>` + stroke("M-15-110C-12-113-7-113-4-111M15-110C12-113 7-113 4-111", c.line, 1.6);
}

function backOfHat({ hat, colours: c }: Look): string {
  if (hat === "kokoshnik") {
    const fan = shape("M-40-104C-46-134-22-154 0-156C22-154 46-134 40-104C28-116 14-124 0-124C-14-124-28-116-40-104Z", c.robe, c.line);
    const pearls = [-33, -25, -14, 0, 14, 25, 33].map((x) => dot(x, -146 + (x * x) / 40, 3.2, c.white, c.line));
    const inner = [-20, 0, 20].map((x) => dot(x, -134 + (x * x) / 60, 4, c.gold, c.line));
    return fan + pearls.join("") + inner.join("");
  }
  if (hat === "veil") return shape("M-30-118C-34-138-16-146 0-146C16-146 34-138 30-118C40-96 44-66 50-48C36-50 26-58 24-74V-116H-24V-74C-26-58-36-50-50-48C-44-66-40-96-30-118Z", c.white, c.line);
  return "";
}

function frontOfHat({ hat, colours: c }: Look): string {
  const band = shape("M-25-127C-10-121 10-121 25-127V-117C10-111-10-111-25-117Z", c.gold, c.line);
  const jewels = [-15, 0, 15].map((x) => dot(x, -118 + Math.abs(x) / -8, 2.7, x ? c.panel : c.robe, c.line)).join("");
  switch (hat) {
    case "crown": {
      const inside = shape("M-22-128C-20-146 20-146 22-128C10-123-10-123-22-128Z", c.robe, c.line);
      const points = shape("M-25-125L-31-150L-16-136L0-154L16-136L31-150L25-125C10-119-10-119-25-125Z", c.gold, c.line);
      return inside + points + band + jewels + [[-31, -152], [0, -156], [31, -152]].map(([x, y]) => dot(x!, y!, 3.6, c.gold, c.line)).join("");
    }
    case "plain_crown": {
      const points = shape("M-25-125V-146L-14-135L-7-148L0-135L7-148L14-135L25-146V-125C10-119-10-119-25-125Z", c.gold, c.line);
      return points + band + jewels;
    }
    case "coronet": {
      const points = shape("M-24-126C-30-140-20-142-15-132C-14-146-5-150 0-138C5-150 14-146 15-132C20-142 30-140 24-126C10-121-10-121-24-126Z", c.gold, c.line);
      return points + band + jewels + [[-23, -141], [0, -146], [23, -141]].map(([x, y]) => dot(x!, y!, 3, c.white, c.line)).join("");
    }
    case "kokoshnik":
      return shape("M-24-112C-16-124-8-127 0-127C8-127 16-124 24-112C14-120 8-122 0-122C-8-122-14-120-24-112Z", c.gold, c.line);
    case "fur": {
      const dome = shape("M-23-126C-20-146-8-154 0-156C8-154 20-146 23-126Z", c.robe, c.line);
      const ribs = stroke("M0-154V-126M-12-147C-15-139-15-132-15-126M12-147C15-139 15-132 15-126", c.gold, 2.6);
      const fur = shape("M-27-118C-31-127-24-132-18-130C-12-133-6-131 0-132C6-131 12-133 18-130C24-132 31-127 27-118C18-113-18-113-27-118Z", c.trim, c.line);
      return dome + ribs + fur + dot(0, -157, 4, c.gold, c.line);
    }
    case "cap": {
      const cap = shape("M-27-120C-32-142-10-150 6-148C24-148 34-132 28-120C14-126-14-126-27-120Z", c.robe, c.line);
      const brim = shape("M-29-122C-14-129 14-129 29-122V-114C14-121-14-121-29-114Z", c.trim, c.line);
      return plume(c) + cap + brim + dot(20, -121, 3.4, c.gold, c.line);
    }
    case "beret": {
      const beret = shape("M-34-122C-40-138-14-148 8-146C32-146 42-132 34-122C20-128-18-130-34-122Z", c.robe, c.line);
      return plume(c) + beret + stroke("M-28-122C-12-128 14-128 28-122", c.gold, 3);
    }
    case "veil":
      return stroke("M-23-116C-16-128-8-131 0-131C8-131 16-128 23-116", c.gold, 3.4) + dot(0, -131, 3.6, c.robe, c.line);
  }
}

function plume(c: Colours): string {
  return shape("M22-126C34-134 46-150 62-148C56-142 60-138 54-136C58-132 50-128 46-128C48-122 34-118 26-122Z", c.white, c.line);
}

function held(rank: Rank, { colours: c }: Look): string {
  const hand = dot(56, -22, 8, c.skin, c.line);
  if (rank === "K") {
    const blade = shape("M52-20V-124L56-134L60-124V-20Z", c.white, c.line) + stroke("M56-122V-40", c.line, 1);
    return blade + shape("M42-40H70V-34H42Z", c.gold, c.line) + shape("M53-34H59V-8H53Z", c.panel, c.line) + dot(56, -5, 5, c.gold, c.line) + hand;
  }
  if (rank === "Q") {
    const leaf = shape("M56-44C64-58 74-54 74-54C74-46 66-40 56-40ZM56-34C48-48 40-46 40-46C40-38 46-32 56-30Z", "#3c8f5d", c.line);
    const petals = [0, 72, 144, 216, 288]
      .map((turn) => `<ellipse transform="rotate(${turn} 56 -82)" cx="56" cy="-92" rx="7" ry="9.5" fill="${c.trim}" stroke="${c.line}"/>`)
      .join("");
    return stroke("M56-20C55-40 57-60 56-78", "#3c8f5d", 3.4) + leaf + petals + dot(56, -82, 5.5, c.gold, c.line) + hand;
  }
  const staff = shape("M53.500-8V-116H58.500V-8Z", c.hair, c.line);
  const blade = shape("M56-140L62-116H50ZM58-114C76-120 80-100 72-88C70-96 64-98 58-98ZM54-108L42-114V-100L54-102Z", c.white, c.line);
  return staff + blade + hand;
}
