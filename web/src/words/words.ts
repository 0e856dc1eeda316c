/** Sentences by key; numbers, dates and plurals by the language's own rules. */

import { en, type Sentence } from "./en";
import { spoken } from "./language.svelte";

export type Key = keyof typeof en;
type Values = Record<string, string | number>;

/** The sentence of this key; `{name}` stands for a value. A plural goes by `count`. English where a language lacks it. */
export function say(key: Key, values: Values = {}): string {
  const { words } = spoken();
  return filled(words[key] ?? en[key], values);
}

/** A sentence that is not among the words of `en.ts`. */
export function filled(sentence: Sentence, values: Values = {}): string {
  const text = typeof sentence === "string" ? sentence : (sentence[spoken().plurals.select(Number(values.count ?? 0))] ?? sentence.other);
  return text.replace(/\{(\w+)\}/g, (_, name: string) => written(values[name]));
}

export const isKey = (key: string): key is Key => key in en;

/** The sentence of a key that may not be there: a newer server has more words than this client. */
export const sayOr = (key: string, otherwise: string): string => (isKey(key) ? say(key) : otherwise);

/** What the server said in English, in the language of the player where that is known: `refused.CODE`, `rule.OPTION`, `game.NAME`. */
export const told = (key: string, english: string): string => spoken().serverWords[key] ?? english;

/** A day, and with `hasTime` its hour, as the device's clock has it. */
export function date(at: string | Date, hasTime = false): string {
  const style = hasTime ? ({ dateStyle: "medium", timeStyle: "short" } as const) : ({ dateStyle: "medium" } as const);
  return new Intl.DateTimeFormat(spoken().tag, style).format(typeof at === "string" ? new Date(at) : at);
}

/** From one day to another. */
export function dates(from: Date, to: Date): string {
  return new Intl.DateTimeFormat(spoken().tag, { day: "numeric", month: "long", timeZone: "UTC" }).formatRange(from, to);
}

/** `sign`: a plus is written too, as beside coins that came. */
export function number(value: number, sign = false): string {
  return sign ? new Intl.NumberFormat(spoken().tag, { signDisplay: "exceptZero" }).format(value) : spoken().numbers.format(value);
}

const written = (value: string | number | undefined): string => (typeof value === "number" ? number(value) : (value ?? ""));
