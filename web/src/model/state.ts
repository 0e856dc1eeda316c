/** All that this client knows of its table: one pure function from frame to frame. Open this about versions and gaps. */

import type { EventFrame, Legal, Said, ServerFrame, Snapshot, TableView } from "../contracts";
import { afterGameEvent, type Board, isGameEvent, type Shown } from "./board";
import { NO_PAST, type Past, pastAfterEvent, pastAfterSnapshot } from "./past";
import { afterTableEvent } from "./table";

export interface State {
  /** 0: nothing is known yet. */
  version: number;
  /** null: looking on. */
  seat: number | null;
  table: TableView | null;
  board: Board | null;
  past: Past;
  legal: Legal | null;
  /** When the table's clock runs out, in this client's own milliseconds; null: nothing is due. */
  deadline: number | null;
  /** How long that clock had when it was told. */
  given_ms: number;
  /** What the last welcome named: everything up to it is a catching-up. */
  welcomed: number | null;
  /** A board is needed that no event brings: a snapshot has to be asked for. */
  wants_snapshot: boolean;
  /** What operators tell everybody; null: nothing. */
  announcement: string | null;
  /** The last events, the newest last, for whoever tells of them. */
  told: readonly Told[];
  /** What was said last at the table, the newest last; it comes once and is never told again. */
  heard: readonly Heard[];
  /** How the pot of the round, or the game, that ended last is shared out; null while one is played. */
  shared: Shared | null;
  /** What the server promised before each deal, by game and round: to be compared with what it shows afterwards. */
  promises: Readonly<Record<string, string>>;
  /** Who records a voice note. */
  microphone: number | null;
  /** What goes with one's own recording. */
  ticket: string | null;
  /** The voice note that came last. */
  note: Note | null;
}

export interface Note {
  note_id: string;
  seat: number | null;
  /** In this client's own milliseconds. */
  plays_at: number;
  path: string;
}

export interface Heard {
  number: number;
  seat: number;
  phrase: string;
}

export interface Shared {
  /** Coins by seat. */
  shares: readonly number[];
  /** Seats that paid their bet once more. */
  pays_again: readonly number[];
}

export interface Told {
  version: number;
  kind: string;
  shown: Shown;
}

/** Frames were lost: another connection has to bring them. */
export class Lost extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

const TOLD_MAX = 60;
const HEARD_MAX = 12;
const PROMISES_MAX = 200;

export const promiseKey = (game: number, round: number): string => `${game}.${round}`;

export const NOTHING: State = {
  version: 0,
  seat: null,
  table: null,
  board: null,
  past: NO_PAST,
  legal: null,
  deadline: null,
  given_ms: 0,
  welcomed: null,
  wants_snapshot: false,
  announcement: null,
  told: [],
  heard: [],
  shared: null,
  promises: {},
  microphone: null,
  ticket: null,
  note: null,
};

export const isCaughtUp = (state: State): boolean =>
  state.table !== null && state.welcomed !== null && state.version >= state.welcomed;

/** The state one frame later; `now` in milliseconds. Raises Lost when the frame shows that others are missing. */
export function afterFrame(state: State, frame: ServerFrame, now: number): State {
  switch (frame.type) {
    case "welcome":
      return { ...state, welcomed: frame.version, seat: frame.seat, announcement: frame.announcement ?? null, microphone: null };
    case "announced":
      return { ...state, announcement: frame.text };
    case "snapshot":
      return afterSnapshot(state, frame, now);
    case "event":
      return afterEvent(state, frame, now);
    case "said":
      return { ...state, heard: [...state.heard, heardAfter(state, frame)].slice(-HEARD_MAX) };
    case "microphone":
      return { ...state, microphone: frame.seat };
    case "upload_ticket":
      return { ...state, ticket: frame.ticket };
    case "note_ready":
      return { ...state, note: { note_id: frame.note_id, seat: frame.seat, plays_at: now + frame.plays_in_ms, path: frame.path } };
    case "heartbeat":
      if (isCaughtUp(state) && frame.version > state.version) throw new Lost("behind");
      return state;
    case "closing":
      throw new Lost(frame.code);
    default:
      return state;
  }
}

/** A new connection says hello: what an older one promised holds no more. */
export const opening = (state: State): State => ({ ...state, welcomed: null });

function afterSnapshot(state: State, frame: Snapshot, now: number): State {
  return {
    ...state,
    ...dueBy(frame, now),
    version: frame.version,
    seat: frame.seat,
    table: frame.table,
    // Between two games none is seen; how the last one ended stays until the next begins.
    board: (frame.game ?? (state.board?.ended?.game_over ? state.board : null)) as Board | null,
    past: pastAfterSnapshot(state.past, frame),
    wants_snapshot: false,
    told: [],
  };
}

function afterEvent(state: State, frame: EventFrame, now: number): State {
  if (frame.version <= state.version) return state;
  if (state.table === null || frame.version !== state.version + 1) throw new Lost("gap");
  const shown: Shown = { ...(frame.public as Shown), ...((frame.secret ?? {}) as Shown) };
  const table = afterTableEvent(state.table, frame.kind, shown);
  return {
    ...state,
    ...dueBy(frame, now),
    version: frame.version,
    seat: seatAfter(state, frame, shown),
    table,
    board: boardAfter(state.board, frame.kind, shown),
    past: pastAfterEvent(state.past, state.table.game_number, frame.kind, shown),
    // The first deal of a game comes before any view of it.
    wants_snapshot: state.wants_snapshot || (state.board === null && isGameEvent(frame.kind)),
    told: [...state.told, { version: frame.version, kind: frame.kind, shown }].slice(-TOLD_MAX),
    shared: sharedAfter(state.shared, frame.kind, shown),
    promises: promisesAfter(state.promises, frame.kind, shown),
  };
}

const heardAfter = (state: State, { seat, phrase }: Said): Heard => ({ number: (state.heard.at(-1)?.number ?? 0) + 1, seat, phrase });

function sharedAfter(shared: Shared | null, kind: string, shown: Shown): Shared | null {
  if (kind === "settle_asked") return { shares: shown.shares as number[], pays_again: (shown.pays_again ?? []) as number[] };
  return kind === "round_started" ? null : shared;
}

function promisesAfter(promises: State["promises"], kind: string, shown: Shown): State["promises"] {
  if (kind !== "count_in_started") return promises;
  const kept = Object.entries(promises).slice(1 - PROMISES_MAX);
  return Object.fromEntries([...kept, [promiseKey(shown.game as number, shown.round as number), shown.commitment as string]]);
}

function boardAfter(board: Board | null, kind: string, shown: Shown): Board | null {
  if (kind === "game_started") return null;
  return board === null ? null : afterGameEvent(board, kind, shown);
}

function seatAfter(state: State, frame: EventFrame, shown: Shown): number | null {
  if (frame.kind === "seat_taken" && frame.id !== undefined && frame.id !== null) return shown.seat as number;
  if (frame.kind === "seats_swapped") {
    const [first, second] = shown.seats as [number, number];
    return state.seat === first ? second : state.seat === second ? first : state.seat;
  }
  return frame.kind === "seat_freed" && shown.seat === state.seat ? null : state.seat;
}

function dueBy(frame: EventFrame | Snapshot, now: number): Pick<State, "legal" | "deadline" | "given_ms"> {
  const remaining = frame.remaining_ms ?? null;
  return {
    legal: frame.legal ?? null,
    deadline: remaining === null ? null : now + remaining,
    given_ms: remaining ?? 0,
  };
}
