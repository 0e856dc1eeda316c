// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Catalogue } from "../src/contracts";
import Home from "../src/lobby/Home.svelte";
import { me, meet } from "../src/lobby/me.svelte";

const CATALOGUE: Catalogue = {
  games: [{ name: "court_piece", title: "Court Piece", rules_version: 1, direction: "anticlockwise", stake_unit: "round", seats: [4], options: {} }],
  avatars: ["kite", "sun"],
  terms: { bet_coins_min: 25, bet_coins_max: 1000, turn_seconds_min: 5, turn_seconds_max: 30 },
};

beforeEach(() => {
  Object.assign(me, { name: "", avatar: "" });
  meet(CATALOGUE);
});
afterEach(cleanup);

const home = (page = "", id = ""): void => void render(Home, { catalogue: CATALOGUE, seatedAt: null, given: { page, id }, open: () => undefined });
const button = (name: string): HTMLButtonElement => screen.getByRole<HTMLButtonElement>("button", { name });

it("a first visit has a picture and a name already, and both can be changed", async () => {
  home();
  const name = screen.getByLabelText<HTMLInputElement>("Your name");
  expect(name.value).toMatch(/^\w+ (Kite|Sun)$/);

  await fireEvent.click(button(`Your picture: ${me.avatar === "kite" ? "Kite" : "Sun"}`));
  await fireEvent.click(screen.getByRole("radio", { checked: false }));
  expect(name.value, "a suggested name goes with its picture").toMatch(me.avatar === "kite" ? /Kite$/ : /Sun$/);
});

it("a name that somebody typed stays when the picture changes", async () => {
  home();
  await fireEvent.input(screen.getByLabelText("Your name"), { target: { value: "Zara" } });
  await fireEvent.click(button(`Your picture: ${me.avatar === "kite" ? "Kite" : "Sun"}`));
  await fireEvent.click(screen.getByRole("radio", { checked: false }));
  expect(me.name).toBe("Zara");
});

it("a link with a code needs one more tap", () => {
  home("code", "904421");
  expect(screen.getByLabelText<HTMLInputElement>("Code or link").value).toBe("904421");
  expect(button("Join").disabled).toBe(false);
});

it("an invite needs one more tap, and can be declined", () => {
  home("invite", "some-token");
  expect(screen.getByText("You are invited to a table.")).toBeTruthy();
  expect(button("Join").disabled).toBe(false);
  expect(button("No").disabled).toBe(false);
});

it("without a whole code nobody can be joined, and what is no link is told", async () => {
  home("code", "9044");
  expect(button("Join").disabled).toBe(true);
  await fireEvent.input(screen.getByLabelText("Code or link"), { target: { value: "https://elsewhere.example/" } });
  expect(screen.getByText("That is no code and no link to a table.")).toBeTruthy();
});
