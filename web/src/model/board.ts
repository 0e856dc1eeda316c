/** What this seat knows of the cards, and how each event of a game changes it. Pure. Open this when a board is stale.
 *
 * A board is the view that a snapshot brings. An event carries what it changes under the names of the view; what follows
 * from a rule alone (`legal` is sent with each frame) is not kept.
 */

import type {
  Call,
  Convert,
  CourtPieceRoundEnded,
  Fate,
  KingRoundEnded,
  KingsAndRebelsRoundEnded,
  SheetLine,
} from "../contracts";

export interface LaidCard {
  seat: number;
  /** null: it lies face down. */
  card: string | null;
  face_down?: boolean;
}

export interface Trick {
  leader: number;
  cards: readonly LaidCard[];
  winner: number;
  picked_up?: number;
}

export type RoundEnded = Partial<CourtPieceRoundEnded> & Partial<KingRoundEnded> & Partial<KingsAndRebelsRoundEnded>;

/** The views of all games in one: a field that a game does not have is not there. */
export interface Board {
  seat: number | null;
  phase: string;
  round: number;
  turn: number;
  to_act: number | null;
  totals: readonly number[];
  hand: readonly string[];
  hand_counts: readonly number[];
  leader: number;
  winning: number | null;
  trick: readonly LaidCard[];
  tricks: readonly Trick[];
  trump: string | null;
  ended: RoundEnded | null;
  options?: Record<string, unknown>;
  // Court Piece
  caller?: number | null;
  collected?: readonly number[];
  trump_shown?: boolean;
  indicator?: string | null;
  must_play_trump?: boolean;
  pile?: number;
  pile_needed?: number;
  streak?: number | null;
  // King
  rounds?: number;
  declarer?: number | null;
  contract?: string | null;
  counts?: readonly number[];
  points?: readonly number[];
  hearts_banned?: boolean;
  sheet?: readonly SheetLine[];
  trumps_declared?: readonly number[];
  negatives_declared?: readonly number[];
  // Kings and Rebels
  dealer?: number | null;
  minimum_bid?: number;
  points_in_pack?: number;
  calls?: readonly Call[];
  passed?: readonly number[];
  high_bid?: number | null;
  high_bidder?: number | null;
  rebel_leader?: number | null;
  bid?: number | null;
  converts?: readonly Convert[];
  fates?: readonly Fate[];
  rebels?: readonly number[];
  captured?: readonly number[];
}

/** Fields of an event; each kind has its own. */
export type Shown = Record<string, unknown>;

type Change = (board: Board, shown: Shown) => Partial<Board>;

/** The board one event later; `shown` is what everybody sees of it together with what this seat alone sees. */
export function afterGameEvent(board: Board, kind: string, shown: Shown): Board {
  const change = CHANGES[kind];
  return change === undefined ? board : { ...board, ...change(board, shown) };
}

export const isGameEvent = (kind: string): boolean => kind in CHANGES;

const CHANGES: Record<string, Change> = {
  round_dealt: dealt,
  trump_chosen: trumpChosen,
  trump_shown: trumpShown,
  declared,
  bid_made: bidMade,
  bid_passed: bidPassed,
  converts_named: convertsNamed,
  card_played: cardPlayed,
  round_ended: roundEnded,
};

const seatOf = (shown: Shown): number => shown.seat as number;
const due = (shown: Shown): Pick<Board, "turn" | "to_act"> => ({
  turn: shown.turn as number,
  to_act: (shown.to_act ?? null) as number | null,
});
const zeros = (board: Board, name: "counts" | "points" | "captured" | "collected"): Partial<Board> =>
  board[name] === undefined ? {} : { [name]: board[name].map(() => 0) };

