import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Replay, ReplayEvent, Snapshot } from "../src/contracts";
import type { Board, RoundEnded } from "../src/model/board";
import { missesRounds, NO_PAST, pastAfterSnapshot, resultsOf, withRounds } from "../src/model/past";
import { afterFrame, NOTHING, type State } from "../src/model/state";
import { TABLE } from "./table";

const ended = (round: number): RoundEnded => ({ round, totals: [round, 0] });
const board = (round: number, result: RoundEnded | null = null): Board => ({ round, ended: result }) as Board;
const snapshot = (game: number, view: Board | null): Snapshot => ({ table: { ...TABLE, game_number: game }, game: view }) as unknown as Snapshot;
const rounds = ({ rounds: known }: { rounds: readonly RoundEnded[] }): unknown[] => known.map(({ round }) => round);

describe("the rounds of a game", () => {
  it("are known as they end, and the next game begins with none", () => {
    const at: State = { ...NOTHING, version: 4, welcomed: 4, table: { ...TABLE, game_number: 1 } };
    const end = (state: State, round: number): State =>
      afterFrame(state, { type: "event", version: state.version + 1, kind: "round_ended", public: { ...ended(round) } }, 1);
    const two = end(end(at, 1), 2);
    expect(two.past.game).toBe(1);
    expect(rounds(two.past)).toEqual([1, 2]);
    expect(rounds(end({ ...two, table: { ...TABLE, game_number: 2 } }, 1).past)).toEqual([1]);
  });

  it("are kept over a snapshot of the same game, which brings the result that it shows", () => {
    const past = withRounds(NO_PAST, 3, [ended(1)]);
    expect(rounds(pastAfterSnapshot(past, snapshot(3, board(2, ended(2)))))).toEqual([1, 2]);
    expect(rounds(pastAfterSnapshot(past, snapshot(4, board(1))))).toEqual([]);
    expect(pastAfterSnapshot(past, snapshot(4, null))).toBe(past);
  });

  it("are missed by a page that was opened later, except where the view has a sheet", () => {
    const one = withRounds(NO_PAST, 1, [ended(1)]);
    expect(missesRounds(NO_PAST, 1, board(1))).toBe(false);
    expect(missesRounds(NO_PAST, 1, board(2))).toBe(true);
    expect(missesRounds(one, 1, board(2))).toBe(false);
    expect(missesRounds(one, 1, board(2, ended(2)))).toBe(true);
    expect(missesRounds(one, 2, board(2))).toBe(true);
    expect(missesRounds(NO_PAST, 1, { ...board(2), sheet: [] })).toBe(false);
  });

  it("are found in the log of the table, one game by itself", () => {
    const [head, ...lines] = readFileSync("../libs/client/tests/golden/court_piece_hidden.ndjson", "utf8").trim().split("\n");
    const log = { ...(JSON.parse(head!) as Replay), events: lines.map((line) => JSON.parse(line) as ReplayEvent) };
    const found = resultsOf(log, 1);
    expect(found.length).toBeGreaterThan(5);
    expect(found.map(({ round }) => round)).toEqual(found.map((_, place) => place + 1));
    expect(found.every(({ points }) => points!.length === 2)).toBe(true);
    expect(resultsOf(log, 2)).toEqual([]);
  });
});
