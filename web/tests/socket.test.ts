// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ServerFrame, SocketPaths } from "../src/contracts";
import { Failed } from "../src/net/http";
import { type Connected, TableSocket } from "../src/net/socket";
import { TABLE } from "./table";

/** A WebSocket whose other end is the test. */
class Wire {
  static all: Wire[] = [];
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;

  constructor(readonly path: string) {
    Wire.all.push(this);
  }
  static get last(): Wire {
    return Wire.all.at(-1)!;
  }
  send(content: string): void {
    this.sent.push(JSON.parse(content) as Record<string, unknown>);
  }
  close(): void {
    this.readyState = 3;
  }
  opened(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  tell(...frames: ServerFrame[]): void {
    for (const frame of frames) this.onmessage?.({ data: JSON.stringify(frame) });
  }
  break(): void {
    this.readyState = 3;
    this.onclose?.();
  }
  get types(): unknown[] {
    return this.sent.map((frame) => frame.type);
  }
}

const PATHS: SocketPaths = { direct: "/play/at/p1/t", any: "/play/t" };
const welcome = (version: number): ServerFrame => ({ type: "welcome", protocol: 1, table_id: "t", seat: 0, version });
const snapshot = (version: number): ServerFrame => ({ type: "snapshot", version, seat: 0, table: TABLE });
const event = (version: number, id?: string): ServerFrame => ({
  type: "event",
  version,
  kind: "seat_ready",
  public: { seat: 0 },
  ...(id === undefined ? {} : { id }),
});

let socket: TableSocket;
let connected: [Connected, string][];
const find = vi.fn(async () => ({ direct: "/play/at/p2/t", any: "/play/t" }));
const renewed = vi.fn(async () => "token 2");

/** Lets what was promised happen; long enough for any pause between two tries. */
const settle = async (ms = 5000): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

beforeEach(async () => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  Wire.all = [];
  connected = [];
  socket = new TableSocket(
    PATHS,
    { open: (path) => new Wire(path) as unknown as WebSocket, token: async () => "token 1", renewed, msToRenewal: () => 600_000, find },
    { changed: () => undefined, connected: (now, code) => connected.push([now, code]) },
  );
  socket.start();
  await settle(0);
});

afterEach(() => {
  socket.close();
  vi.useRealTimers();
});

async function joined(version = 4): Promise<void> {
  Wire.last.opened();
  Wire.last.tell(welcome(version), snapshot(version));
  await settle(0);
}

