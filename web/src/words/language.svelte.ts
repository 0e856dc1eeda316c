/** Which language is spoken here. Open this to add one: a line below, and a file in each folder of words. */

import { en, type Words } from "./en";
import type { RuleWords } from "./rules/en";

export type Tag = "en" | "ur" | "hi" | "ru" | "tr";

interface Language {
  tag: Tag;
  /** Its own name for itself. */
  title: string;
  direction: "ltr" | "rtl";
  load: () => Promise<Partial<Words>>;
  /** What the server says in English: refusals, options, games. */
  loadServerWords: () => Promise<Record<string, string>>;
  loadRules: () => Promise<RuleWords>;
}

export const LANGUAGES: readonly Language[] = [
  {
    tag: "en",
    title: "English",
    direction: "ltr",
    load: async () => en,
    loadServerWords: async () => ({}),
    loadRules: async () => (await import("./rules/en")).en,
  },
  {
    tag: "ur",
    title: "اردو",
    direction: "rtl",
    load: async () => (await import("./ur")).ur,
    loadServerWords: async () => (await import("./server/ur")).ur,
    loadRules: async () => (await import("./rules/ur")).ur,
  },
  {
    tag: "hi",
    title: "हिन्दी",
    direction: "ltr",
    load: async () => (await import("./hi")).hi,
    loadServerWords: async () => (await import("./server/hi")).hi,
    loadRules: async () => (await import("./rules/hi")).hi,
  },
  {
    tag: "ru",
    title: "Русский",
    direction: "ltr",
    load: async () => (await import("./ru")).ru,
    loadServerWords: async () => (await import("./server/ru")).ru,
    loadRules: async () => (await import("./rules/ru")).ru,
  },
  {
    tag: "tr",
    title: "Türkçe",
    direction: "ltr",
    load: async () => (await import("./tr")).tr,
    loadServerWords: async () => (await import("./server/tr")).tr,
    loadRules: async () => (await import("./rules/tr")).tr,
  },
];

interface Spoken {
  tag: Tag;
  words: Partial<Words>;
  serverWords: Record<string, string>;
  plurals: Intl.PluralRules;
  numbers: Intl.NumberFormat;
}

const ENGLISH: Spoken = spokenBy("en", en, {});
let now = $state.raw<Spoken>(ENGLISH);

/** What is spoken now; whoever shows words is shown anew when that changes. */
export const spoken = (): Spoken => now;

/** Changes the language of everything. One that can't be loaded leaves the one before: false. */
export async function speak(tag: Tag): Promise<boolean> {
  const language = languageOf(tag);
  try {
    const [words, serverWords] = await Promise.all([language.load(), language.loadServerWords()]);
    now = spokenBy(language.tag, words, serverWords);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // That is how a browser says that a module could not be fetched.
    return false;
  }
  document.documentElement.lang = language.tag;
  document.documentElement.dir = language.direction;
  return true;
}

/** How games are played, in this language. */
export const rulesIn = (tag: Tag): Promise<RuleWords> => languageOf(tag).loadRules();

/** The first language of the device that is spoken here. */
export function preferred(given: readonly string[]): Tag {
  for (const wanted of given) {
    const found = LANGUAGES.find(({ tag }) => tag === wanted.slice(0, 2).toLowerCase());
    if (found) return found.tag;
  }
  return "en";
}

const languageOf = (tag: Tag): Language => LANGUAGES.find((known) => known.tag === tag) ?? LANGUAGES[0]!;

function spokenBy(tag: Tag, words: Partial<Words>, serverWords: Record<string, string>): Spoken {
  return { tag, words, serverWords, plurals: new Intl.PluralRules(tag), numbers: new Intl.NumberFormat(tag) };
}
