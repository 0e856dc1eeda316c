/** The socket of one table: it comes back by itself, and nothing is lost or done twice. Open this about reconnecting. */

import type { EventFrame, ServerFrame, SocketPaths } from "../contracts";
import { afterFrame, isCaughtUp, Lost, NOTHING, opening, type State } from "../model/state";
import type { Command } from "../model/look";
import { pauseMs } from "./backoff";
import { Commands } from "./commands";
import { Failed } from "./http";
import { SeedStrings } from "./seeds";

const PROTOCOL = 1;
/** The table speaks at least every five seconds: after two and a half of that the connection is lost. */
const SILENCE_MS_MAX = 12_500;
const OPEN_MS_MAX = 10_000;
/** Back from sleep or with a new network, a connection that was silent for so long is not trusted. */
const SILENCE_MS_TRUSTED = 6_000;
/** After these nothing is better on another connection. */
const ENDS = new Set(["table_closed", "table_private", "protocol_unknown", "refresh_token_revoked", "token_missing"]);
const TOKEN_REFUSALS = new Set(["token_invalid", "token_expired"]);
/** A process that takes a table over may for a moment not know it. */
const TABLE_UNKNOWN_MAX = 5;

/** What the rest of the world is to a socket. */
export interface Surroundings {
  open: (path: string) => WebSocket;
  token: () => Promise<string>;
  renewed: (refused: string) => Promise<string>;
  msToRenewal: () => number;
  /** Where the table's socket is now. */
  find: () => Promise<SocketPaths>;
}

export type Connected = "connecting" | "connected" | "ended";

export interface Watcher {
  changed: (state: State) => void;
  connected: (connected: Connected, code: string) => void;
}

export class TableSocket {
  #state: State;
  #socket: WebSocket | null = null;
  #tries = 0;
  #unknown = 0;
  #token = "";
  #tokenRefused = false;
  #ended = false;
  #heardAt = 0;
  #asksSnapshot = false;
  #timers: Partial<Record<"silence" | "retry" | "renewal", ReturnType<typeof setTimeout> | undefined>> = {};
  readonly #commands = new Commands((content) => this.#post(content));
  readonly #seeds = new SeedStrings((command) => void this.#commands.send(command).catch(isRefused));

  constructor(
    private paths: SocketPaths,
    private readonly surroundings: Surroundings,
    private readonly watcher: Watcher,
    /** What is known of it already. */
    known: Partial<State> = {},
  ) {
    this.#state = { ...NOTHING, ...known };
  }

  get state(): State {
    return this.#state;
  }

  /** This client's own strings in the chance of the deals, by game and round. */
  get strings(): Readonly<Record<string, string>> {
    return this.#seeds.kept;
  }