/** Whoever opens a round: the phase in which a first decision is due has its name by the game. */
function dealt(board: Board, shown: Shown): Partial<Board> {
  const hand = (shown.hand ?? []) as string[];
  const first = "caller" in shown ? courtPieceDeal(board, shown) : "declarer" in shown ? kingDeal(board, shown) : rebelsDeal(shown);
  return {
    ...zeros(board, "counts"),
    ...zeros(board, "points"),
    ...zeros(board, "captured"),
    ...zeros(board, "collected"),
    ...due(shown),
    round: shown.round as number,
    hand,
    hand_counts: shown.hand_counts as number[],
    winning: null,
    trick: [],
    tricks: [],
    trump: null,
    ended: null,
    ...first,
  };
}

function courtPieceDeal(board: Board, shown: Shown): Partial<Board> {
  const kaat = board.options?.trump === "kaat";
  return {
    phase: kaat ? "playing" : "choosing",
    caller: kaat ? null : (shown.caller as number),
    leader: shown.caller as number,
    trump_shown: false,
    indicator: null,
    must_play_trump: false,
    pile: 0,
    streak: null,
  };
}

function kingDeal(board: Board, shown: Shown): Partial<Board> {
  const contract = (shown.contract ?? null) as string | null;
  return {
    phase: contract === null ? "declaring" : "playing",
    leader: shown.leader as number,
    declarer: shown.declarer as number | null,
    contract,
    ...(board.hearts_banned === undefined ? {} : { hearts_banned: false }),
  };
}

function rebelsDeal(shown: Shown): Partial<Board> {
  return {
    phase: "bidding",
    dealer: shown.dealer as number,
    leader: shown.to_act as number,
    calls: [],
    passed: [],
    high_bid: null,
    high_bidder: null,
    rebel_leader: null,
    bid: null,
    converts: [],
    fates: [],
    rebels: [],
  };
}

function trumpChosen(board: Board, shown: Shown): Partial<Board> {
  const isHidden = board.options?.trump === "hidden";
  return {
    ...due(shown),
    phase: "playing",
    hand: (shown.hand ?? board.hand) as string[],
    hand_counts: shown.hand_counts as number[],
    trump: (shown.suit ?? null) as string | null,
    trump_shown: !isHidden,
    indicator: isHidden ? ((shown.card ?? null) as string | null) : null,
  };
}

/** The face-down card goes back to the caller's hand. */
function trumpShown(board: Board, shown: Shown): Partial<Board> {
  const caller = board.caller ?? seatOf(shown);
  return {
    ...due(shown),
    trump: shown.suit as string,
    trump_shown: true,
    indicator: null,
    must_play_trump: shown.must_play_trump as boolean,
    hand: board.seat === caller ? [...board.hand, shown.card as string] : board.hand,
    hand_counts: board.hand_counts.map((count, seat) => (seat === caller ? count + 1 : count)),
  };
}

function declared(board: Board, shown: Shown): Partial<Board> {
  const seat = seatOf(shown);
  const isTrump = shown.contract === "trump";
  const more = (counts: readonly number[] | undefined, counted: boolean): readonly number[] | undefined =>
    counted ? counts?.map((count, other) => (other === seat ? count + 1 : count)) : counts;
  return {
    ...due(shown),
    phase: "playing",
    declarer: seat,
    contract: shown.contract as string,
    trump: (shown.suit ?? null) as string | null,
    hand: (shown.hand ?? board.hand) as string[],
    leader: shown.to_act as number,
    ...(board.trumps_declared && { trumps_declared: more(board.trumps_declared, isTrump)! }),
    ...(board.negatives_declared && { negatives_declared: more(board.negatives_declared, !isTrump)! }),
  };
}

function bidMade(board: Board, shown: Shown): Partial<Board> {
  const call = { seat: seatOf(shown), points: shown.points as number };
  return {
    ...due(shown),
    ...led(shown, call.points),
    calls: [...(board.calls ?? []), call],
    high_bid: call.points,
    high_bidder: call.seat,
  };
}

