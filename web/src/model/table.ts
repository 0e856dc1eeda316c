/** What everybody knows of a table around the cards, and how each event changes it. Pure. */

import type { SeatView, TableView } from "../contracts";
import type { Shown } from "./board";

export const FREE: SeatView = {
  kind: "free",
  name: null,
  avatar: null,
  away: false,
  bot_plays: false,
  ready: false,
  committed: false,
};

type Change = (table: TableView, shown: Shown) => TableView;

/** The table one event later; what does not concern it leaves it as it is. */
export function afterTableEvent(table: TableView, kind: string, shown: Shown): TableView {
  const change = CHANGES[kind];
  if (change !== undefined) return change(table, shown);
  const phase = PHASES[kind];
  return phase === undefined ? acted(table, shown) : inPhase(table, phase);
}

const CHANGES: Record<string, Change> = {
  seat_taken: (table, shown) => withSeat(table, shown, { ...FREE, kind: "player", name: shown.name as string, avatar: shown.avatar as string }),
  bot_seated: (table, shown) => withSeat(table, shown, { ...FREE, kind: "bot", name: shown.name as string }),
  seat_freed: (table, shown) => withSeat(table, shown, FREE),
  bot_sent_away: (table, shown) => withSeat(table, shown, FREE),
  host_changed: (table, shown) => ({ ...table, host: shown.seat as number }),
  seat_ready: (table, shown) => withSeat(table, shown, { ready: true }),
  seed_committed: (table, shown) => withSeat(table, shown, { committed: true }),
  player_went_offline: (table, shown) => withSeat(table, shown, { away: true }),
  player_went_idle: (table, shown) => withSeat(table, shown, { away: true }),
  leave_asked: (table, shown) => withSeat(table, shown, { away: true }),
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
  game_ended: (table, shown) => ({ ...table, game_number: (shown.game as number) + 1, round: 0, attempt: 0 }),
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

/** A player who acts takes the seat back from the bot. */
function acted(table: TableView, shown: Shown): TableView {
  const byPlayer = (shown.by ?? "player") === "player";
  const isPlayedByBot = typeof shown.seat === "number" && table.seats[shown.seat]?.bot_plays;
  return byPlayer && isPlayedByBot ? withSeat(table, shown, { bot_plays: false }) : table;
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
