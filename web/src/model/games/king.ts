/** King in all its forms: the contract, what is left to declare, points. */

import type { SheetLine } from "../../contracts";
import { say, sayOr } from "../../words/words";
import type { Board } from "../board";
import type { Choice, SheetRound } from "../look";
import type { GameLook } from ".";
import { cells, isSuit, plain, rows } from "./plain";

const TRUMP_MARK = "trump:";

export function contractName(contract: string, suit?: string | null): string {
  if (contract === "trump" && suit && isSuit(suit)) return say("contract.trump_of", { suit: say(`suits.${suit}`).toLowerCase() });
  return sayOr(`contract.${contract}`, contract);
}

function choice(name: string): Choice {
  if (!name.startsWith(TRUMP_MARK)) return { label: contractName(name), command: { type: "declare", contract: name } };
  const suit = name.slice(TRUMP_MARK.length);
  return {
    label: contractName("trump", suit),
    command: { type: "declare", contract: "trump", suit },
    ...(isSuit(suit) ? { suit } : {}),
  };
}

/** What one has declared already and can't declare again: shown, so that nobody looks for it. */
function spent(board: Board, left: readonly string[]): Choice[] {
  const declared = (board.sheet ?? []).filter((line) => line.declarer === board.seat && line.contract !== "trump").map((line) => line.contract);
  return [...new Set(declared)]
    .filter((contract) => !left.includes(contract))
    .map((contract) => ({ label: contractName(contract), command: null, reason: say("panel.contract_spent") }));
}

/** The totals hold a round that is over. */
const ofThisRound = (board: Board, seat: number): number => (board.ended ? 0 : (board.points?.[seat] ?? 0));

/** Points, and beside them the tricks or penalty cards that were taken. */
const lineOf = ({ round, contract, suit, declarer, counts, points }: SheetLine, isLast: boolean): SheetRound => ({
  label: `${round}. ${contractName(contract, suit)}`,
  isLast,
  cells: cells(points, (seat) => ({ small: counts[seat], isMarked: declarer === seat })),
});

function running(board: Board): SheetRound[] {
  if (board.ended || board.contract == null) return [];
  const { round, contract, trump, declarer, counts, points } = board;
  return [lineOf({ round, contract, suit: trump, declarer: declarer ?? null, counts: [...(counts ?? [])], points: [...(points ?? [])] }, false)];
}

export const king: GameLook = {
  ...plain,
  facts: (board) => [
    { label: say("fact.round"), value: board.rounds === undefined ? String(board.round) : `${board.round} / ${board.rounds}` },
    {
      label: say("fact.contract"),
      value: board.contract ? contractName(board.contract, board.trump) : "?",
      ...(board.trump !== null && isSuit(board.trump) ? { suit: board.trump } : {}),
    },
  ],
  note: (board, seat) =>
    board.phase === "declaring" && board.declarer === seat ? say("note.declarer") : say("note.points", { count: (board.totals[seat] ?? 0) + ofThisRound(board, seat) }),
  panel(board, legal) {
    if (!legal.name || legal.name.length === 0) return null;
    return { kind: "choices", title: say("panel.contract"), choices: [...legal.name.map(choice), ...spent(board, legal.name)] };
  },
  result: (board, ended, state) => ({
    title: ended.game_over ? say("result.game_over") : say("result.over", { count: ended.round ?? 0 }),
    sentences: ended.contract ? [contractName(ended.contract, ended.suit)] : [],
    rows: rows(ended, state, board),
    isGameOver: Boolean(ended.game_over),
  }),
  sheet(board, _rounds, names) {
    const lines = board.sheet ?? [];
    const declared = (seat: number) => board.trumps_declared && { trumps: board.trumps_declared[seat] ?? 0, negatives: board.negatives_declared?.[seat] ?? 0 };
    return {
      columns: names.map((name, seat) => ({ name, ...declared(seat) })),
      rounds: [...lines.map((line, place) => lineOf(line, place === lines.length - 1)), ...running(board)],
      totals: board.totals,
      isTurned: false,
    };
  },
};