describe("a connection", () => {
  it("begins with hello at the owner, and asks for a snapshot with version 0", () => {
    Wire.last.opened();
    expect(Wire.last.path).toBe("/play/at/p1/t");
    expect(Wire.last.sent).toEqual([{ type: "hello", protocol: 1, token: "token 1", version: 0 }]);
  });

  it("that is lost is followed by one that goes on from the last version", async () => {
    await joined();
    Wire.last.tell(event(5));
    Wire.last.break();
    expect(connected.at(-1)).toEqual(["connecting", "closed"]);
    await settle();
    Wire.last.opened();
    expect(Wire.all).toHaveLength(2);
    expect(Wire.last.sent[0]).toMatchObject({ type: "hello", version: 5 });
    Wire.last.tell(welcome(6), event(6));
    expect(connected.at(-1)).toEqual(["connected", ""]);
    expect(socket.state.version).toBe(6);
  });

  it.each([
    ["a version is left out", event(7)],
    ["a heartbeat is ahead", { type: "heartbeat", version: 9 } as ServerFrame],
  ])("is given up when %s", async (_why, frame) => {
    await joined();
    Wire.last.tell(frame);
    await settle();
    expect(Wire.all).toHaveLength(2);
    expect(socket.state.version).toBe(4);
  });

  it("goes on at once where the table says that it has moved", async () => {
    await joined();
    Wire.last.tell({ type: "closing", code: "moved", message: "", path: "/play/at/p9/t" } as ServerFrame);
    await settle();
    expect(Wire.last.path).toBe("/play/at/p9/t");
    Wire.last.opened();
    expect(Wire.last.sent[0]).toMatchObject({ type: "hello", version: 4 });
  });

  it("is given up when it is silent, and not while there are heartbeats", async () => {
    await joined();
    await settle(10_000);
    Wire.last.tell({ type: "heartbeat", version: 4 });
    await settle(10_000);
    expect(Wire.all).toHaveLength(1);
    await settle(10_000);
    expect(Wire.all.length).toBeGreaterThan(1);
  });

  it("is tried elsewhere when the owner does not answer, and then where the lobby says", async () => {
    for (const path of ["/play/at/p1/t", "/play/t", "/play/at/p2/t"]) {
      expect(Wire.last.path).toBe(path);
      Wire.last.break();
      await settle();
    }
    expect(find).toHaveBeenCalledOnce();
  });

  it("comes with a new token after the old one was refused", async () => {
    Wire.last.opened();
    Wire.last.tell({ type: "closing", code: "token_expired", message: "" });
    await settle();
    Wire.last.opened();
    expect(Wire.last.sent[0]).toMatchObject({ token: "token 2" });
  });

  it("is not tried again when the table is closed", async () => {
    Wire.last.opened();
    Wire.last.tell({ type: "closing", code: "table_closed", message: "" });
    await settle(60_000);
    expect(Wire.all).toHaveLength(1);
    expect(connected.at(-1)).toEqual(["ended", "table_closed"]);
  });

  it("is given up when the table is not known any more, also where another way to it stays blocked", async () => {
    for (let tries = 0; tries < 20 && connected.at(-1)?.[0] !== "ended"; tries += 1) {
      if (tries % 2) Wire.last.break();
      else {
        Wire.last.opened();
        Wire.last.tell({ type: "closing", code: "table_unknown", message: "" });
      }
      await settle(60_000);
    }
    expect(connected.at(-1)).toEqual(["ended", "table_unknown"]);
  });

  it("that was replaced is not listened to any more", async () => {
    await joined();
    const old = Wire.last;
    old.break();
    await settle();
    old.tell(event(5));
    expect(socket.state.version).toBe(4);
  });
});

describe("a command", () => {
  it("is said once more on the next connection with the same id, and counts as done when the table says so", async () => {
    await joined();
    const sat = socket.send({ type: "ready" });
    const [, first] = Wire.last.sent;
    Wire.last.break();
    await settle();
    await joined();
    const [, again] = Wire.last.sent;
    expect(again).toEqual(first);
    Wire.last.tell({ type: "done", id: String(first!.id), version: 7 });
    await expect(sat).resolves.toBe(7);
  });

  it("is not said before the connection has caught up", async () => {
    const ready = socket.send({ type: "ready" });
    Wire.last.opened();
    expect(Wire.last.types).toEqual(["hello"]);
    Wire.last.tell(welcome(4), snapshot(4));
    expect(Wire.last.types).toEqual(["hello", "ready"]);
    Wire.last.tell(event(5, String(Wire.last.sent[1]!.id)));
    await expect(ready).resolves.toBe(5);
  });

  it("is refused for good, or tried again after a pause", async () => {
    await joined();
    const ready = socket.send({ type: "ready" });
    const id = String(Wire.last.sent[1]!.id);
    const refused = { type: "refused", code: "busy", message: "", id } as const;
    Wire.last.tell({ ...refused, retry: true });
    await settle();
    expect(Wire.last.types).toEqual(["hello", "ready", "ready"]);
    Wire.last.tell({ ...refused, code: "not_seated", retry: false });
    await expect(ready).rejects.toMatchObject({ code: "not_seated" });
  });

  it("has an id of its own, as the table wants it", async () => {
    await joined();
    const both = [socket.send({ type: "ready" }), socket.send({ type: "ready" })];
    const [, one, other] = Wire.last.sent;
    expect(one!.id).not.toBe(other!.id);
    expect(one!.id).toMatch(/^[A-Za-z0-9_-]{16,32}$/);
    socket.close();
    for (const result of both) await expect(result).rejects.toBeInstanceOf(Failed);
  });
});
