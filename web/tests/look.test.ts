import { describe, expect, it } from "vitest";
import { lookOf, place, whyNot } from "../src/model/look";
import type { Board } from "../src/model/board";
import { NOTHING, type State } from "../src/model/state";
import type { Legal } from "../src/contracts";
import { say } from "../src/words/words";
import { recorded } from "./recorded";
import { TABLE } from "./table";

const WISHES = { sorting: "suit", direction: "anticlockwise" } as const;

/** Where a recorded game stood first when `wanted` was so. */
function stateWhere(game: string, wanted: (board: Board) => boolean): State {
  const board = recorded(game).flatMap(({ view }) => (view === undefined ? [] : [view])).find(wanted)!;
  const names = ["Amina", "Zara", "Omar", "Nur", "Ravi"];
  const seats = board.hand_counts.map((_, seat) => ({ ...TABLE.seats[0]!, name: names[seat]! }));
  const legal = (board as Board & { legal: Legal }).legal;
  return {
    ...NOTHING,
    version: 9,
    seat: 0,
    table: { ...TABLE, phase: "playing", terms: { ...TABLE.terms, game }, seats },
    board,
    legal: board.to_act === 0 ? legal : null,
  };
}

describe("where seats are", () => {
  const rounded = (seat: number, seats: number, direction: "clockwise" | "anticlockwise"): number[] =>
    Object.values(place(seat, 2, seats, direction)).map((value) => Math.round(value) + 0);

  it("one's own is below, one's partner above", () => {
    expect(rounded(2, 4, "anticlockwise")).toEqual([0, 1]);
    expect(rounded(0, 4, "anticlockwise")).toEqual([0, -1]);
  });

  it("who is next sits on the right where play goes anticlockwise, else on the left", () => {
    expect(rounded(3, 4, "anticlockwise")).toEqual([1, 0]);
    expect(rounded(3, 4, "clockwise")).toEqual([-1, 0]);
  });

  it.each([4, 5, 6, 7, 8, 9, 10, 11, 12])("no two of %i share a place", (seats) => {
    const places = Array.from({ length: seats }, (_, seat) => place(seat, 0, seats, "clockwise"));
    expect(new Set(places.map(({ x, y }) => `${x.toFixed(3)} ${y.toFixed(3)}`)).size).toBe(seats);
  });
});

