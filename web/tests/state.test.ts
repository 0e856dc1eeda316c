import { describe, expect, it } from "vitest";
import type { EventFrame, Snapshot } from "../src/contracts";
import { afterFrame, isCaughtUp, Lost, NOTHING, opening, type State } from "../src/model/state";
import { FREE } from "../src/model/table";
import { convertedSince } from "../src/model/told";
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

describe("announcements", () => {
  it("are shown until they are taken back, to who comes later too", () => {
    const announced = after(here, { type: "announced", text: "Maintenance at 22:00" });
    expect(announced.announcement).toBe("Maintenance at 22:00");
    expect(after(announced, event(5, "host_changed", { seat: 2 })).announcement).toBe("Maintenance at 22:00");
    expect(after(announced, { type: "announced", text: null }).announcement).toBeNull();
    const welcome = { type: "welcome", protocol: 1, table_id: "t", seat: 0, version: 4 } as const;
    expect(after(here, { ...welcome, announcement: "Back soon" }).announcement).toBe("Back soon");
    expect(after(announced, welcome).announcement).toBeNull();
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

  it("the bot that plays a seat goes when its player comes back", () => {
    const away = after(here, event(5, "player_went_offline", { seat: 0 }), event(6, "bot_took_over", { seat: 0 }));
    expect(away.table!.seats[0]).toMatchObject({ away: true, bot_plays: true });
    expect(after(away, event(7, "player_came_back", { seat: 0 })).table!.seats[0]).toMatchObject({ away: false, bot_plays: false });
  });

  it("a vote runs until everybody has agreed, or somebody has not", () => {
    const asked = after(
      here,
      event(5, "vote_asked", { seat: 1, vote: 5, about: "bot", about_seat: 3, waits_for: [0, 2] }),
      event(6, "vote_answered", { seat: 2, vote: 5, agree: true }),
    );
    expect(asked.table!.vote).toMatchObject({ number: 5, asked_by: 1, about_seat: 3, waits_for: [0], agreed: [2] });
    const left = after(asked, event(7, "leave_asked", { seat: 0 }));
    expect(left.table!.vote!.waits_for).toEqual([]);
    expect(after(left, event(8, "vote_ended", { vote: 5, about: "bot", about_seat: 3, agreed: true, reason: "agreed" })).table!.vote).toBeNull();
  });

  it("who has changed seats is found in the other one", () => {
    const swapped = after(here, event(5, "bot_seated", { seat: 2, name: "Zara" }), event(6, "seats_swapped", { seats: [0, 2] }));
    expect(swapped.table!.seats.map((seat) => seat.name)).toEqual(["Zara", null, "Amina", null]);
    expect(swapped.seat).toBe(2);
  });

  it("other options can bring more seats, and a seat that is freed in a game waits for a player", () => {
    const more = after(here, event(5, "options_changed", { terms: { ...TABLE.terms, seats: 6 } }));
    expect(more.table!.seats).toHaveLength(6);
    const freed = after(more, event(6, "game_started", { game: 1 }), event(7, "seat_freed", { seat: 0 }));
    expect(freed.table!.seats[0]!.expects).toBe("player");
    expect(after(freed, event(8, "game_ended", { game: 1 })).table!.seats[0]).toEqual(FREE);
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

it("a King who became a Rebel is told of once, also where other events come in the same moment", () => {
  const told = (version: number, shown: Record<string, unknown>) => ({ version, kind: "card_played", shown });
  const state = { ...NOTHING, version: 7, told: [told(5, { card: "AH", converted: { card: "AH", ordinal: 1 } }), told(6, { card: "2C" }), told(7, { card: "3C" })] };
  expect(convertedSince(4, state)).toBe("AH");
  expect(convertedSince(5, state)).toBeNull();
});
