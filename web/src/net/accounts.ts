/** What is asked over HTTP about players: profiles, leaderboards, coins, blocks. */

import type { BlockList, EntryList, GameList, Leaderboard, Profile, ToppedUp, WalletView } from "../contracts";
import { ask } from "./http";
import { asAccount } from "./session";

const part = encodeURIComponent;

/** Without what was left open. */
function query(values: Record<string, string | number | null | undefined>): string {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

export const myProfile = (): Promise<Profile> => asAccount<Profile>("GET", "/v1/me/profile");
export const profile = (handle: string): Promise<Profile> => ask<Profile>("GET", `/v1/players/${part(handle)}`);

/** The page of games that begins at `after`: the own ones, or those of another player. */
export function games(handle: string, after: string): Promise<GameList> {
  const page = query({ after });
  return handle === "" ? asAccount<GameList>("GET", `/v1/me/games${page}`) : ask<GameList>("GET", `/v1/players/${part(handle)}/games${page}`);
}

/** `week` as `2026-W48`; empty: the one of now. */
export const leaders = (game: string, week: string, after: number | null): Promise<Leaderboard> =>
  ask<Leaderboard>("GET", `/v1/leaderboards/${part(game)}${query({ week, after })}`);

export const wallet = (): Promise<WalletView> => asAccount<WalletView>("GET", "/v1/me/wallet?limit=1");

/** The lines of the own ledger before this one; `reason` empty: for every reason. */
export const entries = (reason: string, before: number | null): Promise<EntryList> =>
  asAccount<EntryList>("GET", `/v1/me/wallet/entries${query({ reason, before })}`);
export const topUp = (): Promise<ToppedUp> => asAccount<ToppedUp>("POST", "/v1/me/top-ups", { once: true });

export const blocks = (): Promise<BlockList> => asAccount<BlockList>("GET", "/v1/me/blocks");
export const blockPlayer = (handle: string): Promise<BlockList> => asAccount<BlockList>("POST", "/v1/me/blocks", { body: { handle } });
/** Whoever sits there. */
export const blockSeat = (tableId: string, seat: number): Promise<BlockList> =>
  asAccount<BlockList>("POST", "/v1/me/blocks", { body: { table_id: tableId, seat } });
export const unblock = (handle: string): Promise<BlockList> => asAccount<BlockList>("DELETE", `/v1/me/blocks/${part(handle)}`);

/** The name that this player has now. Nobody is told who has reported it. */
export const reportName = (handle: string): Promise<void> => asAccount<void>("POST", `/v1/players/${part(handle)}/name-reports`);
