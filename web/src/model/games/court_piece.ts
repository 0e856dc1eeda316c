/** Court Piece: trump, pile, both teams' tricks and points, asking and showing. */

import { sorted } from "../../cards/card";
import { say, sayOr } from "../../words/words";
import type { Board, RoundEnded } from "../board";
import type { Choice, Fact, Panel, SheetRound } from "../look";
import type { GameLook } from ".";
import { also, cells, isSuit, rows, seatName, titleOf, trumpFact } from "./plain";

const teamOf = (seat: number): number => seat % 2;

/** Ours first, whoever looks. */
const ours = (numbers: readonly number[] | undefined, you: number): [number, number] => {
  const team = teamOf(you);
  return [numbers?.[team] ?? 0, numbers?.[1 - team] ?? 0];
};
const written = ([mine, theirs]: [number, number]): string => `${mine} : ${theirs}`;

function trump(board: Board): Fact {
  if (board.trump_shown) return trumpFact(board);
  // The caller alone knows what lies there.
  const known = board.trump !== null && isSuit(board.trump) ? { suit: board.trump } : {};
  return { label: say("fact.trump"), value: board.phase === "choosing" ? "?" : say("fact.hidden"), ...known };
}

function named(names: readonly string[]): Panel {
  const isCards = names.some((name) => !isSuit(name));
  const choices = (isCards ? sorted(names, "suit") : names).map((name): Choice =>
    isSuit(name)
      ? { label: say(`suits.${name}`), suit: name, command: { type: "choose_trump", suit: name } }
      : { label: name, card: name, command: { type: "choose_trump", card: name } },
  );
  return { kind: "choices", title: say(isCards ? "panel.trump_card" : "panel.trump_suit"), choices };
}

/** Points, and beside them the tricks that were picked up. */
const lineOf = (ended: RoundEnded, isLast: boolean): SheetRound => ({
  label: `${ended.round}. ${ended.trump && isSuit(ended.trump) ? say(`suits.${ended.trump}`) : ""}`,
  isLast,
  cells: cells(ended.points, (team) => ({ small: ended.collected?.[team], isMarked: ended.trump_seat !== undefined && teamOf(ended.trump_seat) === team })),
});

const running = ({ round, collected }: Board): SheetRound => ({
  label: `${round}.`,
  isLast: false,
  cells: (collected ?? []).map((small) => ({ main: null, small })),
});

export const courtPiece: GameLook = {
  hasTeams: true,
  facts: (board, state) => [
    { label: say("fact.score"), value: written(ours(board.totals, state.seat ?? 0)) },
    { label: say("fact.tricks"), value: written(ours(board.collected, state.seat ?? 0)) },
    trump(board),
  ],
  note: (board, seat) => (board.caller === seat ? say("note.caller") : null),
  team: (_board, seat, you) => (teamOf(seat) === teamOf(you) ? "ours" : "theirs"),
  panel(_board, legal) {
    if (legal.name && legal.name.length > 0) return named(legal.name);
    const choices = also(legal.also ?? [], { ask_trump: say("panel.ask"), show_trump: say("panel.show") });
    return choices.length === 0 ? null : { kind: "choices", title: "", choices };
  },
  result(board, ended, state) {
    const [mine, theirs] = ours(ended.collected, state.seat ?? 0);
    const how = sayOr(`result.${ended.outcome}`, "");
    return {
      title: titleOf(ended, state),
      sentences: [
        ...(ended.outcome === "win" || how === "" ? [] : [how]),
        say("result.collected", { count: mine, other: theirs }),
        ...(ended.trump && isSuit(ended.trump) ? [say("result.trump", { suit: say(`suits.${ended.trump}`).toLowerCase() })] : []),
      ],
      rows: rows(ended, state, board)
        .slice(0, 2)
        .map((row, team) => ({
          ...row,
          name: [team, team + 2].map((seat) => seatName(state, seat)).join(" + "),
          points: ended.points?.[team] ?? 0,
          total: ended.totals?.[team] ?? 0,
          team: team === teamOf(state.seat ?? 0) ? ("ours" as const) : ("theirs" as const),
        })),
      isGameOver: Boolean(ended.game_over),
    };
  },
  sheet: (board, rounds, names) => ({
    columns: [0, 1].map((team) => ({ name: `${names[team]} + ${names[team + 2]}` })),
    rounds: [...rounds.map((ended, place) => lineOf(ended, place === rounds.length - 1)), ...(board.ended ? [] : [running(board)])],
    totals: board.totals,
    isTurned: false,
  }),
};
