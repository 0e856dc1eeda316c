// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Catalogue } from "../src/contracts";
import Blocked from "../src/pages/Blocked.svelte";
import Leaders from "../src/pages/Leaders.svelte";
import Profile from "../src/pages/Profile.svelte";
import Wallet from "../src/pages/Wallet.svelte";

const catalogue: Catalogue = {
  games: [{ name: "court_piece", title: "Court Piece", rules_version: 1, direction: "anticlockwise", stake_unit: "round", seats: [4], options: {} }],
  avatars: ["kite"],
  terms: {},
};
const PLAYER = { handle: "h1", name: "Omar", avatar: "tiger" };
const entry = (number: number, reason: string, coins: number, purpose: string | null = null) => ({ number, reason, coins, unit: null, table_id: null, at: "2026-11-29T20:15:00Z", purpose });
const game = (number: number, outcome: string, place: number | null) => ({ table_id: "t", game: "court_piece", game_number: number, at: "2026-11-29T20:15:00Z", outcome, place, points: 10, replay: "/x" });

/** Answers by path, and what was asked. */
let answers: Record<string, unknown>;
let asked: string[];

beforeEach(() => {
  asked = [];
  answers = {};
  localStorage.setItem("darbar.session", JSON.stringify({ account: { id: "a", name: "Zara", avatar: "kite", role: "player" }, access_token: "t", refresh_token: "r", renew_at: Date.now() + 1e9 }));
  vi.stubGlobal("fetch", async (path: string, { method }: RequestInit) => {
    asked.push(`${method} ${path}`);
    const answer = answers[path];
    return answer === undefined ? Response.json({ code: "not_found", message: "There is nothing." }, { status: 404 }) : Response.json(answer);
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const props = (id = "") => ({ id, catalogue, open: () => undefined });

it("the wallet tells every coin, why it moved, and one reason alone when that is asked", async () => {
  answers["/v1/me/wallet?limit=1"] = { account_id: "a", balance_coins: 4950, reserved_coins: 25, in_pots_coins: 25, entries: [] };
  answers["/v1/me/wallet/entries"] = { entries: [entry(3, "share", 100, "round_ended"), entry(2, "bet", -25)], next_before: 2 };
  answers["/v1/me/wallet/entries?before=2"] = { entries: [entry(1, "new_account", 5000)], next_before: null };
  answers["/v1/me/wallet/entries?reason=bet"] = { entries: [entry(2, "bet", -25)], next_before: null };
  render(Wallet, props());
  await screen.findByText("4,950");
  expect(screen.getByText("50 coins more lie at your table.")).toBeTruthy();
  expect((await screen.findByText("+100")).closest("li")?.textContent).toContain("the round ended");

  await fireEvent.click(screen.getByRole("button", { name: "More" }));
  await screen.findByText("+5,000");
  expect(screen.queryByRole("button", { name: "More" })).toBeNull();

  await fireEvent.change(screen.getByRole("combobox"), { target: { value: "bet" } });
  await waitFor(() => expect(screen.queryByText("+100")).toBeNull());
  expect(screen.getByText("-25")).toBeTruthy();
});

it("a top-up that is refused says why", async () => {
  answers["/v1/me/wallet?limit=1"] = { account_id: "a", balance_coins: 4950, reserved_coins: 0, in_pots_coins: 0, entries: [] };
  answers["/v1/me/wallet/entries"] = { entries: [], next_before: null };
  render(Wallet, props());
  await fireEvent.click(await screen.findByRole("button", { name: "Fill up" }));
  expect((await screen.findByRole("alert")).textContent).toBe("There is nothing.");
});

it("a profile has a line for each game and the last games, page after page", async () => {
  const last = { games: [game(2, "played", 1), game(1, "quit", null)], next: "x" };
  answers["/v1/me/profile"] = { ...PLAYER, statistics: [{ game: "court_piece", played: 12, won: 7, quits: 1, points: 90 }], last };
  answers["/v1/me/games?after=x"] = { games: [game(7, "played", 3)], next: null };
  render(Profile, props());
  expect((await screen.findByText("Place 1")).closest("li")?.textContent).toContain("10 points");
  expect(screen.getAllByText("Left early")).toHaveLength(2);
  expect([...screen.getAllByRole("cell")].map((cell) => cell.textContent)).toEqual(["12", "7", "1", "90"]);
  await fireEvent.click(screen.getByRole("button", { name: "More" }));
  await screen.findByText("Place 3");
});

it("another player can be blocked from the profile, and back", async () => {
  answers["/v1/players/h1"] = { ...PLAYER, statistics: [], last: { games: [], next: null } };
  answers["/v1/me/profile"] = { ...PLAYER, handle: "me", statistics: [], last: { games: [], next: null } };
  answers["/v1/me/blocks"] = { blocked: [] };
  render(Profile, props("h1"));
  const block = await screen.findByRole("button", { name: "Block" });
  answers["/v1/me/blocks"] = { blocked: [PLAYER] };
  await fireEvent.click(block);
  await fireEvent.click(await screen.findByRole("button", { name: "Unblock" }));
  expect(asked.slice(-2)).toEqual(["POST /v1/me/blocks", "DELETE /v1/me/blocks/h1"]);
});

it("the name of another player can be reported from the profile, once", async () => {
  answers["/v1/players/h1"] = { ...PLAYER, statistics: [], last: { games: [], next: null } };
  answers["/v1/me/profile"] = { ...PLAYER, handle: "me", statistics: [], last: { games: [], next: null } };
  answers["/v1/me/blocks"] = { blocked: [] };
  render(Profile, props("h1"));
  await fireEvent.click(await screen.findByRole("button", { name: "Report the name" }));
  expect((await screen.findByRole("alert")).textContent).toBe("There is nothing.");
  answers["/v1/players/h1/name-reports"] = {};
  await fireEvent.click(screen.getByRole("button", { name: "Report the name" }));
  await screen.findByText("Thank you. Somebody will look at the name Omar.");
  expect(screen.queryByRole("button", { name: "Report the name" })).toBeNull();
  expect(asked.at(-1)).toBe("POST /v1/players/h1/name-reports");
});

it("nobody is offered to report the own name", async () => {
  answers["/v1/players/me"] = answers["/v1/me/profile"] = { ...PLAYER, handle: "me", statistics: [], last: { games: [], next: null } };
  render(Profile, props("me"));
  await screen.findByRole("heading", { name: "Omar" });
  expect(screen.queryByRole("button", { name: "Report the name" })).toBeNull();
});

it("who was blocked is listed and let go", async () => {
  answers["/v1/me/blocks"] = { blocked: [PLAYER] };
  answers["/v1/me/blocks/h1"] = { blocked: [] };
  render(Blocked, props());
  await fireEvent.click(await screen.findByRole("button", { name: "Unblock" }));
  await screen.findByText("You have blocked nobody.");
});

it("a leaderboard goes back week by week, and not into weeks to come", async () => {
  vi.useFakeTimers({ now: new Date("2026-11-30T12:00:00Z"), toFake: ["Date"] });
  answers["/v1/leaderboards/court_piece?week=2026-W49"] = { game: "court_piece", week: "2026-W49", leaders: [], next: null };
  answers["/v1/leaderboards/court_piece?week=2026-W48"] = { game: "court_piece", week: "2026-W48", leaders: [{ ...PLAYER, place: 1, played: 9, won: 8, points: 70 }], next: null };
  render(Leaders, props());
  await screen.findByText("Nobody has won this game this week yet.");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Week after" }).disabled).toBe(true);
  await fireEvent.click(screen.getByRole("button", { name: "Week before" }));
  expect((await screen.findByRole("link", { name: "Omar" })).getAttribute("href")).toBe("#/player/h1");
  vi.useRealTimers();
});

it("when nobody answers, it says so and can be asked again", async () => {
  render(Blocked, props());
  await screen.findByRole("alert");
  answers["/v1/me/blocks"] = { blocked: [] };
  await fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("You have blocked nobody.");
});
