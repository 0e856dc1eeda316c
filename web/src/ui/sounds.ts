/** Short and quiet sounds, made on the spot. Nothing is heard before the first tap: browsers want it so. */

import { settings } from "./settings.svelte";

export type Sound = "card" | "trick" | "turn" | "won" | "lost" | "coin";

/** A tone: when it begins and how long it lasts in seconds, its pitch in Hz, how loud it is. */
type Tone = readonly [begin: number, seconds: number, pitch: number, volume: number];

const TONES: Record<Sound, readonly Tone[]> = {
  card: [[0, 0.05, 190, 0.1]],
  trick: [[0, 0.06, 150, 0.09], [0.06, 0.08, 110, 0.09]],
  turn: [[0, 0.09, 587, 0.07], [0.1, 0.14, 784, 0.07]],
  won: [[0, 0.12, 523, 0.08], [0.12, 0.12, 659, 0.08], [0.24, 0.24, 784, 0.08]],
  lost: [[0, 0.16, 392, 0.07], [0.16, 0.26, 311, 0.07]],
  coin: [[0, 0.05, 1319, 0.05], [0.05, 0.16, 1760, 0.05]],
};

let context: AudioContext | null = null;

export function play(sound: Sound): void {
  if (!settings.sounds || !("AudioContext" in globalThis) || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  for (const tone of TONES[sound]) sing(context, tone);
}

function sing(on: AudioContext, [begin, seconds, pitch, volume]: Tone): void {
  const from = on.currentTime + begin;
  const tone = on.createOscillator();
  const loudness = on.createGain();
  tone.type = "triangle";
  tone.frequency.value = pitch;
  loudness.gain.setValueAtTime(volume, from);
  loudness.gain.exponentialRampToValueAtTime(0.001, from + seconds);
  tone.connect(loudness).connect(on.destination);
  tone.start(from);
  tone.stop(from + seconds);
}
