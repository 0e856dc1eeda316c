/** The results of a game's rounds that are over, for the sheet. Pure. Open this when a round is missing there. */

import type { Replay, Snapshot } from "../contracts";
import type { Board, RoundEnded, Shown } from "./board";

export interface Past {
  game: number;
  /** By round, the first one first; those that this page has not seen are not there. */
  rounds: readonly RoundEnded[];
}

export const NO_PAST: Past = { game: 0, rounds: [] };

export function pastAfterEvent(past: Past, game: number, kind: string, shown: Shown): Past {
  return kind === "round_ended" ? withRounds(past, game, [shown as RoundEnded]) : past;
}

/** Between two games no view is sent: then it stays as it was. */
export function pastAfterSnapshot(past: Past, { table, game: view }: Snapshot): Past {
  const board = (view ?? null) as Board | null;
  return board === null ? past : withRounds(past, table.game_number, board.ended ? [board.ended] : []);
}

export function withRounds(past: Past, game: number, rounds: readonly RoundEnded[]): Past {
  const all = new Map([...(past.game === game ? past.rounds : []), ...rounds].map((ended) => [ended.round, ended]));
  return { game, rounds: [...all.values()].sort((one, other) => (one.round ?? 0) - (other.round ?? 0)) };
}

/** Rounds are over that this page has not seen. A game with a sheet of its own in its view misses none. */
export function missesRounds(past: Past, game: number, board: Board): boolean {
  if (board.sheet !== undefined) return false;
  const over = board.ended ? board.round : board.round - 1;
  return over > (past.game === game ? past.rounds.length : 0);
}

/** What a table's log says of one of its games. */
export function resultsOf({ events }: Replay, game: number): RoundEnded[] {
  const results: RoundEnded[] = [];
  let played = 0;
  for (const { kind, body } of events) {
    if (body === null || (kind !== "round_started" && kind !== "round_ended")) continue;
    const fields = JSON.parse(body) as Record<string, unknown>;
    if (kind === "round_started") played = fields.game as number;
    else if (played === game) results.push(fields.event as RoundEnded);
  }
  return results;
}
