// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { NOTHING, type State } from "../src/model/state";
import { keepMuted, mutedAfter, mutedAt } from "../src/ui/mutes";

it("whom one has muted at a table is known there after a reload, and nowhere else", () => {
  expect(mutedAt("here")).toEqual([]);
  keepMuted("here", ["h1", "h2"]);
  expect(mutedAt("here")).toEqual(["h1", "h2"]);
  expect(mutedAt("elsewhere")).toEqual([]);
});

it("somebody else's text under the same name mutes nobody", () => {
  localStorage.setItem("darbar.muted", "{");
  expect(mutedAt("here")).toEqual([]);
  localStorage.setItem("darbar.muted", JSON.stringify({ table_id: "here", names: ["Zara"] }));
  expect(mutedAt("here")).toEqual([]);
});

describe("a muted seat", () => {
  const before: State = { ...NOTHING, version: 4 };
  const after = (...events: [string, Record<string, unknown>][]): State => ({
    ...before,
    version: 4 + events.length,
    told: events.map(([kind, shown], place) => ({ version: 5 + place, kind, shown })),
  });
  const seats = (muted: number[], now: State): number[] => [...mutedAfter(new Set(muted), before, now)].sort();

  it("is another one after its player has changed seats", () => {
    expect(seats([1], after(["seats_swapped", { seats: [1, 2] }]))).toEqual([2]);
    expect(seats([1, 2], after(["seats_swapped", { seats: [1, 2] }]))).toEqual([1, 2]);
  });

  it("is heard again when somebody else sits there, of whatever name", () => {
    expect(seats([1, 3], after(["seat_freed", { seat: 1 }], ["seat_taken", { seat: 1, name: "Zara" }]))).toEqual([3]);
  });

  it("stays muted whatever else happens, and what was told before counts once", () => {
    const now = after(["seat_ready", { seat: 1 }], ["seats_swapped", { seats: [2, 3] }]);
    expect(seats([1], now)).toEqual([1]);
    expect([...mutedAfter(new Set([1]), { ...now, version: 6 }, { ...now, told: [{ version: 5, kind: "seat_freed", shown: { seat: 1 } }] })]).toEqual([1]);
  });
});
