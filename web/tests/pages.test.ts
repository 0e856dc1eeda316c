import { describe, expect, it } from "vitest";
import { joiningOf } from "../src/lobby/joining";
import { mondayOf, sundayOf, weekAfter, weekOf } from "../src/pages/weeks";

describe("what leads to a table", () => {
  it.each([
    ["904421", { by: "code", value: "904421" }],
    [" 904 421 ", { by: "code", value: "904421" }],
    ["http://192.168.1.7:8080/#/code/904421", { by: "code", value: "904421" }],
    ["https://darbar.example/join/aB-9_x", { by: "invite", value: "aB-9_x" }],
    ["https://darbar.example/#/invite/aB-9_x", { by: "invite", value: "aB-9_x" }],
    ["https://darbar.example/#/table/018f-77", { by: "table", value: "018f-77" }],
  ])("%s does", (text, joining) => {
    expect(joiningOf(text)).toEqual(joining);
  });

  it.each(["", "90442", "9044211", "hello", "https://darbar.example/", "https://darbar.example/#/rules/king_20"])("'%s' does not", (text) => {
    expect(joiningOf(text)).toBeNull();
  });
});

describe("weeks", () => {
  it.each([
    ["2026-W48", "2026-11-23", "2026-11-29"],
    ["2026-W01", "2025-12-29", "2026-01-04"],
    ["2020-W53", "2020-12-28", "2021-01-03"],
  ])("%s goes from %s to %s", (week, monday, sunday) => {
    expect(mondayOf(week).toISOString().slice(0, 10)).toBe(monday);
    expect(sundayOf(week).toISOString().slice(0, 10)).toBe(sunday);
    expect(weekOf(sundayOf(week))).toBe(week);
  });

  it("one comes after another, over the end of a year too", () => {
    expect(weekAfter("2020-W53")).toBe("2021-W01");
    expect(weekAfter("2026-W01", -1)).toBe("2025-W52");
  });
});
