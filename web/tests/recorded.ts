import { readFileSync } from "node:fs";
import type { Board, Shown } from "../src/model/board";

/** One line of a recorded game: an event, and now and then what is seen after it. The first line has only a view. */
export interface Recorded {
  kind?: string;
  public?: Shown;
  secret?: Shown;
  view?: Board;
}

export function recorded(game: string): Recorded[] {
  const text = readFileSync(`${import.meta.dirname}/recorded/${game}.jsonl`, "utf8");
  return text.trim().split("\n").map((line) => JSON.parse(line) as Recorded);
}
