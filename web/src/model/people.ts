/** What may be done about the people at a table, and what leaving costs. Pure. The table refuses what is not so. */

import { gameLook } from "./games";
import type { Command } from "./look";
import type { State } from "./state";

export type SeatDeed = "bot_goes" | "mute" | "hear" | "block" | "report_name" | "send_away" | "partner" | "bot_comes";

const BETWEEN_ROUNDS = new Set(["waiting", "counting_in"]);

/** What this player may do about another seat now, in the order in which it is offered. */
export function deedsFor(state: State, seat: number, muted: ReadonlySet<number>): SeatDeed[] {
  const { table, seat: you } = state;
  const other = table?.seats[seat];
  if (!table || !other || seat === you) return [];
  const waits = BETWEEN_ROUNDS.has(table.phase);
  const mayAsk = you !== null && !table.vote;
  const deeds: SeatDeed[] = [];
  if (other.kind === "bot" && waits && you !== null) deeds.push("bot_goes");
  if (other.kind === "player") {
    if (mayAsk && isPartnerFree(state, seat)) deeds.push("partner");
    if (mayAsk && waits && other.away) deeds.push("bot_comes");
    if (you === table.host && waits && !table.started) deeds.push("send_away");
    if (you !== null) deeds.push(muted.has(seat) ? "hear" : "mute", "block", "report_name");
  }
  if (other.kind === "free" && other.expects === "player" && mayAsk) deeds.push("bot_comes");
  return deeds;
}

/** The host may change partners where no game runs. */
function isPartnerFree({ table, seat: you }: State, seat: number): boolean {
  if (!table || you === null || you !== table.host || table.started || !BETWEEN_ROUNDS.has(table.phase)) return false;
  return gameLook(table.terms.game).hasTeams === true && seat % 2 !== you % 2;
}

/** null: the lobby is asked, not the table. */
export function commandOf(deed: SeatDeed, seat: number): Command | null {
  switch (deed) {
    case "bot_goes":
      return { type: "send_bot_away", seat };
    case "mute":
    case "hear":
      return { type: "mute", seat, muted: deed === "mute" };
    case "send_away":
      return { type: "send_player_away", seat };
    case "partner":
    case "bot_comes":
      return { type: "ask_vote", about: deed === "partner" ? "partner" : "bot", seat };
    case "block":
    case "report_name":
      return null;
  }
}

export type LeavingCost = "nothing" | "round" | "round_with_people" | "game" | "game_with_people";

/** What leaving costs now; `stakeUnit` is for what a bet counts: "round" or "game". */
export function leavingCost({ table, seat: you }: State, stakeUnit: string): LeavingCost {
  if (!table || you === null) return "nothing";
  const others = table.seats.filter((seat, number) => seat.kind === "player" && number !== you);
  const unit = table.phase === "playing" ? "round" : "game";
  // While a game waits because somebody else has gone, nobody is held.
  const waits = table.phase === "waiting" && table.seats.some((seat) => seat.kind === "free");
  const isHeld = table.phase === "playing" || (table.started && stakeUnit === "game" && !waits);
  if (!isHeld) return "nothing";
  return others.length > 0 ? `${unit}_with_people` : unit;
}
