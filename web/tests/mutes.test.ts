// @vitest-environment happy-dom
import { beforeEach, expect, it } from "vitest";
import { keepMuted, mutedAt } from "../src/ui/mutes";

beforeEach(() => localStorage.clear());

it("whom one has muted at a table is known there after a reload, and nowhere else", () => {
  expect(mutedAt("here")).toEqual([]);
  keepMuted("here", ["Zara", "Omar"]);
  expect(mutedAt("here")).toEqual(["Zara", "Omar"]);
  expect(mutedAt("elsewhere")).toEqual([]);
});

it("somebody else's text under the same name mutes nobody", () => {
  localStorage.setItem("darbar.muted", "{");
  expect(mutedAt("here")).toEqual([]);
});
