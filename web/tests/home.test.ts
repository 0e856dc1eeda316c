// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";
import type { Catalogue } from "../src/contracts";
import Home from "../src/lobby/Home.svelte";

const CATALOGUE: Catalogue = {
  games: [{ name: "court_piece", title: "Court Piece", rules_version: 1, direction: "anticlockwise", stake_unit: "round", seats: [4], options: {} }],
  avatars: ["kite", "sun"],
  terms: { bet_coins_min: 25, bet_coins_max: 1000, turn_seconds_min: 5, turn_seconds_max: 30 },
};

afterEach(cleanup);

function home(code = ""): void {
  render(Home, { catalogue: CATALOGUE, account: null, seatedAt: null, code, open: () => undefined });
}

it("a first visit has a picture and a name already", () => {
  home();
  expect(screen.getByLabelText<HTMLInputElement>("Your name").value).toMatch(/^\w+ (Kite|Sun)$/);
  expect(screen.getAllByRole("radio", { checked: true })).toHaveLength(1);
});

it("a link with a code needs one more tap, and takes six figures alone for a code", () => {
  home("904421");
  const field = screen.getByLabelText<HTMLInputElement>("Join with a code");
  expect(field.value).toBe("904421");
  expect(field.pattern).toBe("[0-9]{6}");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Join" }).disabled).toBe(false);
});

it("without a whole code nobody can be joined", () => {
  home("9044");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Join" }).disabled).toBe(true);
});
