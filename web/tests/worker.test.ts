import { beforeEach, expect, it, vi } from "vitest";

const ORIGIN = "https://darbar.example";
const FILES = ["/assets/index-1.js", "/icon.svg"];

type Handler = (event: Record<string, unknown>) => void;

/** A browser's store of answers by path, and its network. */
let kept: Map<string, Map<string, string>>;
let network: Map<string, string> | null;
let handlers: Record<string, Handler>;

beforeEach(async () => {
  kept = new Map();
  network = new Map([["/", "page of the server"], ["/assets/index-1.js", "script"], ["/icon.svg", "icon"], ["/v1/games", "games"]]);
  handlers = {};
  const open = async (name: string) => {
    const files = kept.get(name) ?? new Map<string, string>();
    kept.set(name, files);
    return {
      addAll: async (requests: Request[]) => {
        for (const { url } of requests) files.set(new URL(url).pathname, await (await fetched(url)).text());
      },
      match: async (path: string) => (files.has(path) ? new Response(files.get(path)) : undefined),
    };
  };
  vi.stubGlobal("SHELL_FILES", FILES);
  vi.stubGlobal("location", { origin: ORIGIN });
  vi.stubGlobal("caches", { open, keys: async () => [...kept.keys()], delete: async (name: string) => kept.delete(name) });
  vi.stubGlobal("fetch", (request: Request | string) => fetched(typeof request === "string" ? request : request.url));
  vi.stubGlobal("Request", class { url: string; constructor(path: string) { this.url = ORIGIN + path; } });
  vi.stubGlobal("self", { addEventListener: (kind: string, handler: Handler) => (handlers[kind] = handler), skipWaiting: vi.fn(async () => undefined), clients: { claim: async () => undefined } });
  vi.resetModules();
  await import("../src/shell/worker");
});

async function fetched(url: string): Promise<Response> {
  if (network === null) throw new TypeError("no connection");
  const found = network.get(new URL(url).pathname);
  return new Response(found ?? "nothing", { status: found === undefined ? 404 : 200 });
}

async function during(kind: string): Promise<void> {
  let work: Promise<unknown> = Promise.resolve();
  handlers[kind]!({ waitUntil: (given: Promise<unknown>) => (work = given) });
  await work;
}

/** What is answered in the server's place; undefined: nothing, the browser asks the server itself. */
async function answerTo(path: string, { mode = "cors", method = "GET", origin = ORIGIN } = {}): Promise<string | undefined> {
  let answer: Promise<Response> | undefined;
  handlers.fetch!({ request: { url: origin + path, mode, method }, respondWith: (given: Promise<Response>) => (answer = given) });
  return answer && (await answer).text();
}

it("the page and the files of its build are kept, those of older builds no more", async () => {
  kept.set("darbar-older", new Map());
  kept.set("of somebody else", new Map());
  await during("install");
  expect([...kept.get(`darbar-${BUILD}`)!.keys()]).toEqual(["/", ...FILES]);
  expect(kept.has("darbar-older"), "a page of it may still be open").toBe(true);

  await during("activate");
  expect([...kept.keys()].sort()).toEqual([`darbar-${BUILD}`, "of somebody else"]);
});

it("the page is the server's while that answers, and the kept one without a connection", async () => {
  await during("install");
  network!.set("/", "page after a deploy");
  expect(await answerTo("/", { mode: "navigate" })).toBe("page after a deploy");
  network!.delete("/");
  expect(await answerTo("/", { mode: "navigate" }), "a proxy's page instead").toBe("page of the server");
  network = null;
  expect(await answerTo("/", { mode: "navigate" })).toBe("page of the server");
  expect(await answerTo("/assets/index-1.js")).toBe("script");
});

it.each(["/v1/games", "/v1/me/wallet", "/play/tables/x/socket", "/join/x", "/assets/of-another-build.js"])("%s is the server's alone", async (path) => {
  await during("install");
  expect(await answerTo(path)).toBeUndefined();
  expect(await answerTo(path, { mode: "navigate" })).toBeUndefined();
});

it("other sites and other methods are left alone", async () => {
  await during("install");
  expect(await answerTo("/icon.svg", { origin: "https://elsewhere.example" })).toBeUndefined();
  expect(await answerTo("/", { method: "POST", mode: "navigate" })).toBeUndefined();
});

it("a newer build takes over when it is told to, and says which one it is", async () => {
  const said: string[] = [];
  const tell = (data: string): void => handlers.message!({ data, ports: [{ postMessage: (text: string) => said.push(text) }], waitUntil: () => undefined });
  tell("which_build");
  expect(said).toEqual([BUILD]);
  const { skipWaiting } = self as unknown as { skipWaiting: () => void };
  expect(skipWaiting).not.toHaveBeenCalled();
  tell("take_over");
  expect(skipWaiting).toHaveBeenCalledOnce();
});
