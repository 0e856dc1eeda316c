/** A finished table step by step, with all cards open. Pure. Open this when a replay shows another board than the table did. */

import type { Replay, ReplayEvent, TableView } from "../contracts";
import { afterGameEvent, type Board, isGameEvent, type Shown } from "../model/board";
import { NOTHING, type State } from "../model/state";
import { FREE } from "../model/table";

export interface Step {
  /** What the table showed then to whoever looked on; `state.told` ends with what happened. */
  state: State;
  /** All cards, by seat. */
  hands: readonly (readonly string[])[];
}

export interface PlayedRound {
  game: number;
  round: number;
  steps: Step[];
}

/** Who sits where, as it changes. */
type Names = Record<number, { name: string; kind: string; avatar: string | null }>;

export function roundsOf(replay: Replay): PlayedRound[] {
  const rounds: PlayedRound[] = [];
  const names: Names = {};
  let board: Board | null = null;
  let at: { game: number; round: number } | null = null;
  for (const event of replay.events) {
    if (event.body === null) continue;
    const body = JSON.parse(event.body) as Record<string, unknown>;
    seated(names, event.kind, body);
    if (event.kind === "game_started") board = emptyBoard(replay);
    else if (event.kind === "round_started") at = { game: body.game as number, round: body.round as number };
    else if (at !== null && board !== null && isGameEvent(event.kind)) {
      const last = rounds.at(-1);
      // Where everybody passed, a round is dealt once more.
      if (last?.game !== at.game || last.round !== at.round) rounds.push({ ...at, steps: [] });
      const before: readonly (readonly string[])[] = rounds.at(-1)?.steps.at(-1)?.hands ?? [];
      const shown = body.event as Shown;
      const hands = handsAfter(before, event.kind, shown, board);
      board = afterGameEvent(board, event.kind, opened(shown, hands));
      rounds.at(-1)?.steps.push({ state: stateOf(replay, event, shown, { names: { ...names }, board }), hands });
    }
  }
  return rounds;
}

function seated(names: Names, kind: string, body: Record<string, unknown>): void {
  const host = body.host as { name: string; avatar: string } | undefined;
  if (kind === "table_created" && host) names[0] = { name: host.name, kind: "player", avatar: host.avatar };
  else if (kind === "seat_taken") names[body.seat as number] = { name: body.name as string, kind: "player", avatar: body.avatar as string };
  else if (kind === "bot_seated") names[body.seat as number] = { name: body.name as string, kind: "bot", avatar: null };
  else if (kind === "seats_swapped") {
    const [one, other] = body.seats as [number, number];
    [names[one], names[other]] = [names[other]!, names[one]!];
  }
}

/** Whoever looks on is told of no hand; a log has them all. */
const opened = (shown: Shown, hands: readonly (readonly string[])[]): Shown => ({
  ...shown,
  hand: [],
  hand_counts: hands.map((hand) => hand.length),
  // A log says null where the table says nothing.
  ...(shown.trump === null ? { trump: undefined } : {}),
  ...(shown.trick === null ? { trick: undefined } : {}),
  ...(shown.converted === null ? { converted: undefined } : {}),
  ...(shown.spent === null ? { spent: undefined } : {}),
});

function handsAfter(hands: readonly (readonly string[])[], kind: string, shown: Shown, board: Board): readonly (readonly string[])[] {
  const seat = shown.seat as number;
  if (Array.isArray(shown.hands)) return withoutFaceDown(shown.hands as string[][], kind, shown);
  if (kind === "card_played") return hands.map((hand, other) => (other === seat ? hand.filter((card) => card !== shown.card) : hand));
  if (kind === "trump_shown") return hands.map((hand, other) => (other === (board.caller ?? seat) ? [...hand, shown.card as string] : hand));
  return hands;
}

/** The card that lies face down is not in the hand. */
const withoutFaceDown = (hands: string[][], kind: string, shown: Shown): string[][] =>
  kind === "trump_chosen" && shown.card ? hands.map((hand, seat) => (seat === shown.seat ? hand.filter((card) => card !== shown.card) : hand)) : hands;

function stateOf(replay: Replay, event: ReplayEvent, shown: Shown, { names, board }: { names: Names; board: Board }): State {
  const seats = Array.from({ length: replay.terms.seats }, (_, seat) => ({ ...FREE, ...names[seat], expects: null }));
  const table: TableView = {
    table_id: replay.table_id,
    terms: replay.terms,
    phase: "playing",
    host: 0,
    game_number: 1,
    round: board.round,
    attempt: 0,
    bag: null,
    seats,
  };
  return { ...NOTHING, version: event.version, table, board, told: [{ version: event.version, kind: event.kind, shown: withoutNulls(shown) }] };
}

const withoutNulls = (shown: Shown): Shown => Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== null));

/** Before the first deal. What a game has beside cards is told by its name. */
function emptyBoard({ terms }: Replay): Board {
  const zeros = (count: number): number[] => Array<number>(count).fill(0);
  const plain: Board = {
    seat: null, phase: "waiting", round: 0, turn: 0, to_act: null, totals: zeros(terms.seats), hand: [], hand_counts: zeros(terms.seats),
    leader: 0, winning: null, trick: [], tricks: [], trump: null, ended: null, options: terms.options,
  };
  if (terms.game === "court_piece") return { ...plain, totals: [0, 0], collected: [0, 0], pile: 0, trump_shown: false, must_play_trump: false };
  if (terms.game === "kings_and_rebels") return { ...plain, captured: zeros(terms.seats), rebels: [], calls: [], passed: [], fates: [], converts: [] };
  if (!terms.game.startsWith("king")) return plain;
  const counts = { counts: zeros(terms.seats), points: zeros(terms.seats) };
  return { ...plain, ...counts, sheet: [], trumps_declared: zeros(terms.seats), negatives_declared: zeros(terms.seats) };
}
