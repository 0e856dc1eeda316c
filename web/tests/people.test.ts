import { describe, expect, it } from "vitest";
import { deedsFor, leavingCost } from "../src/model/people";
import { soundsOf } from "../src/model/sounding";
import { afterFrame, NOTHING, type State } from "../src/model/state";
import { TABLE } from "./table";

const NOBODY: ReadonlySet<number> = new Set();
const player = (name: string) => ({ ...TABLE.seats[0]!, name });
const bot = { ...TABLE.seats[1]!, kind: "bot", name: "Zara", expects: null };
const state = (changes: Partial<State["table"]> = {}, seat: number | null = 0): State => ({
  ...NOTHING,
  seat,
  table: { ...TABLE, seats: [player("Amina"), player("Omar"), bot, { ...TABLE.seats[3]!, expects: "player" }], ...changes } as State["table"],
});

describe("what may be done about a seat", () => {
  it("a bot is taken out between rounds, and not while cards are played", () => {
    expect(deedsFor(state(), 2, NOBODY)).toEqual(["bot_goes"]);
    expect(deedsFor(state({ phase: "playing" }), 2, NOBODY)).toEqual([]);
  });

  it("the host sends a player away and asks for another partner before a game, and nobody else does", () => {
    expect(deedsFor(state(), 1, NOBODY)).toEqual(["partner", "send_away", "mute", "block", "report_name"]);
    expect(deedsFor(state({ host: 2 }), 1, NOBODY)).toEqual(["mute", "block", "report_name"]);
    expect(deedsFor(state({ started: true }), 1, NOBODY)).toEqual(["mute", "block", "report_name"]);
  });

  it("who is muted can be heard again", () => {
    expect(deedsFor(state({ phase: "playing" }), 1, new Set([1]))).toEqual(["hear", "block", "report_name"]);
  });

  it("a bot is asked for where only a vote brings one, unless a vote runs", () => {
    expect(deedsFor(state(), 3, NOBODY)).toEqual(["bot_comes"]);
    const vote = { number: 5, about: "bot" as const, about_seat: 3, asked_by: 1, waits_for: [0], agreed: [] };
    expect(deedsFor(state({ vote }), 3, NOBODY)).toEqual([]);
  });

  it("nothing about oneself, and nothing for whoever looks on", () => {
    expect(deedsFor(state(), 0, NOBODY)).toEqual([]);
    expect([1, 2, 3].flatMap((seat) => deedsFor(state({}, null), seat, NOBODY))).toEqual([]);
  });
});

describe("what leaving costs", () => {
  const full = [player("Amina"), player("Omar"), bot, bot];

  it.each([
    ["before a game", { seats: full }, "round", "nothing"],
    ["in a round", { seats: full, phase: "playing", started: true }, "round", "round_with_people"],
    ["in a round against bots", { seats: [player("Amina"), bot, bot, bot], phase: "playing", started: true }, "round", "round"],
    ["between rounds that are paid one by one", { seats: full, phase: "counting_in", started: true }, "round", "nothing"],
    ["between rounds of a game that is paid as a whole", { seats: full, phase: "counting_in", started: true }, "game", "game_with_people"],
    ["while such a game waits for somebody else", { started: true }, "game", "nothing"],
  ] as const)("%s", (_, changes, unit, cost) => {
    expect(leavingCost(state(changes as Partial<State["table"]>), unit)).toBe(cost);
  });
});

describe("what is said and heard", () => {
  it("a phrase is kept with its number, and has no version", () => {
    const said = afterFrame(state(), { type: "said", seat: 1, phrase: "hello" }, 1);
    const again = afterFrame(said, { type: "said", seat: 1, phrase: "hello" }, 1);
    expect(again.heard).toEqual([{ number: 1, seat: 1, phrase: "hello" }, { number: 2, seat: 1, phrase: "hello" }]);
    expect(again.version).toBe(said.version);
  });

  it("the pot's shares are known until the next round", () => {
    const at = { ...state(), version: 4, welcomed: 4 };
    const paid = afterFrame(at, { type: "event", version: 5, kind: "settle_asked", public: { shares: [50, 0, 50, 0], pays_again: [1] } }, 1);
    expect(paid.shared).toEqual({ shares: [50, 0, 50, 0], pays_again: [1] });
    expect(soundsOf(at, paid)).toEqual(["coin"]);
    expect(afterFrame(paid, { type: "event", version: 6, kind: "round_started", public: {} }, 1).shared).toBeNull();
  });

  it("what was missed makes no sound", () => {
    const at = { ...state(), version: 4, welcomed: 6 };
    const next = afterFrame(at, { type: "event", version: 5, kind: "card_played", public: { seat: 1, card: "AS" } }, 1);
    expect(soundsOf(at, next)).toEqual([]);
    expect(soundsOf({ ...at, welcomed: 4 }, { ...next, welcomed: 4 })).toEqual(["card"]);
  });
});
