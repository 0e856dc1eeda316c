/** A picture for each reaction, drawn on 48 units; not every device has such a letter in its fonts. */

const FACE = `<circle cx="24" cy="24" r="20" fill="#f2b84b"/>`;
const EYES = `<circle cx="17" cy="20" r="2.600" fill="#1b2a2b"/><circle cx="31" cy="20" r="2.600" fill="#1b2a2b"/>`;
const LINE = `fill="none" stroke="#1b2a2b" stroke-width="2.500" stroke-linecap="round" stroke-linejoin="round"`;
const HAND = `fill="#f2b84b" stroke="#8a5a1c" stroke-width="1.800" stroke-linejoin="round"`;

const DRAWN: Record<string, string> = {
  thumbs_up: `<path d="M10 22H18V42H10Z" ${HAND}/><path d="M18 24L25 9C30 8 31 13 29 20H38C42 20 42 25 39 26C42 28 41 32 38 32C40 34 39 37 36 37C37 40 36 42 33 42H18Z" ${HAND}/>`,
  clapping: `<path d="M8 30L20 14C23 11 27 14 25 18L21 24L32 15C36 13 38 17 36 20L37 21C40 22 39 26 37 27C38 30 36 32 34 33C33 39 27 43 20 42C12 41 6 36 8 30Z" ${HAND}/><path d="M12 12L9 8M20 9V4M28 10L31 6" ${LINE.replace("#1b2a2b", "#f2a93b")}/>`,
  laughing: `${FACE}<path d="M13 20L18 17L20 21M35 20L30 17L28 21" ${LINE}/><path d="M14 27H34C33 36 15 36 14 27Z" fill="#7a2a1c"/><path d="M17 28H31V30H17Z" fill="#fff"/>`,
  surprised: `${FACE}${EYES}<ellipse cx="24" cy="32" rx="4.500" ry="6" fill="#7a2a1c"/><path d="M12 14L18 12M36 14L30 12" ${LINE}/>`,
  sad: `${FACE}${EYES}<path d="M16 35C20 29 28 29 32 35M12 16L18 14M36 16L30 14" ${LINE}/><path d="M33 24C36 28 36 31 33 31C30 31 30 28 33 24Z" fill="#4b8fe2"/>`,
  angry: `<circle cx="24" cy="24" r="20" fill="#e0544a"/>${EYES}<path d="M16 35C20 30 28 30 32 35M12 14L21 18M36 14L27 18" ${LINE}/>`,
};

/** SVG for inside an <svg viewBox="0 0 48 48">. */
export const reaction = (phrase: string): string => DRAWN[phrase] ?? "";
