// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { Board } from "../src/model/board";
import Sheet from "../src/table/Sheet.svelte";
import { recorded } from "./recorded";

const NAMES = ["You", "Zara", "Omar", "Nur", "Ravi"];
afterEach(cleanup);

/** The rows of the sheet as they stood first when `wanted` was so: the heading of each, and its figures. */
function rowsWhere(game: string, wanted: (board: Board) => boolean): { board: Board; rows: string[][] } {
  const board = recorded(game).flatMap(({ view }) => (view === undefined ? [] : [view])).find(wanted)!;
  render(Sheet, { board, names: NAMES.slice(0, board.hand_counts.length) });
  const rows = screen.getAllByRole("row").map((row) => [...row.children].map((cell) => cell.textContent!.trim()));
  return { board, rows };
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

it("in Kings and Rebels everybody's captured points are beside their total", () => {
  const { board, rows } = rowsWhere("kings_and_rebels", (seen) => seen.phase === "playing" && seen.tricks.length > 1);
  expect(rows.slice(1)).toEqual(board.captured!.map((points, seat) => [NAMES[seat]!, String(points), String(board.totals[seat])]));
});

it("in Court Piece a team is one line", () => {
  const { board, rows } = rowsWhere("court_piece", (seen) => seen.phase === "playing" && seen.tricks.length > 1);
  expect(rows.slice(1)).toEqual([
    ["You + Omar", String(board.collected![0]), String(board.totals[0])],
    ["Zara + Nur", String(board.collected![1]), String(board.totals[1])],
  ]);
});
