/** The time, for whatever counts down on the screen. */

const STEP_MS = 200;

let now = $state(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Milliseconds; a component that reads this in an effect watches it with `watch`. */
export const clock = { get now(): number { return now; } };

/** Runs the clock for as long as somebody looks: use as `$effect(watch)`. */
export function watch(): () => void {
  if (watchers++ === 0) timer = setInterval(() => (now = Date.now()), STEP_MS);
  now = Date.now();
  return () => {
    if (--watchers === 0) clearInterval(timer);
  };
}
