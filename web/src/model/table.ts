/** What everybody knows of a table around the cards, and how each event changes it. Pure. */

import type { SeatView, TableTerms, TableView, VoteView } from "../contracts";
import type { Shown } from "./board";

export const FREE: SeatView = {
  kind: "free",
  name: null,
  avatar: null,
  away: false,
  bot_plays: false,
  ready: false,
  committed: false,
  expects: "anybody",
};
/** Only a vote brings a bot there. */
const BARRED: SeatView = { ...FREE, expects: "player" };

/** Somebody sits there: nobody is expected. */
const HELD: SeatView = { ...FREE, expects: null };

type Change = (table: TableView, shown: Shown) => TableView;

/** The table one event later; what does not concern it leaves it as it is. */
export function afterTableEvent(table: TableView, kind: string, shown: Shown): TableView {
  const change = CHANGES[kind];
  if (change !== undefined) return change(table, shown);
  const phase = PHASES[kind];
  return phase === undefined ? table : inPhase(table, phase);
}

const CHANGES: Record<string, Change> = {
  seat_taken: seatTaken,
  bot_seated: (table, shown) => withSeat(table, shown, { ...HELD, kind: "bot", name: shown.name as string }),
  seat_freed: (table, shown) => withoutSay(withSeat(table, shown, table.started ? BARRED : FREE), shown),
  bot_sent_away: (table, shown) => withSeat(table, shown, BARRED),
  options_changed: optionsChanged,
  seats_swapped: seatsSwapped,
  host_changed: (table, shown) => ({ ...table, host: shown.seat as number }),
  seat_ready: (table, shown) => withSeat(table, shown, { ready: true }),
  seed_committed: (table, shown) => withSeat(table, shown, { committed: true }),
  player_went_offline: (table, shown) => withSeat(table, shown, { away: true }),
  player_went_idle: (table, shown) => withSeat(table, shown, { away: true }),
  leave_asked: (table, shown) => withoutSay(withSeat(table, shown, { away: true }), shown),
  player_came_back: (table, shown) => withSeat(table, shown, { away: false, bot_plays: false }),
  bot_took_over: (table, shown) => withSeat(table, shown, { bot_plays: true }),
  bag_opened: (table, shown) => ({ ...table, bag: shown.bag as number }),
  count_in_started: (table, shown) => ({
    ...table,
    phase: "counting_in",
    game_number: shown.game as number,
    round: shown.round as number,
    attempt: shown.attempt as number,
    seats: beforeCountIn(table),
  }),
  game_started: (table) => ({ ...table, started: true }),
  game_ended: (table, shown) => ({
    ...table,
    game_number: (shown.game as number) + 1,
    round: 0,
    attempt: 0,
    started: false,
    seats: table.seats.map((seat) => (seat.kind === "free" ? FREE : seat)),
  }),
  vote_asked: (table, shown) => ({
    ...table,
    vote: {
      number: shown.vote as number,
      about: shown.about as VoteView["about"],
      about_seat: (shown.about_seat ?? null) as number | null,
      asked_by: shown.seat as number,
      waits_for: shown.waits_for as number[],
      agreed: [],
    },
  }),
  vote_answered: voteAnswered,
  vote_ended: voteEnded,
  // Stakes that still go back are waited for.
  table_voided: (table) => inPhase(table, table.phase === "refunding" ? "refunding" : "waiting"),
};

const PHASES: Record<string, string> = {
  count_in_stopped: "waiting",
  seeds_asked: "opening_seeds",
  stakes_asked: "staking",
  stakes_refused: "waiting",
  round_started: "playing",
  seeds_shown: "waiting",
  settle_asked: "settling",
  settled: "waiting",
  refund_asked: "refunding",
  refunded: "waiting",
  refund_refused: "waiting",
  table_closed: "closed",
};

/** Whoever sat down is asked in a vote that runs, too. */
function seatTaken(table: TableView, shown: Shown): TableView {
  const seat: SeatView = { ...HELD, kind: "player", name: shown.name as string, avatar: shown.avatar as string };
  const { vote } = table;
  const asked = vote ? { vote: { ...vote, waits_for: [...vote.waits_for, shown.seat as number] } } : {};
  return { ...withSeat(table, shown, seat), ...asked };
}

/** Whoever left has no say any more. */
function withoutSay(table: TableView, shown: Shown): TableView {
  const { vote } = table;
  if (!vote) return table;
  const others = (seats: readonly number[] | undefined): number[] => (seats ?? []).filter((seat) => seat !== shown.seat);
  return { ...table, vote: { ...vote, waits_for: others(vote.waits_for), agreed: others(vote.agreed) } };
}

/** A "no" ends it: that comes next. */
function voteAnswered(table: TableView, shown: Shown): TableView {
  if (!table.vote || !shown.agree) return table;
  const { vote } = withoutSay(table, shown);
  return { ...table, vote: { ...vote!, agreed: [...(vote!.agreed ?? []), shown.seat as number] } };
}

/** A game that is ended has no count-in any more. */
function voteEnded(table: TableView, shown: Shown): TableView {
  const over = { ...table, vote: null };
  if (!shown.agreed || shown.about !== "end_game") return over;
  const isBeforeDeal = table.phase === "counting_in" || table.phase === "opening_seeds";
  return { ...over, phase: isBeforeDeal ? "waiting" : table.phase, seats: beforeCountIn(table) };
}

function optionsChanged(table: TableView, shown: Shown): TableView {
  const terms = shown.terms as TableTerms;
  return { ...table, terms, seats: Array.from({ length: terms.seats }, (_, seat) => table.seats[seat] ?? FREE) };
}

/** A count-in that ran begins again. */
function seatsSwapped(table: TableView, shown: Shown): TableView {
  const [first, second] = shown.seats as [number, number];
  const others: Record<number, number> = { [first]: second, [second]: first };
  return inPhase({ ...table, seats: table.seats.map((seat, number) => table.seats[others[number] ?? number] ?? seat) }, "waiting");
}

/** Who is ready and who has committed to a string counts for one deal: until it comes, or does not. */
function inPhase(table: TableView, phase: string): TableView {
  const isOver = phase === "waiting" || phase === "playing";
  return { ...table, phase, seats: isOver ? beforeCountIn(table) : table.seats };
}

function beforeCountIn(table: TableView): SeatView[] {
  return table.seats.map((seat) => ({ ...seat, ready: false, committed: false }));
}

function withSeat(table: TableView, shown: Shown, changes: Partial<SeatView>): TableView {
  return { ...table, seats: table.seats.map((seat, number) => (number === shown.seat ? { ...seat, ...changes } : seat)) };
}
