import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Replay, ReplayEvent } from "../src/contracts";
import { lookOf } from "../src/model/look";
import { roundsOf } from "../src/replay/rounds";

function stored(): Replay {
  const [head, ...events] = readFileSync("../libs/client/tests/golden/court_piece_hidden.ndjson", "utf8").trim().split("\n");
  return { ...(JSON.parse(head!) as Replay), events: events.map((line) => JSON.parse(line) as ReplayEvent) };
}

describe("a stored game, step by step", () => {
  const rounds = roundsOf(stored());

  it("has every round, from its deal to its result", () => {
    expect(rounds.length).toBeGreaterThan(5);
    expect(rounds.map(({ game, round }) => `${game}.${round}`)).toEqual([...new Set(rounds.map(({ game, round }) => `${game}.${round}`))]);
    for (const { steps } of rounds) {
      expect(steps[0]!.state.told[0]!.kind).toBe("round_dealt");
      expect(steps.at(-1)!.state.board!.ended).not.toBeNull();
    }
  });

  it("shows all cards, and each where it is", () => {
    for (const { steps } of rounds) {
      const trumped = steps.filter(({ state }) => state.board!.phase === "playing" || state.board!.ended);
      for (const { state, hands } of trumped) {
        const board = state.board!;
        const played = [...board.tricks.flatMap(({ cards }) => cards), ...board.trick].map(({ card }) => card);
        const faceDown = board.indicator ? [board.indicator] : [];
        expect(new Set([...hands.flat(), ...played, ...faceDown]).size).toBe(52);
        expect(board.hand_counts).toEqual(hands.map((hand) => hand.length));
      }
      expect(trumped.length).toBeGreaterThan(10);
    }
  });

  it("ends with the totals that the table told", () => {
    const ended = stored().events.filter(({ kind }) => kind === "round_ended").map(({ body }) => JSON.parse(body!).event.totals);
    expect(rounds.map(({ steps }) => steps.at(-1)!.state.board!.totals)).toEqual(ended);
  });

  it("is looked at like a table", () => {
    const look = lookOf(rounds[0]!.steps.at(-2)!.state, { sorting: "suit", direction: "anticlockwise" })!;
    expect(look.seats.map(({ name }) => name)).toEqual(["Amir", "Cyra", "Bina", "Dara"]);
    expect(look.panel).toBeNull();
  });
});
