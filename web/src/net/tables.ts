/** What is asked over HTTP about games and tables. */

import type { Catalogue, NewTable, PlayerShown, QuickPlay, TableList, TableListed, TableRef, TableSeen, TermsLimits } from "../contracts";
import { ask } from "./http";
import { asAccount } from "./session";

const BET_COINS_USUAL = 25;

export const catalogue = (): Promise<Catalogue> => ask<Catalogue>("GET", "/v1/games");

export const create = (terms: NewTable): Promise<TableRef> => asAccount<TableRef>("POST", "/v1/tables", { body: terms });

/** Nobody but bots waits there, and it may be somebody's first game: each turn has all the time there is. */
export const againstBots = (game: string, { bet_coins_min, turn_seconds_max }: TermsLimits): Promise<TableRef> =>
  create({ game, bet_coins: bet_coins_min ?? BET_COINS_USUAL, turn_seconds: turn_seconds_max ?? null });

/** A seat at a public table of this game and bet, or at a new one. */
export const quickPlay = (wish: QuickPlay): Promise<TableRef> => asAccount<TableRef>("POST", "/v1/quick-play", { body: wish });

/** The public tables, newest first; `game` empty: of every game. */
export function listed(game: string, after: number | null): Promise<TableList> {
  const query = new URLSearchParams({ ...(game && { game }), ...(after !== null && { after: String(after) }) });
  return ask<TableList>("GET", `/v1/tables?${query}`);
}

export const refOfListed = ({ table_id, socket }: TableListed): TableRef => ({ table_id, socket, made: false });

export const find = (tableId: string): Promise<TableSeen> => asAccount<TableSeen>("GET", `/v1/tables/${encodeURIComponent(tableId)}`, { tries: 1 });

/** The accounts at a table, by seat; null: a bot, or nobody. */
export const seated = async (tableId: string): Promise<readonly (PlayerShown | null)[]> => (await find(tableId)).table.seats;

export async function byCode(code: string): Promise<TableRef> {
  return refOf(await asAccount<TableSeen>("GET", `/v1/codes/${encodeURIComponent(code)}`));
}

export async function byInvite(token: string): Promise<TableRef> {
  return refOf(await asAccount<TableSeen>("GET", `/v1/invites/${encodeURIComponent(token)}`));
}

export async function byId(tableId: string): Promise<TableRef> {
  return refOf(await find(tableId));
}

function refOf({ table, socket, code, invite_token, invite_url }: TableSeen): TableRef {
  return { table_id: table.table_id, socket, made: false, code: code ?? null, invite_token: invite_token ?? null, invite_url: invite_url ?? null };
}
