// @vitest-environment happy-dom
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, expect, it, vi } from "vitest";
import { NOTHING, type State } from "../src/model/state";
import { Failed } from "../src/net/http";
import Phrases from "../src/table/Phrases.svelte";
import Voice from "../src/table/Voice.svelte";
import { TABLE } from "./table";

const PLAYER = TABLE.seats[0]!;
const PLAYED: State = { ...NOTHING, seat: 0, table: { ...TABLE, phase: "playing", started: true, round: 1, seats: TABLE.seats.map(() => PLAYER) } };

let ban: { reason: string; until: string | null } | null;
const asked: string[] = [];

function atTable(command = async (): Promise<number> => 1, known = PLAYED) {
  localStorage.setItem("darbar.session", JSON.stringify({ account: { id: "a", name: "Zara", avatar: "kite", role: "player" }, access_token: "t", refresh_token: "r", renew_at: Date.now() + 1e9 }));
  vi.stubGlobal("fetch", async (path: string, { method }: RequestInit) => {
    asked.push(`${method} ${path}`);
    return Response.json({ ban });
  });
  const tell = vi.fn();
  return { voice: render(Voice, { known, command, isMuted: () => false, tell }).component, tell };
}
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  asked.length = 0;
});

const panel = (voice: { whyNot(): string; isBanned(): boolean }): void =>
  void render(Phrases, { speak: () => undefined, record: () => undefined, whyNot: voice.whyNot(), isBanned: voice.isBanned() });

it("who may not send voice notes reads why and until when, and has no button that does nothing", async () => {
  ban = { reason: "Insults in three notes", until: "2026-12-02T18:00:00Z" };
  const { voice } = atTable();
  await waitFor(() => expect(voice.isBanned()).toBe(true));
  panel(voice);
  expect(screen.getByText(/Insults in three notes/).textContent).toMatch(/2 Dec|Dec 2/);
  expect(screen.queryByRole("button", { name: "Send voice note" })).toBeNull();
  expect(screen.getByRole("button", { name: "Hello" })).toBeTruthy();
});

it("a ban for good names its reason and no day", async () => {
  ban = { reason: "Insults", until: null };
  const { voice } = atTable();
  await waitFor(() => expect(voice.isBanned()).toBe(true));
  expect(voice.whyNot()).toContain("Insults");
  expect(voice.whyNot()).not.toMatch(/20\d\d/);
});

it("who may send one has the button, and its rights were asked for once", async () => {
  ban = null;
  const { voice } = atTable();
  await waitFor(() => expect(asked).toEqual(["GET /v1/me/voice"]));
  panel(voice);
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Send voice note" }).disabled).toBe(false);
});

it("a ban that comes in the middle of a game is read as soon as the microphone is asked for", async () => {
  ban = null;
  const { voice } = atTable(async () => {
    throw new Failed("voice_banned", "You may not send voice notes.");
  });
  await waitFor(() => expect(asked).toHaveLength(1));
  const stop = vi.fn();
  vi.stubGlobal("MediaRecorder", class {});
  vi.stubGlobal("navigator", { mediaDevices: { getUserMedia: async () => ({ getTracks: () => [{ stop }] }) } });
  ban = { reason: "Insults", until: null };
  await voice.record(false);
  expect(stop).toHaveBeenCalled();
  expect(voice.isBanned()).toBe(true);
});

it("against bots alone nobody's rights are asked for", async () => {
  ban = null;
  const bots: State = { ...PLAYED, table: { ...PLAYED.table!, seats: TABLE.seats.map((seat, number) => (number === 0 ? seat : { ...seat, kind: "bot" })) } };
  const { voice } = atTable(undefined, bots);
  expect(voice.whyNot()).toContain("Voice notes are for games with other people");
  expect(asked).toEqual([]);
});
