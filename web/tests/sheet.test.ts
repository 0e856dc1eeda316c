// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { Board, RoundEnded } from "../src/model/board";
import { gameLook } from "../src/model/games";
import Sheet from "../src/table/Sheet.svelte";
import { recorded } from "./recorded";

const NAMES = ["You", "Zara", "Omar", "Nur", "Ravi"];
afterEach(cleanup);

/** The rows of the sheet as they stood first when `wanted` was so: the heading of each, and its figures. */
function rowsWhere(game: string, wanted: (board: Board) => boolean): { board: Board; rounds: RoundEnded[]; rows: string[][] } {
  const lines = recorded(game);
  const place = lines.findIndex(({ view }) => view !== undefined && wanted(view));
  const board = lines[place]!.view!;
  const rounds = lines.slice(0, place + 1).flatMap(({ kind, public: shown }) => (kind === "round_ended" ? [shown as RoundEnded] : []));
  render(Sheet, { sheet: gameLook(game).sheet(board, rounds, NAMES.slice(0, board.hand_counts.length)) });
  const rows = screen.getAllByRole("row").map((row) => [...row.children].map((cell) => cell.textContent!.trim()));
  return { board, rounds, rows };
}

it("in King the round that is played has its line, with what each has taken so far", () => {
  const { board, rows } = rowsWhere("king_20", (seen) => seen.phase === "playing" && seen.tricks.length > 2);
  const line = rows.at(-2)!;
  expect(line[0]).toMatch(new RegExp(`^${board.round}\\. `));
  expect(line.slice(1)).toEqual(board.points!.map((points, seat) => `${points}${board.counts![seat]}`));
  expect(rows.at(-1)!.slice(1)).toEqual(board.totals.map(String));
});

it("in King a round that is over has one line", () => {
  const { board, rows } = rowsWhere("king_20", (seen) => seen.ended !== null);
  expect(rows.filter(([name]) => name!.startsWith(`${board.round}. `))).toHaveLength(1);
});

it("in Kings and Rebels each round is a column, and the last one what everybody has captured so far", () => {
  const { board, rounds, rows } = rowsWhere("kings_and_rebels", (seen) => seen.round === 2 && seen.phase === "playing" && seen.tricks.length > 3);
  expect(rounds).toHaveLength(1);
  expect(rows[0]!.slice(1)).toEqual([...rounds.map(({ round, red_points, bid }) => `${round}.${red_points}/${bid}`), `2.${board.rebels!.reduce((sum, seat) => sum + board.captured![seat]!, 0)}/${board.bid}`, "Total"]);
  expect(rows.slice(1)).toEqual(
    board.captured!.map((points, seat) => [NAMES[seat]!, ...rounds.map((ended) => String(ended.points![seat])), String(points), String(board.totals[seat])]),
  );
});

it("in Court Piece a team is a column, and each round a line with its tricks", () => {
  const { board, rounds, rows } = rowsWhere("court_piece", (seen) => seen.round === 2 && seen.phase === "playing" && seen.tricks.length > 3);
  expect(rows[0]).toEqual(["", "You + Omar", "Zara + Nur"]);
  expect(rows.slice(1, 2).map(([, ...cells]) => cells)).toEqual(rounds.map(({ points, collected }) => [0, 1].map((team) => `${points![team]}${collected![team]}`)));
  expect(rows[1]![0]).toMatch(/^1\. (Spades|Hearts|Diamonds|Clubs)$/);
  expect(rows[2]).toEqual(["2.", ...board.collected!.map(String)]);
  expect(rows[3]).toEqual(["Total", ...board.totals.map(String)]);
});
