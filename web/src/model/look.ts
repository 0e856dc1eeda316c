/** What the table shows, made from what is known: seats, cards, facts, choices. Pure. Open this to show something more. */

import { type Sorting, sorted, type Suit, suitOf } from "../cards/card";
import type { ClientFrame, TableTerms } from "../contracts";
import { say } from "../words/words";
import type { Board, LaidCard } from "./board";
import { gameLook } from "./games";
import type { State } from "./state";

/** A command as a component names it; the socket adds its id, and for a decision its game, round and turn. */
export type Command = ClientFrame extends infer Frame ? (Frame extends { id: string } ? Omit<Frame, "id" | "game" | "round" | "turn"> : never) : never;

export type Team = "ours" | "theirs" | "kings" | "rebels" | null;
export type Direction = "clockwise" | "anticlockwise";

export interface Fact {
  label: string;
  value: string;
  suit?: Suit;
}

export interface Choice {
  label: string;
  /** null: it can't be chosen, and `reason` says why. */
  command: Command | null;
  suit?: Suit;
  card?: string;
  reason?: string;
  isMain?: boolean;
}

export type Panel =
  | { kind: "choices"; title: string; choices: Choice[] }
  | { kind: "bid"; title: string; bids: number[]; pass: Command | null }
  | { kind: "converts"; title: string; suits: Suit[]; converts: { card: string; ordinal: number }[]; max: number };

export interface SeatLook {
  seat: number;
  kind: string;
  name: string;
  avatar: string | null;
  isYou: boolean;
  isAway: boolean;
  isOnTurn: boolean;
  leads: boolean;
  isReady: boolean;
  cards: number;
  note: string | null;
  team: Team;
  /** A free seat that only a vote gives to a bot. */
  needsVote: boolean;
  /** Where it is on the ellipse, -1 to 1 from left to right and from top to bottom. */
  x: number;
  y: number;
}

export interface HandCard {
  card: string;
  /** null: nothing is to be played now. */
  isLegal: boolean | null;
}

export interface TrickCard extends LaidCard {
  isWinning: boolean;
  x: number;
  y: number;
}

export interface ResultLook {
  title: string;
  sentences: string[];
  rows: { seat: number; name: string; points: number; total: number; isWinner: boolean; team: Team }[];
  isGameOver: boolean;
}

export interface SheetCell {
  main: number | null;
  /** How many tricks or penalty cards, in small figures. */
  small?: number | undefined;
  /** Whoever chose the contract or the trump. */
  isMarked?: boolean;
  isRebel?: boolean;
}

export interface SheetRound {
  label: string;
  small?: string;
  /** Of the round that was finished last, where no other is played. */
  isLast: boolean;
  cells: SheetCell[];
  /** Who won it, where two sides play. */
  team?: Team;
}

export interface SheetLook {
  /** A player, or a team; with what each has declared, where that counts. */
  columns: { name: string; trumps?: number; negatives?: number; isRebel?: boolean }[];
  rounds: SheetRound[];
  totals: readonly number[];
  /** So many play that each has a row, and each round a column. */
  isTurned: boolean;
}

export interface VoteLook {
  number: number;
  sentence: string;
  mayAnswer: boolean;
}

export interface TableLook {
  seats: SeatLook[];
  hand: HandCard[];
  trick: TrickCard[];
  lastTrick: TrickCard[];
  lastWinner: number | null;
  tricksPlayed: number;
  pile: number;
  facts: Fact[];
  panel: Panel | null;
  result: ResultLook | null;
  vote: VoteLook | null;
  /** The host may deal now, and need not wait. */
  mayDeal: boolean;
  status: string;
  isYourTurn: boolean;
  phase: string;
}

export interface Wishes {
  sorting: Sorting;
  direction: Direction;
}

/** Whether seat `seat` of so many is shown at the left, the right, above; one's own is below. */
export function place(seat: number, you: number, seats: number, direction: Direction): { x: number; y: number } {
  const steps = (((seat - you) % seats) + seats) % seats;
  const turn = (steps / seats) * 2 * Math.PI * (direction === "clockwise" ? 1 : -1);
  const angle = Math.PI / 2 + turn;
  return { x: Math.cos(angle), y: Math.sin(angle) };
}

export function nameOf(state: State, seat: number | null): string {
  if (seat === null) return "";
  return seat === state.seat ? say("you") : (state.table?.seats[seat]?.name ?? "");
}

