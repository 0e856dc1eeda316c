import { expect, it } from "vitest";
import type { GameOffered } from "../src/contracts";
import { fieldsOf, unusual } from "../src/model/options";

const GAME: GameOffered = {
  name: "g",
  title: "G",
  rules_version: 1,
  direction: "clockwise",
  stake_unit: "round",
  seats: [4],
  options: {
    properties: {
      trump: { enum: ["hidden", "open"], default: "hidden", description: "How." },
      strict: { type: "boolean", default: false },
      points: { type: "integer", default: 10, minimum: 10, maximum: 100 },
      rounds: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
      card: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    },
  },
};

it("each option becomes a field of its kind", () => {
  const fields = fieldsOf(GAME);
  expect(fields.map(({ name, kind, usual }) => [name, kind, usual])).toEqual([
    ["trump", "choice", "hidden"], ["strict", "switch", false], ["points", "number", 10], ["rounds", "number", null], ["card", "text", null],
  ]);
  expect(fields[2]).toMatchObject({ min: 10, max: 100 });
});

it("only what differs from the usual is said, and an empty field leaves it open", () => {
  const chosen = { trump: "open", strict: false, points: 20, rounds: null, card: "" };
  expect(unusual(fieldsOf(GAME), chosen)).toEqual({ trump: "open", points: 20 });
});
