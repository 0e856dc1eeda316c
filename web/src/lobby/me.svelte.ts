/** Who plays in this browser: the account it has, or what a guest will be called. Open this about names. */

import type { Catalogue } from "../contracts";
import * as session from "../net/session";
import { say, sayOr } from "../words/words";

export const NAME_MAX = 20;

interface Me {
  name: string;
  avatar: string;
}

export const me: Me = $state({ name: "", avatar: "" });
let suggested = "";

/** The account's name and picture; of a first visit a suggestion. */
export function meet(catalogue: Catalogue): void {
  const known = session.known();
  if (known !== null) Object.assign(me, { name: known.name, avatar: known.avatar });
  else if (me.name === "" && me.avatar === "") pick(anyOf(catalogue.avatars));
}

/** A suggested name goes with the picture as long as nobody typed another. */
export function pick(avatar: string): void {
  me.avatar = avatar;
  if (session.known() !== null || me.name !== suggested) return;
  suggested = `${anyOf(say("home.names").split(" "))} ${avatarWords(avatar)}`.trim().slice(0, NAME_MAX);
  me.name = suggested;
}

export const avatarWords = (avatar: string): string => sayOr(`avatar.${avatar}`, `${avatar[0]?.toUpperCase() ?? ""}${avatar.slice(1)}`);

/** Whoever plays has an account: the one of this browser, or a new guest. */
export async function enter(): Promise<void> {
  const account = session.known();
  const name = me.name.trim();
  if (account === null) await session.enter(name || null, me.avatar || null);
  else if (name !== "" && (account.name !== name || account.avatar !== me.avatar)) await session.rename(name, me.avatar);
}

const anyOf = (given: readonly string[]): string => given[Math.floor(Math.random() * given.length)] ?? "";