function bidPassed(board: Board, shown: Shown): Partial<Board> {
  const seat = seatOf(shown);
  return {
    ...due(shown),
    ...led(shown, board.high_bid ?? null),
    calls: [...(board.calls ?? []), { seat, points: null }],
    passed: [...(board.passed ?? []), seat].sort((one, other) => one - other),
  };
}

/** The auction is over: its winner leads the Rebels and names trump and convert cards. */
function led(shown: Shown, bid: number | null): Partial<Board> {
  const leader = (shown.leader ?? null) as number | null;
  return leader === null ? {} : { phase: "naming", rebel_leader: leader, bid, rebels: [leader] };
}

function convertsNamed(_board: Board, shown: Shown): Partial<Board> {
  return {
    ...due(shown),
    phase: "playing",
    trump: shown.trump as string,
    leader: shown.to_act as number,
    converts: (shown.converts ?? []) as Convert[],
  };
}

function cardPlayed(board: Board, shown: Shown): Partial<Board> {
  const seat = seatOf(shown);
  const card = (shown.card ?? null) as string | null;
  const laid: LaidCard = { seat, card, ...(shown.face_down ? { face_down: true } : {}) };
  const cards = [...board.trick, laid];
  return {
    ...due(shown),
    hand: seat === board.seat ? board.hand.filter((held) => held !== card) : board.hand,
    hand_counts: board.hand_counts.map((count, other) => (other === seat ? count - 1 : count)),
    trick: cards,
    winning: shown.winning as number,
    ...(board.must_play_trump === undefined ? {} : { must_play_trump: false }),
    ...(shown.trump === undefined ? {} : { trump: shown.trump as string, trump_shown: true }),
    ...(shown.trick === undefined ? {} : trickTaken(board, cards, shown.trick as Shown)),
    ...fate(board, seat, shown),
  };
}

function trickTaken(board: Board, cards: readonly LaidCard[], taken: Shown): Partial<Board> {
  const winner = taken.winner as number;
  const trick: Trick = { leader: cards[0]!.seat, cards, winner };
  const isPiled = board.pile !== undefined;
  return {
    trick: [],
    winning: null,
    leader: winner,
    tricks: [...board.tricks, isPiled ? { ...trick, picked_up: (taken.picked_up ?? 0) as number } : trick],
    ...(isPiled && {
      pile: taken.pile as number,
      collected: taken.collected as number[],
      streak: (taken.streak ?? null) as number | null,
    }),
    ...(taken.counts === undefined ? {} : { counts: taken.counts as number[], points: taken.points as number[] }),
    ...(taken.captured === undefined ? {} : { captured: taken.captured as number[] }),
  };
}

function fate(board: Board, seat: number, shown: Shown): Partial<Board> {
  const joined = shown.converted as Convert | undefined;
  const known = joined ?? (shown.spent as Convert | undefined);
  if (known === undefined) return {};
  const fates = [...(board.fates ?? []), { card: known.card, ordinal: known.ordinal ?? 1, seat, joined: joined !== undefined }];
  return joined === undefined ? { fates } : { fates, rebels: [...(board.rebels ?? []), seat] };
}

function roundEnded(board: Board, shown: Shown): Partial<Board> {
  const ended = shown as RoundEnded;
  return {
    phase: ended.game_over ? "over" : "waiting",
    to_act: null,
    totals: ended.totals ?? board.totals,
    ended,
    ...(ended.next_caller === undefined ? {} : { caller: ended.next_caller }),
    ...(ended.converts && { fates: ended.converts }),
    ...(board.sheet && { sheet: [...board.sheet, sheetLine(board, ended)] }),
  };
}

function sheetLine(board: Board, ended: RoundEnded): SheetLine {
  return {
    round: ended.round ?? board.round,
    declarer: board.declarer ?? null,
    contract: ended.contract ?? "",
    suit: ended.suit ?? null,
    counts: [...(ended.counts ?? [])],
    points: [...(ended.points ?? [])] as number[],
  };
}
