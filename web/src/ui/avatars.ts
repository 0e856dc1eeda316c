/** A picture for each avatar of the catalogue, drawn on a disc of 48 units. */

const GOLD = "#f2b84b";
const IVORY = "#fbf3e0";
const INK = "#1b2a2b";

interface Avatar {
  disc: string;
  drawn: string;
}

const AVATARS: Record<string, Avatar> = {
  peacock: { disc: "#145b73", drawn: `<g fill="#3fb5a3"><ellipse cx="24" cy="17" rx="4" ry="9"/><ellipse cx="24" cy="17" rx="4" ry="9" transform="rotate(-38 24 29)"/><ellipse cx="24" cy="17" rx="4" ry="9" transform="rotate(38 24 29)"/><ellipse cx="24" cy="17" rx="4" ry="9" transform="rotate(-74 24 29)"/><ellipse cx="24" cy="17" rx="4" ry="9" transform="rotate(74 24 29)"/></g><path d="M24 22C29 26 29 38 24 41C19 38 19 26 24 22Z" fill="#2b6fd0"/><circle cx="24" cy="21" r="4" fill="#2b6fd0"/><path d="M24 22L27 24L24 25Z" fill="${GOLD}"/><circle cx="22.800" cy="20" r="1" fill="${IVORY}"/>` },
  elephant: { disc: "#7a6a86", drawn: `<path d="M12 22C12 14 18 11 24 11C30 11 36 14 36 22C36 27 33 29 30 30C29 36 30 39 27 39C24 39 25 35 24 31C18 31 12 28 12 22Z" fill="#d8d0de"/><path d="M13 16C6 15 7 27 14 28ZM35 16C42 15 41 27 34 28Z" fill="#bfb4c8"/><circle cx="19.500" cy="21" r="1.600" fill="${INK}"/><circle cx="28.500" cy="21" r="1.600" fill="${INK}"/><path d="M20 11L24 6L28 11Z" fill="${GOLD}"/>` },
  tiger: { disc: "#3f6b46", drawn: `<circle cx="24" cy="25" r="13" fill="#f0963a"/><circle cx="14" cy="14.500" r="4.500" fill="#f0963a"/><circle cx="34" cy="14.500" r="4.500" fill="#f0963a"/><path d="M24 11V18M19 12L20.500 17M29 12L27.500 17M11.500 24L16 25.500M36.500 24L32 25.500M12.500 30L16 29.500M35.500 30L32 29.500" stroke="${INK}" stroke-width="2" stroke-linecap="round"/><ellipse cx="24" cy="31" rx="6" ry="5" fill="${IVORY}"/><path d="M22 29H26L24 31.500Z" fill="${INK}"/><circle cx="19" cy="23" r="1.600" fill="${INK}"/><circle cx="29" cy="23" r="1.600" fill="${INK}"/>` },
  falcon: { disc: "#8a5a3c", drawn: `<path d="M10 30C12 14 22 9 31 12C38 15 37 24 31 26C33 34 27 40 18 40C22 36 20 33 10 30Z" fill="${IVORY}"/><path d="M32 16C38 17 39 22 35 26C35 22 33 21 30 21Z" fill="${GOLD}"/><circle cx="28" cy="18" r="2" fill="${INK}"/><path d="M14 30C18 28 22 30 24 35" fill="none" stroke="#8a5a3c" stroke-width="2"/>` },
  camel: { disc: "#b9823f", drawn: `<path d="M10 40V29C10 22 15 20 18 24C20 18 26 18 28 24C31 25 31 22 31 14C31 10 38 9 40 13L36 16C36 26 35 31 31 32V40H28V32H14V40Z" fill="#f4dcb0"/><circle cx="35" cy="13" r="1.200" fill="${INK}"/>` },
  lotus: { disc: "#4a4a86", drawn: `<g fill="#f3a6bf"><path d="M24 11C30 19 30 29 24 36C18 29 18 19 24 11Z"/><path d="M10 20C20 20 25 28 24 37C14 36 9 29 10 20ZM38 20C28 20 23 28 24 37C34 36 39 29 38 20Z" fill="#e8809f"/></g><path d="M12 38C20 41 28 41 36 38" stroke="#7fc79b" stroke-width="3" fill="none" stroke-linecap="round"/>` },
  mango: { disc: "#2f7a55", drawn: `<path d="M15 20C20 9 37 13 37 25C37 36 25 41 17 37C9 33 12 27 15 20Z" fill="#f7b733"/><path d="M15 21C19 14 26 13 29 15" stroke="#fbd98a" stroke-width="3" fill="none" stroke-linecap="round"/><path d="M22 13C22 8 28 5 33 8C32 13 26 14 22 13Z" fill="#8bd17c"/>` },
  kite: { disc: "#2f6fb0", drawn: `<path d="M26 7L39 20L24 34L12 19Z" fill="#f2585b"/><path d="M26 7L24 34L12 19Z" fill="#f7d154"/><path d="M26 7L24 34M12 19L39 20" stroke="${INK}" stroke-width="1.200"/><path d="M24 34C20 37 27 39 22 42" stroke="${IVORY}" stroke-width="2" fill="none" stroke-linecap="round"/>` },
  drum: { disc: "#8d2f3c", drawn: `<path d="M11 17V33C11 36 37 36 37 33V17Z" fill="${GOLD}"/><path d="M11 20L19 34L24 20L30 34L37 20" stroke="#8d2f3c" stroke-width="1.800" fill="none"/><ellipse cx="24" cy="17" rx="13" ry="5" fill="${IVORY}"/><path d="M30 6L24 16M18 6L22 15" stroke="${IVORY}" stroke-width="2.500" stroke-linecap="round"/>` },
  lantern: { disc: "#3a3357", drawn: `<path d="M19 9C19 5 29 5 29 9" fill="none" stroke="${GOLD}" stroke-width="2"/><path d="M17 13L19 9H29L31 13Z" fill="${GOLD}"/><path d="M17 14H31L34 34H14Z" fill="#ffe9a8"/><path d="M24 14V34M17 14L14 34M31 14L34 34" stroke="${GOLD}" stroke-width="2"/><path d="M13 34H35L32 40H16Z" fill="${GOLD}"/><path d="M24 20C28 25 27 30 24 30C21 30 20 25 24 20Z" fill="#f08a3c"/>` },
  crown: { disc: "#5a2f6b", drawn: `<path d="M9 17L16 25L24 12L32 25L39 17L36 35H12Z" fill="${GOLD}"/><g fill="${IVORY}"><circle cx="9" cy="16" r="2.500"/><circle cx="24" cy="11" r="2.500"/><circle cx="39" cy="16" r="2.500"/></g><circle cx="24" cy="29" r="3" fill="#c43d4b"/>` },
  turban: { disc: "#1f6b6b", drawn: `<circle cx="24" cy="29" r="9" fill="#e7b88c"/><path d="M11 24C9 12 20 7 26 9C35 8 40 17 37 24C29 18 19 18 11 24Z" fill="#e8573f"/><path d="M13 22C20 12 30 12 36 20M18 12C26 12 32 15 36 20" stroke="#f7a072" stroke-width="2" fill="none"/><circle cx="24" cy="16" r="2.600" fill="${GOLD}"/><path d="M24 14C22 9 24 6 27 5C27 9 26 12 24 14Z" fill="${IVORY}"/><path d="M16 32C19 40 29 40 32 32C28 35 20 35 16 32Z" fill="${INK}"/><circle cx="20.500" cy="27" r="1.300" fill="${INK}"/><circle cx="27.500" cy="27" r="1.300" fill="${INK}"/>` },
  fort: { disc: "#a0522d", drawn: `<path d="M9 39V17H12V20H15V17H18V23H21C21 17 27 17 27 23H30V17H33V20H36V17H39V39Z" fill="#f1d6a8"/><path d="M20 39V32C20 27 28 27 28 32V39Z" fill="#a0522d"/><path d="M24 18V8L31 11L24 13" fill="${GOLD}" stroke="${GOLD}"/>` },
  moon: { disc: "#23365e", drawn: `<path d="M31 8A17 17 0 1 0 40 31A14 14 0 0 1 31 8Z" fill="#f4e3a1"/><path d="M35 13L36.300 16.200L39.500 17.500L36.300 18.800L35 22L33.700 18.800L30.500 17.500L33.700 16.200Z" fill="${IVORY}"/>` },
  sun: { disc: "#d9822b", drawn: `<circle cx="24" cy="24" r="9" fill="#ffe08a"/><g stroke="#ffe08a" stroke-width="3" stroke-linecap="round"><path d="M24 6V11M24 37V42M6 24H11M37 24H42M11.300 11.300L14.800 14.800M33.200 33.200L36.700 36.700M36.700 11.300L33.200 14.800M14.800 33.200L11.300 36.700"/></g>` },
  chariot: { disc: "#54683a", drawn: `<path d="M15 12H33L31 24H17Z" fill="#e8573f"/><path d="M13 12C18 5 30 5 35 12Z" fill="${GOLD}"/><path d="M10 24H38V28H10Z" fill="${GOLD}"/><g fill="none" stroke="${IVORY}" stroke-width="2"><circle cx="17" cy="33" r="6"/><circle cx="31" cy="33" r="6"/><path d="M17 27V39M11 33H23M31 27V39M25 33H37"/></g>` },
};