/** null: the table is not known yet. */
export function lookOf(state: State, wishes: Wishes): TableLook | null {
  const { table, board } = state;
  if (table === null) return null;
  const game = gameLook(table.terms.game);
  const isPlaying = table.phase === "playing" && board !== null;
  const seats = table.seats.map((_, seat) => seatLook(state, seat, wishes));
  const at = (laid: LaidCard, winning: number | null): TrickCard => ({
    ...laid,
    isWinning: laid.seat === winning,
    x: seats[laid.seat]!.x,
    y: seats[laid.seat]!.y,
  });
  const last = board?.tricks.at(-1);
  const isYourTurn = isPlaying && state.legal !== null && board.to_act === state.seat;
  return {
    seats,
    hand: board === null ? [] : handLook(board, state, wishes.sorting),
    trick: (board?.trick ?? []).map((laid) => at(laid, board!.winning)),
    lastTrick: (last?.cards ?? []).map((laid) => at(laid, last!.winner)),
    lastWinner: last?.winner ?? null,
    tricksPlayed: board?.tricks.length ?? 0,
    pile: board?.pile ?? 0,
    facts: board === null ? termsFacts(table.terms) : game.facts(board, state),
    panel: board === null || state.legal === null ? null : game.panel(board, state.legal, state),
    result: board?.ended ? withCoins(game.result(board, board.ended, state), state) : null,
    vote: voteLook(state),
    mayDeal: Boolean(game.hostDeals) && table.phase === "counting_in" && state.seat === table.host,
    status: statusOf(state, isYourTurn),
    isYourTurn,
    phase: table.phase,
  };
}

/** Before the first cards. */
const termsFacts = ({ bet_coins, turn_seconds }: TableTerms): Fact[] => [
  { label: say("home.bet"), value: say("create.coins", { count: bet_coins }) },
  { label: say("create.turn"), value: say("create.seconds", { count: turn_seconds }) },
];

/** What has come out of the pot for oneself. */
function withCoins(result: ResultLook, { shared, seat, table }: State): ResultLook {
  if (shared === null || seat === null) return result;
  const share = shared.shares[seat] ?? 0;
  const bet = table!.terms.bet_coins;
  const coins = [
    ...(share > 0 ? [say("result.share", { count: share })] : []),
    ...(shared.pays_again.includes(seat) ? [say("result.pays_again", { count: bet })] : []),
  ];
  return { ...result, sentences: [...result.sentences, ...coins] };
}

function seatLook(state: State, seat: number, { direction }: Wishes): SeatLook {
  const table = state.table!;
  const board = table.phase === "playing" || state.board?.ended ? state.board : null;
  const { kind, avatar, away, bot_plays, ready, expects } = table.seats[seat]!;
  const game = gameLook(table.terms.game);
  return {
    seat,
    kind: kind ?? "free",
    name: nameOf(state, seat),
    avatar: avatar ?? null,
    isYou: seat === state.seat,
    isAway: Boolean(away || bot_plays),
    isOnTurn: board !== null && board.to_act === seat,
    leads: board !== null && board.phase === "playing" && board.leader === seat,
    isReady: Boolean(ready),
    needsVote: kind === "free" && expects === "player",
    cards: board?.hand_counts[seat] ?? 0,
    note: ready ? say("note.ready") : board === null ? null : game.note(board, seat),
    team: board === null ? null : game.team(board, seat, state.seat ?? 0),
    ...place(seat, state.seat ?? 0, table.seats.length, direction),
  };
}

function voteLook(state: State): VoteLook | null {
  const vote = state.table?.vote;
  if (!vote) return null;
  return {
    number: vote.number,
    sentence: say(`vote.${vote.about}`, { name: nameOf(state, vote.asked_by) }),
    mayAnswer: state.seat !== null && vote.waits_for.includes(state.seat),
  };
}

function handLook(board: Board, state: State, sorting: Sorting): HandCard[] {
  const legal = board.to_act === state.seat ? (state.legal?.play ?? []) : [];
  return sorted(board.hand, sorting).map((card) => ({ card, isLegal: legal.length === 0 ? null : legal.includes(card) }));
}

function statusOf(state: State, isYourTurn: boolean): string {
  const { table, board } = state;
  if (isYourTurn) return say(board!.phase === "playing" && board!.trick.length === 0 && board!.leader === state.seat ? "turn.lead" : "turn.yours");
  if (table!.phase === "playing" && board !== null && board.to_act !== null) return say("turn.other", { name: nameOf(state, board.to_act) });
  if (table!.phase === "staking") return say("waiting.staking");
  if (table!.phase === "settling") return say("waiting.settling");
  if (table!.phase === "waiting" && board?.ended == null) return say("waiting.title");
  return "";
}

/** Why a card of the hand can't be played: what the table would say, said before it is asked. */
export function whyNot(state: State, card: string): string {
  const board = state.board;
  if (board === null || board.to_act === null) return say("hand.wait");
  if (board.to_act !== state.seat) return say("hand.not_your_turn", { name: nameOf(state, board.to_act) });
  const led = board.trick[0]?.card;
  if (led && suitOf(led) !== suitOf(card)) return say("hand.illegal", { led: say(`suits.${suitOf(led)}`) });
  return say("hand.illegal_now");
}
