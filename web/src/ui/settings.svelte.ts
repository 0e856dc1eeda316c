/** What a player has set on this device. Open this to add a setting. */

import type { Sorting } from "../cards/card";
import type { DeckName } from "../cards/deck";
import type { Tag } from "../words/language.svelte";

export interface Settings {
  /** Null: the device's, where that is spoken here. */
  language: Tag | null;
  deck: DeckName;
  fourColours: boolean;
  oneTap: boolean;
  leftHanded: boolean;
  light: boolean;
  lessMotion: boolean;
  sounds: boolean;
  vibration: boolean;
  sorting: Sorting;
}

const PLACE = "darbar.settings";
const USUAL: Settings = {
  language: null,
  deck: "classic",
  fourColours: false,
  oneTap: false,
  leftHanded: false,
  light: false,
  lessMotion: false,
  sounds: true,
  vibration: true,
  sorting: "suit",
};

export const settings: Settings = $state({ ...USUAL, ...kept() });

/** Changes some of them, and keeps that for the next visit. */
export function set(changes: Partial<Settings>): void {
  Object.assign(settings, changes);
  localStorage.setItem(PLACE, JSON.stringify(settings));
}

/** Whether things may move: the device can ask for less as well. */
export const mayMove = (): boolean =>
  !settings.lessMotion && !(globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false);

function kept(): Partial<Settings> {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? "{}") as Partial<Settings>;
  } catch {
    // Somebody else's text under our name: the usual settings are better than none.
    return {};
  }
}