const BOT_DISCS = ["#3f5654", "#5a4a6b", "#6b4f3f", "#3f4f6b", "#4f6b3f", "#6b3f4c"];
const BOT_DRAWN = `<rect x="13" y="17" width="22" height="18" rx="5" fill="#cfd8d4"/><path d="M24 17V11" stroke="#cfd8d4" stroke-width="2.500"/><circle cx="24" cy="9.500" r="2.800" fill="${GOLD}"/><circle cx="19" cy="25" r="2.600" fill="${INK}"/><circle cx="29" cy="25" r="2.600" fill="${INK}"/><path d="M19 31H29" stroke="${INK}" stroke-width="2" stroke-linecap="round"/>`;
const FREE: Avatar = { disc: "none", drawn: `<path d="M24 15V33M15 24H33" stroke="currentColor" stroke-width="2.500" stroke-linecap="round"/><circle cx="24" cy="24" r="21" fill="none" stroke="currentColor" stroke-width="1.500" stroke-dasharray="4 4"/>` };

/** SVG for inside an <svg viewBox="0 0 48 48">; `name` is the avatar's, of a bot its own. */
export function avatar(name: string | null, kind: string): string {
  const { disc, drawn } = kind === "free" ? FREE : (AVATARS[name ?? ""] ?? bot(name ?? ""));
  return `<circle cx="24" cy="24" r="24" fill="${disc}"/>${drawn}`;
}

/** Bots are told apart by their colour. */
function bot(name: string): Avatar {
  const sum = [...name].reduce((total, letter) => total + letter.charCodeAt(0), 0);
  return { disc: BOT_DISCS[sum % BOT_DISCS.length]!, drawn: BOT_DRAWN };
}
