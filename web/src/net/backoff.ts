/** How long is waited between two tries: twice as long after each, never all clients at once. */

const PAUSE_MS_MIN = 150;
const PAUSE_MS_MAX = 4000;
const DOUBLINGS_MAX = 10;

export function pauseMs(tries: number): number {
  const longest = Math.min(PAUSE_MS_MIN * 2 ** Math.min(tries, DOUBLINGS_MAX), PAUSE_MS_MAX);
  return longest * (0.5 + Math.random() / 2);
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Letters that nobody else has: `bytes` random bytes as base64url. */
export function randomText(bytes: number): string {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  return btoa(String.fromCharCode(...drawn)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
