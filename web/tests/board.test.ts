import { describe, expect, it } from "vitest";
import { afterGameEvent, type Board } from "../src/model/board";
import { recorded } from "./recorded";

const GAMES = ["court_piece", "king_20", "king_short", "king_long", "kings_and_rebels"];
/** What a client needs of a view to show the table; the rest is the server's to say. */
const FOLLOWED: readonly (keyof Board)[] = [
  "phase", "round", "turn", "to_act", "totals", "hand_counts", "winning", "trump",
  "caller", "collected", "trump_shown", "indicator", "must_play_trump", "pile", "streak",
  "declarer", "contract", "counts", "points", "sheet", "trumps_declared", "negatives_declared",
  "dealer", "calls", "passed", "high_bid", "high_bidder", "rebel_leader", "bid", "converts", "fates", "rebels", "captured",
];

const cards = (laid: Board["trick"]): unknown => laid.map(({ seat, card }) => [seat, card]);

describe.each(GAMES)("two recorded rounds of %s", (game) => {
  it("lead from event to event to what the server says is seen", () => {
    const [first, ...events] = recorded(game);
    let board = first!.view!;
    let compared = 0;
    for (const [number, { kind, public: shown, secret, view }] of events.entries()) {
      board = afterGameEvent(board, kind!, { ...shown, ...secret });
      if (view === undefined) continue;
      compared += 1;
      const where = `${game}, event ${number + 1}, ${kind}`;
      for (const name of FOLLOWED) {
        // What was named and never played is told by no event.
        const isUntold = view[name] === undefined || (name === "converts" && view.ended !== null);
        if (!isUntold) expect(board[name], `${name}: ${where}`).toEqual(view[name]);
      }
      expect([...board.hand].sort(), where).toEqual([...view.hand].sort());
      expect(cards(board.trick), where).toEqual(cards(view.trick));
      expect(board.tricks.map((trick) => [trick.leader, trick.winner, trick.picked_up ?? 0, cards(trick.cards)]), where).toEqual(
        view.tricks.map((trick) => [trick.leader, trick.winner, trick.picked_up ?? 0, cards(trick.cards)]),
      );
      if (view.ended === null) expect(board.ended, where).toBeNull();
      else expect(board.ended?.points, where).toEqual(view.ended.points);
    }
    expect(compared).toBeGreaterThan(10);
  });
});

it("leaves a board as it is at an event of a kind that it does not know", () => {
  const board = recorded("court_piece")[0]!.view!;
  expect(afterGameEvent(board, "stars_aligned", { seat: 3 })).toBe(board);
});
