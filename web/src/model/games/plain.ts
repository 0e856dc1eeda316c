/** Any game: what can be said without knowing it. */

import type { Suit } from "../../cards/card";
import { SUITS } from "../../cards/card";
import { say } from "../../words/words";
import type { Board, RoundEnded } from "../board";
import type { Choice, Command, Fact, ResultLook, SheetCell } from "../look";
import type { State } from "../state";
import type { GameLook } from ".";

export const isSuit = (text: string): text is Suit => (SUITS as readonly string[]).includes(text);

export const seatName = (state: State, seat: number): string =>
  seat === state.seat ? say("you") : (state.table?.seats[seat]?.name ?? "");

export function trumpFact(board: Board): Fact {
  const suit = board.trump;
  if (suit !== null && isSuit(suit)) return { label: say("fact.trump"), value: say(`suits.${suit}`), suit };
  return { label: say("fact.trump"), value: board.phase === "playing" ? say("fact.none") : "?" };
}

/** Decisions without an argument, as buttons. */
export function also(names: readonly string[], labels: Record<string, string>): Choice[] {
  return names.map((name) => ({ label: labels[name] ?? name, command: { type: name } as Command }));
}

/** Who won what, one row a seat. */
export function rows(ended: RoundEnded, state: State, board: Board): ResultLook["rows"] {
  const points = ended.points ?? [];
  const totals = ended.totals ?? board.totals;
  return (state.table?.seats ?? []).map((_, seat) => ({
    seat,
    name: seatName(state, seat),
    points: points[seat] ?? 0,
    total: totals[seat] ?? 0,
    isWinner: ended.winners?.includes(seat) ?? false,
    team: null,
  }));
}

export function titleOf(ended: RoundEnded, state: State): string {
  const winners = ended.winners;
  if (winners === undefined || state.seat === null) return say("result.over", { count: ended.round ?? 0 });
  return winners.includes(state.seat) ? say("result.you_win") : say("result.you_lose");
}

export const cells = (numbers: readonly number[] | undefined, more: (place: number) => Partial<SheetCell> = () => ({})): SheetCell[] =>
  (numbers ?? []).map((main, place) => ({ main, ...more(place) }));

export const plain: GameLook = {
  facts: (board) => [
    { label: say("fact.round"), value: String(board.round) },
    ...(board.trump === null ? [] : [trumpFact(board)]),
  ],
  note: (board, seat) => say("note.points", { count: board.totals[seat] ?? 0 }),
  team: () => null,
  panel(_board, legal) {
    const choices = also(legal.also ?? [], {});
    return choices.length === 0 ? null : { kind: "choices", title: say("turn.yours"), choices };
  },
  result: (board, ended, state) => ({
    title: titleOf(ended, state),
    sentences: [],
    rows: rows(ended, state, board),
    isGameOver: Boolean(ended.game_over),
  }),
  sheet: (board, rounds, names) => ({
    columns: names.map((name) => ({ name })),
    rounds: rounds.map((ended, place) => ({
      label: `${ended.round}.`,
      isLast: place === rounds.length - 1,
      cells: cells(ended.points),
    })),
    totals: board.totals,
    isTurned: true,
  }),
};