  start(): void {
    addEventListener("online", this.#woken);
    document.addEventListener("visibilitychange", this.#woken);
    void this.#connect();
  }

  /** The seat stays: `leave` gives it up. */
  close(code = "socket_closed"): void {
    if (this.#ended) return;
    this.#ended = true;
    removeEventListener("online", this.#woken);
    document.removeEventListener("visibilitychange", this.#woken);
    this.#drop();
    this.#commands.end(new Failed(code, ""));
    this.watcher.connected("ended", code);
  }

  /** A decision gets the game, the round and the turn that are due now. Raises Failed when it is refused. */
  send(command: Command): Promise<number> {
    const { board, table } = this.#state;
    if (!DECISIONS.has(command.type) || board === null) return this.#commands.send(command);
    return this.#commands.send({ ...command, ...{ game: table?.game_number, round: board.round, turn: board.turn } });
  }

  readonly #woken = (): void => {
    if (this.#ended || document.visibilityState === "hidden") return;
    if (this.#timers.retry !== undefined) {
      this.#tries = 0;
      clearTimeout(this.#timers.retry);
      this.#timers.retry = undefined;
      void this.#connect();
    } else if (this.#socket !== null && Date.now() - this.#heardAt > SILENCE_MS_TRUSTED) this.#lost("woken");
  };

  async #connect(): Promise<void> {
    this.#state = opening(this.#state);
    this.watcher.connected("connecting", "");
    try {
      const refused = this.#tokenRefused;
      this.#tokenRefused = false;
      this.#token = await (refused ? this.surroundings.renewed(this.#token) : this.surroundings.token());
      const path = await this.#way();
      if (!this.#ended) this.#open(path);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#lost(error.code);
    }
  }

  /** The owner first, then whoever passes on; when both have failed, the lobby is asked who owns the table now. */
  async #way(): Promise<string> {
    let ways = waysOf(this.paths);
    if (this.#tries > 0 && this.#tries % ways.length === 0) {
      // When the lobby does not know either, the old ways may work again.
      this.paths = await this.surroundings.find().catch((error: unknown) => isRefused(error) ?? this.paths);
      ways = waysOf(this.paths);
    }
    return ways[this.#tries % ways.length]!;
  }

  #open(path: string): void {
    const socket = this.surroundings.open(path);
    this.#socket = socket;
    this.#listen(OPEN_MS_MAX);
    socket.onopen = () => {
      if (socket === this.#socket) this.#hello(this.#state.version);
    };
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket) this.#heard(String(data));
    };
    socket.onclose = () => {
      if (socket === this.#socket) this.#lost("closed");
    };
    this.#renewLater();
  }

  #hello(version: number): void {
    this.#socket?.send(JSON.stringify({ type: "hello", protocol: PROTOCOL, token: this.#token, version }));
  }

  #heard(content: string): void {
    this.#listen(SILENCE_MS_MAX);
    try {
      this.#receive(JSON.parse(content) as ServerFrame);
    } catch (error) {
      if (error instanceof Lost) this.#lost(error.code);
      else if (error instanceof SyntaxError) this.#lost("frame_unreadable");
      else throw error;
    }
  }

  #receive(frame: ServerFrame): void {
    if (frame.type === "closing" && frame.path) this.#movedTo(frame.path);
    const before = this.#state;
    this.#state = afterFrame(before, frame, Date.now());
    if (frame.type === "event") this.#acknowledge(frame);
    else if (frame.type === "done") this.#commands.acknowledged(frame.id, frame.version);
    else if (frame.type === "refused") this.#commands.refused(frame);
    if (frame.type === "snapshot") this.#asksSnapshot = false;
    if (isCaughtUp(this.#state) && !isCaughtUp(before)) {
      this.#tries = this.#unknown = 0;
      this.watcher.connected("connected", "");
      this.#commands.sendAgain();
    }
    if (this.#state === before) return;
    if (this.#state.wants_snapshot && !this.#asksSnapshot && isCaughtUp(this.#state)) {
      this.#asksSnapshot = true;
      this.#hello(0);
    }
    if (isCaughtUp(this.#state)) void this.#seeds.follow(this.#state.table!, this.#state.seat);
    this.watcher.changed(this.#state);
  }

  /** The table says who owns it now. */
  #movedTo(path: string): void {
    this.paths = { direct: path, any: this.paths.any };
    this.#tries = 0;
  }

  #acknowledge({ id, version }: EventFrame): void {
    if (id) this.#commands.acknowledged(id, version);
  }

  /** Before a connection has caught up nothing is said on it; then everything unanswered is said once. */
  #post(content: string): void {
    if (isCaughtUp(this.#state) && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(content);
  }

  #lost(code: string): void {
    if (this.#ended) return;
    this.#drop();
    // What is lost on another way says nothing about the table.
    if (code === "table_unknown") this.#unknown += 1;
    if (ENDS.has(code) || this.#unknown >= TABLE_UNKNOWN_MAX) {
      this.close(code);
      return;
    }
    this.#tokenRefused = TOKEN_REFUSALS.has(code);
    if (!isCaughtUp(this.#state)) this.#tries += 1;
    this.watcher.connected("connecting", code);
    this.#timers.retry = setTimeout(() => {
      this.#timers.retry = undefined;
      void this.#connect();
    }, pauseMs(this.#tries));
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#asksSnapshot = false;
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#timers = {};
    socket?.close();
  }

  #listen(ms: number): void {
    this.#heardAt = Date.now();
    clearTimeout(this.#timers.silence);
    this.#timers.silence = setTimeout(() => this.#lost("silent"), ms);
  }

  /** The socket ends with its token, unless a newer one comes before. */
  #renewLater(): void {
    clearTimeout(this.#timers.renewal);
    this.#timers.renewal = setTimeout(() => void this.#renew(), Math.max(1000, this.surroundings.msToRenewal()));
  }

  async #renew(): Promise<void> {
    try {
      this.#token = await this.surroundings.token();
      this.#post(JSON.stringify({ type: "fresh_token", token: this.#token }));
    } catch (error) {
      // There is time left before the token ends.
      isRefused(error);
    }
    if (this.#socket !== null) this.#renewLater();
  }
}

const DECISIONS = new Set(["play_card", "choose_trump", "ask_trump", "show_trump", "declare", "bid", "pass_bid", "name_converts"]);

const waysOf = (paths: SocketPaths): string[] => [paths.direct, paths.any].filter((path) => path !== null);

/** What a server refuses or can't be asked just now is of no harm here; anything else is a fault. */
function isRefused(error: unknown): null {
  if (error instanceof Failed) return null;
  throw error;
}
