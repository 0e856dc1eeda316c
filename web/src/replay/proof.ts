/** Was the deck shuffled as was promised? Recomputes every deal of a log. Open this when "Fair?" says no. */

import type { Replay, ReplayEvent } from "../contracts";
import { promiseKey } from "../model/state";
import { bigEndian, bytesOf, cardOf, Chance, fromHex, keyOf, numberOf, sha256, shuffled, toHex, type Strings } from "./chance";

/** What is wrong with a round; none is left when it is proven. */
export type Fault = "promise" | "noted" | "strings" | "own_string" | "caller" | "cards" | "flags";

export interface RoundProof {
  game: number;
  round: number;
  /** So many players had a part in its chance. */
  strings: number;
  faults: Fault[];
}

export interface Proof {
  rounds: RoundProof[];
  /** The version of the first event that does not follow from those before it. */
  brokenAt: number | null;
}

/** What this client has noted itself before each deal, by game and round. */
export interface Noted {
  promises: Readonly<Record<string, string>>;
  strings: Readonly<Record<string, string>>;
}

interface SeedsShown {
  game: number;
  round: number;
  server_seed: string;
  strings: Record<string, string>;
  filtered: boolean;
  bag: number;
  bag_seed: string | null;
}

interface DealRecord {
  hands: string[][];
  caller?: number;
  tries?: { stage: number; attempt: number }[];
  trump?: string | null;
  dealer?: number;
  attempt?: number;
}

const FLAGS_IN_BAG = 7;
const FILTERED_IN_BAG = 5;
const CARDS_BEFORE_CALL = 5;
const PACKETS = [5, 4, 4];
const KAAT_PACKETS = [13];
const VERSION_BYTES = 8;
const VERSION_BYTES_KEPT = 4;
const ALIAS = /"account_id":"[0-9a-f]{64}"/;

export async function proofOf(replay: Replay, noted: Noted): Promise<Proof> {
  return { rounds: await roundsOf(replay, noted), brokenAt: await brokenAt(replay) };
}

async function roundsOf(replay: Replay, noted: Noted): Promise<RoundProof[]> {
  const rounds: RoundProof[] = [];
  const promised = new Promised();
  for (const event of replay.events) {
    if (event.kind === "seeds_shown" && event.body !== null) {
      rounds.push(await roundProof(replay, JSON.parse(event.body) as SeedsShown, promised, noted));
    } else promised.note(event);
  }
  return rounds;
}

/** What was said before each deal. */
class Promised {
  commitment = "";
  committed: Record<string, string> = {};
  deal: DealRecord | null = null;
  bags: Record<number, string> = {};
  flags: boolean[] = [];

  note({ kind, body }: ReplayEvent): void {
    if (kind === "bag_opened") this.flags = [];
    if (body === null) return;
    const shown = JSON.parse(body) as Record<string, unknown>;
    if (kind === "bag_opened") this.bags[shown.bag as number] = shown.commitment as string;
    else if (kind === "count_in_started") [this.commitment, this.committed, this.deal] = [shown.commitment as string, {}, null];
    else if (kind === "seed_committed") this.committed[String(shown.seat)] = shown.sha256 as string;
    else if (kind === "round_ended") this.deal = (shown.event as { deal: DealRecord }).deal;
  }
}

async function roundProof(replay: Replay, shown: SeedsShown, promised: Promised, noted: Noted): Promise<RoundProof> {
  const { game, round, server_seed: seed } = shown;
  const faults: Fault[] = [];
  const key = promiseKey(game, round);
  const commitment = toHex(await sha256(fromHex(seed)));
  if (commitment !== promised.commitment) faults.push("promise");
  if (noted.promises[key] !== undefined && noted.promises[key] !== commitment) faults.push("noted");
  for (const [seat, text] of Object.entries(shown.strings)) {
    if (toHex(await sha256(bytesOf(text))) !== promised.committed[seat] && !faults.includes("strings")) faults.push("strings");
  }
  const own = noted.strings[key];
  if (own !== undefined && !Object.values(shown.strings).includes(own)) faults.push("own_string");
  const strings: Strings = Object.entries(shown.strings).map(([seat, text]) => [Number(seat), text] as const);
  if (promised.deal !== null) {
    const chance = new Chance(seed, replay.table_id, game, round, strings);
    faults.push(...(await dealFaults(replay, promised.deal, chance, round)));
  }
  promised.flags.push(shown.filtered);
  if (shown.bag_seed !== null && !(await flagsHold(replay.table_id, shown, promised))) faults.push("flags");
  return { game, round, strings: strings.length, faults };
}

