import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Replay, ReplayEvent } from "../src/contracts";
import { cardOf, Chance, numberOf, type Strings } from "../src/replay/chance";
import { proofOf } from "../src/replay/proof";

const NOTHING_NOTED = { promises: {}, strings: {} };

interface Vector {
  kind: string;
  server_seed: string;
  table_id: string;
  game: number;
  round: number;
  strings: Strings;
  purpose: string;
  attempt: number;
  order: string;
}

const page = readFileSync("../docs/fairness.md", "utf8");
const vectors = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)![1]!) as Vector[];

/** A stored game of Court Piece: its head, then an event a line. */
function stored(): Replay {
  const [head, ...events] = readFileSync("../libs/client/tests/golden/court_piece_hidden.ndjson", "utf8").trim().split("\n");
  return { ...(JSON.parse(head!) as Replay), events: events.map((line) => JSON.parse(line) as ReplayEvent) };
}

const changed = (replay: Replay, kind: string, change: (body: string) => string): Replay => {
  const place = replay.events.findIndex((event) => event.kind === kind);
  return { ...replay, events: replay.events.map((event, number) => (number === place ? { ...event, body: change(event.body!) } : event)) };
};

describe("shuffles", () => {
  const orders = vectors.filter(({ kind }) => kind === "order");

  it("come out as the page about fair deals has them", async () => {
    expect(orders.length).toBeGreaterThan(3);
    for (const { server_seed, table_id, game, round, strings, purpose, attempt, order } of orders) {
      const made = await new Chance(server_seed, table_id, game, round, strings).order(purpose, attempt, 52);
      expect(made.map(cardOf).join(" ")).toBe(order);
    }
  });

  it("cards have the numbers of their places in the deck", () => {
    expect(["2C", "AC", "2D", "AS", "2C#2", "AS#2"].map(numberOf)).toEqual([0, 12, 13, 51, 52, 103]);
    expect([0, 12, 13, 51, 52, 103].map(cardOf)).toEqual(["2C", "AC", "2D", "AS", "2C#2", "AS#2"]);
  });
});

describe("a stored game", () => {
  it("is proven from its first to its last round", async () => {
    const proof = await proofOf(stored(), NOTHING_NOTED);
    expect(proof.brokenAt).toBeNull();
    expect(proof.rounds.length).toBeGreaterThan(5);
    expect(proof.rounds.flatMap(({ faults }) => faults)).toEqual([]);
  });

  it("another seed than the promised one is found", async () => {
    const proof = await proofOf(changed(stored(), "seeds_shown", (body) => body.replace(/"server_seed":".{4}/, '"server_seed":"0000')), NOTHING_NOTED);
    expect(proof.rounds[0]!.faults).toContain("promise");
    expect(proof.rounds[0]!.faults).toContain("cards");
    expect(proof.brokenAt).not.toBeNull();
  });

  it("another string, another promise than the noted one and a string of one's own that is missing are found", async () => {
    const replay = changed(stored(), "seeds_shown", (body) => body.replace(/"0":"..../, '"0":"0000'));
    const proof = await proofOf(replay, { promises: { "1.1": "00" }, strings: { "1.1": "mine" } });
    expect(proof.rounds[0]!.faults).toEqual(expect.arrayContaining(["strings", "noted", "own_string", "cards"]));
    expect(proof.rounds[1]!.faults).toEqual([]);
  });

  it("cards that were exchanged are found", async () => {
    const replay = changed(stored(), "round_ended", (body) => body.replace(/"hands":\[\["(..)","(..)"/, '"hands":[["$2","$1"'));
    expect((await proofOf(replay, NOTHING_NOTED)).rounds[0]!.faults).toEqual(["cards"]);
  });

  it("an event that was left out is found", async () => {
    const replay = stored();
    const proof = await proofOf({ ...replay, events: replay.events.toSpliced(40, 1) }, NOTHING_NOTED);
    expect(proof.brokenAt).toBe(42);
  });
});
