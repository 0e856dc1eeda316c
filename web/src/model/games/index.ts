/** What only one game shows; a game without a file of its own still shows cards, choices and totals. */

import type { Legal } from "../../contracts";
import type { Board, RoundEnded } from "../board";
import type { Fact, Panel, ResultLook, SheetLook, Team } from "../look";
import type { State } from "../state";
import { courtPiece } from "./court_piece";
import { king } from "./king";
import { kingsAndRebels } from "./kings_and_rebels";
import { plain } from "./plain";

export interface GameLook {
  /** The chips above the table. */
  facts(board: Board, state: State): Fact[];
  /** What stands below a name. */
  note(board: Board, seat: number): string | null;
  team(board: Board, seat: number, you: number): Team;
  /** Decisions that are not cards of the hand. */
  panel(board: Board, legal: Legal, state: State): Panel | null;
  result(board: Board, ended: RoundEnded, state: State): ResultLook;
  /** `rounds` are over, `names` are by seat. */
  sheet(board: Board, rounds: readonly RoundEnded[], names: readonly string[]): SheetLook;
  /** The host may end a count-in by dealing. */
  hostDeals?: boolean;
  /** Opposite seats play together, and the host may ask for another partner. */
  hasTeams?: boolean;
}

const GAMES: Record<string, GameLook> = {
  court_piece: courtPiece,
  king_20: king,
  king_short: king,
  king_long: king,
  kings_and_rebels: kingsAndRebels,
};

export const gameLook = (name: string): GameLook => GAMES[name] ?? plain;
