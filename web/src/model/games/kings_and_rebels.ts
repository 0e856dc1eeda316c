/** Kings and Rebels: the auction, the leader's secret, who has joined, points against the bid. */

import { cardShort } from "../../cards/card";
import { say } from "../../words/words";
import type { Board, RoundEnded } from "../board";
import type { Fact, Panel, SheetRound } from "../look";
import type { GameLook } from ".";
import { cells, isSuit, plain, rows, seatName, trumpFact } from "./plain";

const TRUMP_MARK = "trump:";
const COUNT_MARK = "converts:";

/** Names are "trump:S", "converts:3" and, for the second time that the ace of hearts is played, "AH:2". */
function naming(names: readonly string[]): Panel {
  const after = (mark: string): string[] => names.filter((name) => name.startsWith(mark)).map((name) => name.slice(mark.length));
  const converts = names
    .filter((name) => !name.startsWith(TRUMP_MARK) && !name.startsWith(COUNT_MARK))
    .map((name) => ({ card: name.split(":")[0]!, ordinal: Number(name.split(":")[1] ?? 1) }));
  return {
    kind: "converts",
    title: say("panel.convert"),
    suits: after(TRUMP_MARK).filter(isSuit),
    converts,
    max: Math.max(1, ...after(COUNT_MARK).map(Number)),
  };
}

/** The leader's secret, or known to everybody where the table plays so. */
function convertsFact(board: Board): Fact[] {
  const left = (board.converts ?? []).filter((named) => !board.fates?.some((fate) => fate.card === named.card && fate.ordinal === (named.ordinal ?? 1)));
  if (left.length === 0) return [];
  const twice = (card: string): boolean => left.filter((named) => named.card === card).length > 1 || left.some((named) => named.card === card && (named.ordinal ?? 1) > 1);
  const value = left.map(({ card, ordinal }) => `${cardShort(card)}${twice(card) ? ` ${ordinal ?? 1}.` : ""}`).join(" ");
  return [{ label: say("fact.converts"), value }];
}

const redPoints = (board: Board): number => (board.rebels ?? []).reduce((sum, seat) => sum + (board.captured?.[seat] ?? 0), 0);

/** What was captured against what was bid, and the points that came of it. */
const lineOf = (ended: RoundEnded, isLast: boolean): SheetRound => ({
  label: `${ended.round}.`,
  small: `${ended.red_points}/${ended.bid}`,
  isLast,
  team: ended.success ? "rebels" : "kings",
  cells: cells(ended.points, (seat) => ({ isRebel: ended.rebels?.includes(seat) ?? false, isMarked: ended.leader === seat })),
});

/** What everybody has captured so far: no points yet. */
const running = (board: Board): SheetRound => ({
  label: `${board.round}.`,
  ...(board.bid == null ? {} : { small: `${redPoints(board)}/${board.bid}` }),
  isLast: false,
  cells: (board.captured ?? []).map((small, seat) => ({ main: null, small, isRebel: board.rebels?.includes(seat) ?? false })),
});

export const kingsAndRebels: GameLook = {
  hostDeals: true,
  facts(board, state) {
    if (board.bid == null) {
      const leader = board.high_bidder == null ? "" : ` (${seatName(state, board.high_bidder)})`;
      return [
        { label: say("fact.round"), value: `${board.round} / ${board.rounds ?? board.round}` },
        { label: say("fact.bid"), value: board.high_bid == null ? say("fact.none") : `${board.high_bid}${leader}` },
      ];
    }
    return [
      { label: say("fact.rebels"), value: `${redPoints(board)} / ${board.bid}` },
      { label: say("fact.leader"), value: seatName(state, board.rebel_leader ?? 0) },
      trumpFact(board),
      ...convertsFact(board),
    ];
  },
  note(board, seat) {
    if (board.ended) return say("note.points", { count: board.totals[seat] ?? 0 });
    if (board.phase !== "bidding") return say("note.points", { count: board.captured?.[seat] ?? 0 });
    if (board.passed?.includes(seat)) return say("note.pass");
    const call = board.calls?.findLast((made) => made.seat === seat);
    return call?.points == null ? null : say("note.bid", { count: call.points });
  },
  team(board, seat) {
    if (board.rebel_leader == null) return null;
    return board.rebels?.includes(seat) ? "rebels" : "kings";
  },
  panel(board, legal, state) {
    const names = legal.name ?? [];
    if (board.phase === "naming" && names.length > 0) return naming(names);
    const pass = legal.also?.includes("pass_bid") ? ({ type: "pass_bid" } as const) : null;
    if (names.length > 0) return { kind: "bid", title: say("panel.bid"), bids: names.map(Number), pass };
    return pass === null ? null : plain.panel(board, legal, state) && { kind: "choices", title: "", choices: [{ label: say("panel.pass"), command: pass }] };
  },
  result(board, ended, state) {
    const made = { bid: ended.bid ?? 0, count: ended.red_points ?? 0 };
    return {
      ...plain.result(board, ended, state),
      sentences: [say(ended.success ? "result.success" : "result.failure", made)],
      rows: rows(ended, state, board).map((row, seat) => ({ ...row, team: ended.rebels?.includes(seat) ? ("rebels" as const) : ("kings" as const) })),
    };
  },
  sheet: (board, rounds, names) => ({
    columns: names.map((name, seat) => ({ name, isRebel: board.rebels?.includes(seat) ?? false })),
    rounds: [...rounds.map((ended, place) => lineOf(ended, place === rounds.length - 1)), ...(board.ended ? [] : [running(board)])],
    totals: board.totals,
    isTurned: true,
  }),
};