async function dealFaults(replay: Replay, deal: DealRecord, chance: Chance, round: number): Promise<Fault[]> {
  const isCourtPiece = deal.tries !== undefined;
  const seats = deal.hands.length;
  const first = isCourtPiece ? deal.caller : deal.dealer;
  const faults: Fault[] = [];
  if (round === 1 && first !== undefined) {
    const lot = await chance.lot(isCourtPiece ? "first_caller" : "first_dealer", seats);
    if ((lot + (deal.attempt ?? 0)) % seats !== first) faults.push("caller");
  }
  const due = isCourtPiece ? await courtPieceHands(replay, deal, chance) : await equalHands(deal, chance);
  if (JSON.stringify(due) !== JSON.stringify(deal.hands)) faults.push("cards");
  return faults;
}

/** An equal part of the shuffled deck for each seat, seat 0 first. Which cards are in the deck, the hands show. */
async function equalHands(deal: DealRecord, chance: Chance): Promise<string[][]> {
  const deck = deal.hands.flat().map(numberOf).sort((one, other) => one - other);
  const order = await chance.order("deal", deal.attempt ?? 0, deck.length);
  const held = deck.length / deal.hands.length;
  return deal.hands.map((_, seat) => order.slice(seat * held, (seat + 1) * held).map((place) => cardOf(deck[place]!)));
}

/** The shuffle that stood; with a called trump the caller keeps the first five cards of an earlier one. */
async function courtPieceHands(replay: Replay, deal: DealRecord, chance: Chance): Promise<string[][]> {
  const deckOf = async (attempt: number): Promise<string[]> => (await chance.order("deal", attempt, 52)).map(cardOf);
  const first = deal.tries!.findLast(({ stage }) => stage === 1)!.attempt;
  const last = deal.tries!.at(-1)!.attempt;
  let deck = await deckOf(first);
  if (last !== first) {
    const five = deck.slice(0, CARDS_BEFORE_CALL);
    deck = [...five, ...(await deckOf(last)).filter((card) => !five.includes(card))];
  }
  const hands: string[][] = [[], [], [], []];
  for (const packet of replay.terms.options.trump === "kaat" ? KAAT_PACKETS : PACKETS) {
    for (let step = 0; step < hands.length; step += 1) hands[(deal.caller! + step) % hands.length]!.push(...deck.splice(0, packet));
  }
  return hands;
}

async function flagsHold(tableId: string, { bag, bag_seed: seed }: SeedsShown, { bags, flags }: Promised): Promise<boolean> {
  if (toHex(await sha256(fromHex(seed!))) !== bags[bag]) return false;
  const order = await shuffled(await keyOf(seed!, [tableId, "bag", bag]), FLAGS_IN_BAG);
  return order.every((place, number) => flags[number] === place < FILTERED_IN_BAG);
}

/** Each event's link covers the one before it: what was changed, moved or left out is found. */
async function brokenAt(replay: Replay): Promise<number | null> {
  const table = fromHex(replay.table_id.replaceAll("-", ""));
  let chain = await sha256(bytesOf("darbar"), table);
  for (const [place, event] of replay.events.entries()) {
    if (event.body !== null) {
      const mark = bytesOf(ALIAS.test(event.body) ? "shared" : "");
      const version = bigEndian(BigInt(place + 1), VERSION_BYTES).slice(VERSION_BYTES - VERSION_BYTES_KEPT);
      const at = bigEndian(microseconds(event.at), VERSION_BYTES);
      const made = await sha256(mark, chain, table, version, bytesOf(event.kind), at, bytesOf(event.body));
      if (event.version !== place + 1 || toHex(made) !== event.chain) return event.version;
    }
    chain = fromHex(event.chain);
  }
  return null;
}

/** Since 1970; a Date knows milliseconds only. */
function microseconds(at: string): bigint {
  const [seconds, fraction = ""] = at.replace("Z", "").split(".");
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, "0").slice(0, 6));
}
