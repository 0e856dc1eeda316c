/** Sentences by key; numbers and plurals by the language's own rules. */

import { en } from "./en";

export type Key = keyof typeof en;
type Values = Record<string, string | number>;

const language = "en";
const plurals = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);

/** The sentence of this key; `{name}` stands for a value. A plural goes by `count`. */
export function say(key: Key, values: Values = {}): string {
  const found: string | { one: string; other: string } = en[key];
  const text = typeof found === "string" ? found : found[form(Number(values.count ?? 0))];
  return text.replace(/\{(\w+)\}/g, (_, name: string) => written(values[name]));
}

export const isKey = (key: string): key is Key => key in en;

/** The sentence of a key that may not be there: a newer server has more words than this client. */
export const sayOr = (key: string, otherwise: string): string => (isKey(key) ? say(key) : otherwise);

const form = (count: number): "one" | "other" => (plurals.select(count) === "one" ? "one" : "other");
const written = (value: string | number | undefined): string =>
  typeof value === "number" ? numbers.format(value) : (value ?? "");
