/** From seeds to shuffles, as docs/fairness.md says byte for byte. Open this when a shuffle comes out otherwise. */

import { RANKS } from "../cards/card";

/** Digests are there on secure pages alone. */
export const canProve = (): boolean => Boolean(globalThis.crypto?.subtle);

export type Strings = readonly (readonly [seat: number, string: string])[];

const SUIT_ORDER = "CDHS";
const CARDS_IN_SUIT = RANKS.length;
const CARDS_IN_DECK = 52;
const WORD_BYTES = 8;
const BLOCK_BYTES = 32;
const SPAN = 1n << 64n;

const encoder = new TextEncoder();

export const bytesOf = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export const toHex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export async function sha256(...parts: Uint8Array<ArrayBuffer>[]): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", whole));
}

/** The number in so many bytes, the highest first. */
export function bigEndian(number: bigint, bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  new DataView(whole.buffer).setBigUint64(bytes - WORD_BYTES, number);
  return whole;
}

/** The seeds of one round, and all chance that they come to. */
export class Chance {
  constructor(
    private readonly serverSeed: string,
    private readonly tableId: string,
    private readonly game: number,
    private readonly round: number,
    private readonly strings: Strings,
  ) {}

  /** A permutation of 0 to count - 1. */
  async order(purpose: string, attempt: number, count: number): Promise<number[]> {
    return shuffled(await this.#key(purpose, attempt), count);
  }

  /** One number below `count`. */
  async lot(purpose: string, count: number): Promise<number> {
    return new Words(await this.#key(purpose, 0)).below(count);
  }

  #key(purpose: string, attempt: number): Promise<Uint8Array<ArrayBuffer>> {
    const strings = [...this.strings].sort(([one], [other]) => one - other);
    return keyOf(this.serverSeed, [this.tableId, this.game, this.round, strings, purpose, attempt]);
  }
}

export async function keyOf(seed: string, message: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey("raw", fromHex(seed), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytesOf(JSON.stringify(message))));
}

export async function shuffled(key: Uint8Array<ArrayBuffer>, count: number): Promise<number[]> {
  const words = new Words(key);
  const places = Array.from({ length: count }, (_, place) => place);
  for (let last = count - 1; last > 0; last -= 1) {
    const chosen = await words.below(last + 1);
    [places[last], places[chosen]] = [places[chosen]!, places[last]!];
  }
  return places;
}

class Words {
  #block = new DataView(new ArrayBuffer(0));
  #at = 0;
  #blocks = 0;

  constructor(private readonly key: Uint8Array<ArrayBuffer>) {}

  /** Words of the last, incomplete span are thrown away, so that no number is likelier. */
  async below(limit: number): Promise<number> {
    const ceiling = SPAN - (SPAN % BigInt(limit));
    for (;;) {
      const word = await this.#next();
      if (word < ceiling) return Number(word % BigInt(limit));
    }
  }

  async #next(): Promise<bigint> {
    if (this.#at >= this.#block.byteLength) {
      this.#block = new DataView((await sha256(this.key, bigEndian(BigInt(this.#blocks++), WORD_BYTES))).buffer, 0, BLOCK_BYTES);
      this.#at = 0;
    }
    const word = this.#block.getBigUint64(this.#at);
    this.#at += WORD_BYTES;
    return word;
  }
}

/** A card's number: suit by suit, each from the two up; of a second deck behind all of the first. */
export function numberOf(card: string): number {
  const copy = card.endsWith("#2") ? CARDS_IN_DECK : 0;
  return copy + SUIT_ORDER.indexOf(card[1]!) * CARDS_IN_SUIT + RANKS.indexOf(card[0] as (typeof RANKS)[number]);
}

export const cardOf = (number: number): string => {
  const face = number % CARDS_IN_DECK;
  const copy = number >= CARDS_IN_DECK ? "#2" : "";
  return `${RANKS[face % CARDS_IN_SUIT]}${SUIT_ORDER[Math.floor(face / CARDS_IN_SUIT)]}${copy}`;
};