describe("a hand", () => {
  it("shows what may be played, as the table said it", () => {
    const state = stateWhere("court_piece", (board) => board.phase === "playing" && board.to_act === 0 && board.trick.length > 0);
    const look = lookOf(state, WISHES)!;
    const legal = look.hand.filter((held) => held.isLegal).map((held) => held.card);
    expect(legal.sort()).toEqual([...state.legal!.play!].sort());
    expect(look.isYourTurn).toBe(true);
  });

  it("has no legal and no illegal card while another is on turn", () => {
    const state = stateWhere("king_20", (board) => board.phase === "playing" && board.to_act !== 0 && board.to_act !== null);
    const look = lookOf(state, WISHES)!;
    expect(look.hand.every((held) => held.isLegal === null)).toBe(true);
    expect(look.status).toContain("is thinking");
    expect(whyNot(state, look.hand[0]!.card)).toMatch(/^It is \w+'s turn\.$/);
  });
});

describe("decisions that are not cards of the trick", () => {
  it("a hidden trump is chosen among the first five cards", () => {
    const panel = lookOf(stateWhere("court_piece", (board) => board.phase === "choosing" && board.to_act === 0), WISHES)!.panel!;
    if (panel.kind !== "choices") throw new Error(panel.kind);
    expect(panel.choices).toHaveLength(5);
    expect(panel.choices[0]!.command).toEqual({ type: "choose_trump", card: panel.choices[0]!.card });
  });

  it("a contract is declared, trump with its suit", () => {
    const state = stateWhere("king_20", (board) => board.phase === "playing");
    const declaring: State = { ...state, legal: { name: ["trump:S", "no_girls"] }, board: { ...state.board!, phase: "declaring", to_act: 0 } };
    const panel = lookOf(declaring, WISHES)!.panel!;
    if (panel.kind !== "choices") throw new Error(panel.kind);
    expect(panel.choices.map((choice) => choice.command)).toEqual([
      { type: "declare", contract: "trump", suit: "S" },
      { type: "declare", contract: "no_girls" },
    ]);
  });

  it("an auction offers each bid that is legal, and a pass", () => {
    const state = stateWhere("kings_and_rebels", (board) => board.phase === "bidding");
    const panel = lookOf({ ...state, legal: { name: ["150", "155"], also: ["pass_bid"] } }, WISHES)!.panel;
    expect(panel).toMatchObject({ kind: "bid", bids: [150, 155], pass: { type: "pass_bid" } });
    const waiting = lookOf({ ...state, legal: { also: ["pass_bid"] } }, WISHES)!.panel;
    expect(waiting).toMatchObject({ kind: "choices", choices: [{ command: { type: "pass_bid" } }] });
  });

  it("the leader names a trump and as many cards as are allowed", () => {
    const state = stateWhere("kings_and_rebels", (board) => board.phase === "bidding");
    const naming: State = { ...state, board: { ...state.board!, phase: "naming" }, legal: { name: ["trump:S", "converts:1", "converts:2", "AH:1", "AH:2"] } };
    expect(lookOf(naming, WISHES)!.panel).toEqual({
      kind: "converts",
      title: expect.any(String),
      suits: ["S"],
      converts: [{ card: "AH", ordinal: 1 }, { card: "AH", ordinal: 2 }],
      max: 2,
    });
  });
});

it.each(["king_20", "king_short", "king_long", "kings_and_rebels"])("in %s a seat shows after a round what its total is, and counts no round twice", (game) => {
  const { board, ...state } = stateWhere(game, (seen) => seen.ended !== null);
  const look = lookOf({ ...state, board }, WISHES)!;
  expect(look.seats.map(({ note }) => note)).toEqual(board!.totals.map((count) => say("note.points", { count })));
});

it("whoever has not answered a vote is asked", () => {
  const state = stateWhere("king_short", (board) => board.phase === "playing");
  const vote = { number: 5, about: "bot", about_seat: 3, asked_by: 1, waits_for: [0, 2], agreed: [] } as const;
  const asked: State = { ...state, table: { ...state.table!, vote: { ...vote, waits_for: [0, 2], agreed: [] } } };
  expect(lookOf(asked, WISHES)!.vote).toEqual({ number: 5, sentence: "Zara asks for a bot in the free seat.", mayAnswer: true });
  expect(lookOf({ ...asked, seat: 2 }, WISHES)!.vote!.mayAnswer).toBe(true);
  expect(lookOf({ ...asked, seat: 1 }, WISHES)!.vote!.mayAnswer).toBe(false);
});

it("a hidden trump is told to nobody else, and its suit to its caller", () => {
  const state = stateWhere("court_piece", (board) => board.phase === "playing" && !board.trump_shown && board.caller === 0);
  const trump = lookOf(state, WISHES)!.facts.at(-1)!;
  expect(trump).toMatchObject({ value: "face down", suit: state.board!.trump });
  const other = lookOf({ ...state, board: { ...state.board!, trump: null } }, WISHES)!.facts.at(-1)!;
  expect(other.suit).toBeUndefined();
});

it("a game that this client does not know shows cards, totals, and its decisions without an argument", () => {
  const state = stateWhere("king_short", (board) => board.phase === "playing");
  const unknown: State = { ...state, legal: { also: ["shout"] }, table: { ...state.table!, terms: { ...state.table!.terms, game: "whist" } } };
  const look = lookOf(unknown, WISHES)!;
  expect(look.hand.length).toBeGreaterThan(0);
  expect(look.panel).toMatchObject({ kind: "choices", choices: [{ label: "shout" }] });
});
