import { expect, it } from "vitest";
import { noteRound, whyNoNote } from "../src/model/notes";
import { NOTHING, type State } from "../src/model/state";
import { TABLE } from "./table";

const PLAYER = TABLE.seats[0]!;
const BOT = { ...PLAYER, kind: "bot" as const, name: "Wazir", avatar: null };
const PLAYED: State = { ...NOTHING, seat: 0, table: { ...TABLE, phase: "playing", started: true, round: 2, seats: [PLAYER, BOT, { ...PLAYER, name: "Zara" }, BOT] } };

it("a note can be sent where two people play a game", () => {
  expect(whyNoNote(PLAYED, "")).toBeNull();
});

it("none can be sent before the first deal, to bots alone, or without a table", () => {
  expect(whyNoNote({ ...PLAYED, table: { ...PLAYED.table!, started: false } }, "")).toBe("alone");
  expect(whyNoNote({ ...PLAYED, table: { ...PLAYED.table!, seats: [PLAYER, BOT, BOT, BOT] } }, "")).toBe("alone");
  expect(whyNoNote(NOTHING, "")).toBe("alone");
});

it("one records at a time", () => {
  expect(whyNoNote({ ...PLAYED, microphone: 2 }, "")).toBe("taken");
  expect(whyNoNote({ ...PLAYED, microphone: 0 }, "")).toBeNull();
});

it("there is one note a round", () => {
  const used = noteRound(PLAYED);
  expect(whyNoNote(PLAYED, used)).toBe("used");
  expect(whyNoNote({ ...PLAYED, table: { ...PLAYED.table!, round: 3 } }, used)).toBeNull();
  expect(whyNoNote({ ...PLAYED, table: { ...PLAYED.table!, game_number: 2 } }, used)).toBeNull();
});
