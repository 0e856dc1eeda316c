/** The account of this browser and its tokens, shared by all tabs. Open this when requests are refused with 401. */

import type { Account, Me, MeChanged, Session } from "../contracts";
import { type Asked, ask, Failed } from "./http";

const PLACE = "darbar.session";
/** A token is renewed when this much of its life is left, so that none ends on its way. */
const MARGIN_MS_MAX = 60_000;
const MARGIN_SHARE = 0.2;
/** Anywhere from this share of that time on: who came together, as after a cut, does not come together again. */
const RENEWAL_SHARE_MIN = 0.5;
const UNAUTHORIZED = 401;
/** The account itself is refused: a new guest is another one. */
const SESSION_LOST = new Set(["refresh_token_expired", "refresh_token_invalid", "refresh_token_reused", "refresh_token_revoked", "account_unknown"]);

interface Kept {
  account: Account;
  access_token: string;
  refresh_token: string;
  /** By this device's clock, in milliseconds. */
  renew_at: number;
}

export const known = (): Account | null => read()?.account ?? null;

/** A new guest for this browser, whoever was here before. */
export async function enter(name: string | null, avatar: string | null): Promise<Account> {
  return keep(await ask<Session>("POST", "/v1/guests", { body: { name, avatar }, once: true })).account;
}

export const me = (): Promise<Me> => asAccount<Me>("GET", "/v1/me");

export async function rename(name: string, avatar: string): Promise<Account> {
  const changed = await asAccount<MeChanged>("PATCH", "/v1/me", { body: { name, avatar } });
  const before = read();
  if (before === null) return changed.account;
  keep({ ...changed, refresh_token: changed.refresh_token ?? before.refresh_token });
  return changed.account;
}

/** A request as this account; once more with a new token when the present one is refused. */
export async function asAccount<Answer>(method: string, path: string, asked: Asked = {}): Promise<Answer> {
  const token = await accessToken();
  try {
    return await ask<Answer>(method, path, { ...asked, token });
  } catch (error) {
    if (!(error instanceof Failed) || error.status !== UNAUTHORIZED) throw error;
    return ask<Answer>(method, path, { ...asked, token: await renewed(token) });
  }
}

/** A token that is good for a while. Raises Failed when there is no account, or it is refused. */
export async function accessToken(): Promise<string> {
  const kept = read();
  if (kept === null) throw new Failed("token_missing", "", UNAUTHORIZED);
  return Date.now() < kept.renew_at ? kept.access_token : renewed(kept.access_token);
}

export const msToRenewal = (): number => Math.max(0, (read()?.renew_at ?? 0) - Date.now());

/** Another token than this one. A refresh token works once, so the tabs of a browser take turns. */
export async function renewed(refused: string): Promise<string> {
  return inTurn(async () => {
    const kept = read();
    if (kept === null) throw new Failed("token_missing", "", UNAUTHORIZED);
    if (kept.access_token !== refused) return kept.access_token;
    try {
      const body = { refresh_token: kept.refresh_token };
      return keep(await ask<Session>("POST", "/v1/sessions", { body })).access_token;
    } catch (error) {
      if (error instanceof Failed && SESSION_LOST.has(error.code)) localStorage.removeItem(PLACE);
      throw error;
    }
  });
}

let last: Promise<unknown> = Promise.resolve();

function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
  // Locks are there on secure pages alone; elsewhere the tabs are kept apart by the minute in which a repeat is allowed.
  if ("locks" in navigator && navigator.locks) return navigator.locks.request(PLACE, work) as Promise<Value>;
  const next = last.then(work, work);
  last = next.catch(() => undefined);
  return next;
}

function keep(session: Session): Kept {
  const lifeMs = session.access_seconds * 1000;
  const { account, access_token, refresh_token } = session;
  const share = RENEWAL_SHARE_MIN + (1 - RENEWAL_SHARE_MIN) * Math.random();
  const renew_at = Date.now() + (lifeMs - Math.min(MARGIN_MS_MAX, lifeMs * MARGIN_SHARE)) * share;
  const kept: Kept = { account, access_token, refresh_token, renew_at };
  localStorage.setItem(PLACE, JSON.stringify(kept));
  return kept;
}

function read(): Kept | null {
  try {
    return JSON.parse(localStorage.getItem(PLACE) ?? "null") as Kept | null;
  } catch {
    return null;
  }
}
