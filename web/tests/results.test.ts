// @vitest-environment happy-dom
import { beforeEach, expect, it } from "vitest";
import type { Board } from "../src/model/board";
import { NO_PAST } from "../src/model/past";
import { afterFrame, NOTHING } from "../src/model/state";
import { keepResult, resultAt } from "../src/ui/results";
import { TABLE } from "./table";

const SNAPSHOT = { type: "snapshot", version: 40, seat: 0, table: { ...TABLE, game_number: 2 } } as const;
const OVER = { ended: { game_over: true, totals: [1, 2, 3, 4] } } as unknown as Board;
const RUNNING = { ended: null } as unknown as Board;

beforeEach(() => sessionStorage.clear());

it("how a game ended is known at its table after a reload, and at no other", () => {
  const shared = { shares: [100, 0, 0, 0], pays_again: [] };
  const past = { game: 2, rounds: [{ round: 1, game_over: true }] };
  keepResult("t", { board: OVER, past, shared });
  expect(resultAt("t")).toEqual({ board: OVER, past, shared });
  expect(resultAt("elsewhere")).toEqual({ board: null, past: NO_PAST, shared: null });
});

it("a round that is over, and a game that runs, come with the snapshot and are not kept", () => {
  keepResult("t", { board: RUNNING, past: NO_PAST, shared: null });
  expect(resultAt("t").board).toBeNull();
});

it("a snapshot between two games leaves what the last one ended with, and one of the next game takes it away", () => {
  const waiting = afterFrame({ ...NOTHING, board: OVER }, SNAPSHOT, 0);
  expect(waiting.board).toBe(OVER);
  expect(afterFrame(waiting, { ...SNAPSHOT, version: 50, game: RUNNING as never }, 0).board).toEqual(RUNNING);
  expect(afterFrame({ ...NOTHING, board: RUNNING }, SNAPSHOT, 0).board).toBeNull();
});
