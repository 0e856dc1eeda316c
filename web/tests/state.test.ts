import { describe, expect, it } from "vitest";
import type { EventFrame, Snapshot } from "../src/contracts";
import { afterFrame, isCaughtUp, Lost, NOTHING, opening, type State } from "../src/model/state";
import { FREE } from "../src/model/table";
import { recorded } from "./recorded";
import { TABLE } from "./table";

const snapshot = (version: number): Snapshot => ({ type: "snapshot", version, seat: 0, table: TABLE });
const event = (version: number, kind: string, shown: Record<string, unknown>, more: Partial<EventFrame> = {}): EventFrame => ({
  type: "event",
  version,
  kind,
  public: shown,
  ...more,
});
const after = (state: State, ...frames: Parameters<typeof afterFrame>[1][]): State =>
  frames.reduce((known, frame) => afterFrame(known, frame, 1000), state);
const here = after(NOTHING, { type: "welcome", protocol: 1, table_id: "t", seat: 0, version: 4 }, snapshot(4));

describe("versions", () => {
  it("a snapshot up to the welcome's version has caught up", () => {
    expect(isCaughtUp(here)).toBe(true);
    expect(isCaughtUp(opening(here))).toBe(false);
  });

  it("an event that is known already changes nothing", () => {
    expect(after(here, event(4, "host_changed", { seat: 2 }))).toBe(here);
  });

  it("a gap is noticed", () => {
    expect(() => after(here, event(6, "host_changed", { seat: 2 }))).toThrow(Lost);
  });

  it("a heartbeat of a newer version is noticed, once all is here", () => {
    expect(() => after(here, { type: "heartbeat", version: 5 })).toThrow("behind");
    expect(after(opening(here), { type: "heartbeat", version: 5 }).version).toBe(4);
  });
});

describe("around the cards", () => {
  it("seats are taken, readied, freed", () => {
    const taken = after(here, event(5, "bot_seated", { seat: 1, name: "Zara" }), event(6, "seat_ready", { seat: 0 }));
    expect(taken.table!.seats.map((seat) => [seat.kind, seat.ready])).toEqual([
      ["player", true], ["bot", false], ["free", false], ["free", false],
    ]);
    const freed = after(taken, event(7, "seat_freed", { seat: 0, reason: "left" }));
    expect(freed.seat).toBeNull();
    expect(freed.table!.seats[0]).toEqual(FREE);
  });

  it("one's own seat is known by the id of one's own command", () => {
    const left = after(here, event(5, "seat_freed", { seat: 0 }));
    const sat = { seat: 2, name: "Nur", avatar: "sun" };
    expect(after(left, event(6, "seat_taken", sat)).seat).toBeNull();
    expect(after(left, event(6, "seat_taken", sat, { id: "0123456789abcdef" })).seat).toBe(2);
  });

  it("the bot that plays a seat goes when its player acts", () => {
    const away = after(here, event(5, "player_went_offline", { seat: 0 }), event(6, "bot_took_over", { seat: 0 }));
    expect(away.table!.seats[0]).toMatchObject({ away: true, bot_plays: true });
    expect(after(away, event(7, "card_played", { seat: 0, by: "player" })).table!.seats[0]!.bot_plays).toBe(false);
    expect(after(away, event(7, "card_played", { seat: 0, by: "bot" })).table!.seats[0]!.bot_plays).toBe(true);
  });

  it("what is due is due by this client's own clock, until the next event", () => {
    const due = after(here, event(5, "host_changed", { seat: 0 }, { legal: { play: ["AS"] }, remaining_ms: 15000 }));
    expect(due).toMatchObject({ deadline: 16000, given_ms: 15000, legal: { play: ["AS"] } });
    expect(after(due, event(6, "host_changed", { seat: 0 }))).toMatchObject({ deadline: null, legal: null });
  });
});

it("a first deal asks for the view that no event brings", () => {
  const [, dealt] = recorded("court_piece");
  const playing = after(here, event(5, "game_started", { game: 1 }), event(6, dealt!.kind!, dealt!.public!));
  expect(playing.wants_snapshot).toBe(true);
  const seen = after(playing, { ...snapshot(6), game: dealt!.view as unknown as Record<string, unknown> });
  expect(seen.wants_snapshot).toBe(false);
  expect(seen.board!.hand).toHaveLength(5);
});
