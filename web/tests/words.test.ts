import { readFileSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { STEPS } from "../src/pages/steps";
import { en, type Sentence, type Words } from "../src/words/en";
import { filled, say } from "../src/words/words";
import { LANGUAGES, preferred, speak, type Tag } from "../src/words/language.svelte";

const OTHERS = LANGUAGES.filter(({ tag }) => tag !== "en");
const forms = (sentence: Sentence): string[] => (typeof sentence === "string" ? [sentence] : Object.values(sentence));
const values = (sentence: Sentence): string[] => [...new Set(forms(sentence).flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();

/** Codes and options as the pages of the documents list them. */
function documented(): { codes: string[]; options: string[]; games: string[] } {
  const root = `${import.meta.dirname}/../../docs`;
  const firstCells = (page: string): string[] => [...page.matchAll(/^\| `(\w+)`/gm)].map((found) => found[1]!);
  const pages = readdirSync(`${root}/rules`);
  const options = pages.flatMap((name) => firstCells(readFileSync(`${root}/rules/${name}`, "utf8").split("## Table options")[1] ?? ""));
  return { codes: firstCells(readFileSync(`${root}/refusals.md`, "utf8")), options, games: pages.map((name) => name.replace(".md", "")) };
}

it.each(OTHERS)("every sentence is there in $title, and none that is not in English", async ({ load }) => {
  expect(Object.keys(await load()).sort()).toEqual(Object.keys(en).sort());
});

it.each(OTHERS)("a sentence in $title names the values that the English one names", async ({ load }) => {
  const words = (await load()) as Words;
  const wrong = Object.entries(en).filter(([key, sentence]) => values(words[key as keyof Words]).join() !== values(sentence).join());
  expect(wrong.map(([key]) => key)).toEqual([]);
});

it.each(LANGUAGES)("what is counted has each form that $title has", async ({ tag, load }) => {
  const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
  const counted = Object.entries(await load()).filter(([, sentence]) => typeof sentence !== "string");
  expect(counted.length).toBeGreaterThan(0);
  for (const [key, sentence] of counted) expect(Object.keys(sentence).sort(), key).toEqual([...categories].sort());
});

it.each(OTHERS)("what the server says has words in $title: every option, every game, and refusals by codes that there are", async ({ loadServerWords }) => {
  const { codes, options, games } = documented();
  const keys = Object.keys(await loadServerWords());
  const named = (kind: string): string[] => keys.filter((key) => key.startsWith(`${kind}.`)).map((key) => key.slice(kind.length + 1));
  expect(named("rule").sort()).toEqual([...new Set(options)].sort());
  expect(named("game").sort()).toEqual([...games].sort());
  expect(named("refused").filter((code) => !codes.includes(code))).toEqual([]);
  expect(named("refused").length).toBeGreaterThan(40);
});

/** Every source but the words themselves. */
function sources(): string {
  const root = `${import.meta.dirname}/../src`;
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.(ts|svelte)$/.test(name) && !name.startsWith("words/"));
  return names.map((name) => readFileSync(`${root}/${name}`, "utf8")).join("\n");
}

it("no sentence is there that nobody says", () => {
  const text = sources();
  // Of keys that are put together: what stands before a value, and what stands after a key.
  const beginnings = [...text.matchAll(/`([a-z_]+(?:\.[a-z_]+)*\.)\$\{/g)].map((found) => found[1]!);
  const endings = [...text.matchAll(/`\$\{\w+\}((?:\.[a-z_]+)+)`/g)].map((found) => found[1]!);
  const isSaid = (key: string): boolean =>
    text.includes(`"${key}"`) ||
    beginnings.some((beginning) => key.startsWith(beginning)) ||
    endings.some((ending) => key.endsWith(ending) && isSaid(key.slice(0, -ending.length)));
  const unused = Object.keys(en).filter((key) => !isSaid(key));
  expect(unused).toEqual([]);
});

it.each(LANGUAGES)("in $title the rules of every game are told, sentence by sentence", async ({ loadRules }) => {
  const words = await loadRules();
  expect(Object.keys(STEPS).sort()).toEqual(documented().games.sort());
  const told = Object.values(STEPS).flatMap((steps) => steps.map((step) => step.words));
  expect([...new Set(told)].sort()).toEqual(Object.keys(words).sort());
  expect(Object.values(words).filter((sentence) => sentence.length < 20)).toEqual([]);
});

it("the first language of the device that is spoken here is spoken", () => {
  expect(preferred(["de-DE", "ur-PK", "en"])).toBe("ur");
  expect(preferred(["RU"])).toBe("ru");
  expect(preferred(["de"])).toBe("en");
});

it.each<[Tag, number, string]>([["ru", 1, "1 карта"], ["ru", 3, "3 карты"], ["ru", 11, "11 карт"], ["ru", 22, "22 карты"], ["hi", 0, "0 पत्ता"], ["tr", 5, "5 kart"], ["en", 1, "1 card"]])(
  "in %s %d cards are counted as it is said there",
  async (tag, count, words) => {
    globalThis.document ??= { documentElement: {} } as Document;
    expect(await speak(tag)).toBe(true);
    expect(say("seat.cards", { count })).toBe(words);
  },
);

it("numbers are written as the language writes them", async () => {
  await speak("ru");
  expect(filled("{count}", { count: 12345.5 })).toBe("12\u00a0345,5");
  await speak("en");
  expect(filled("{count}", { count: 12345.5 })).toBe("12,345.5");
});
