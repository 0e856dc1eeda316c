/**
 * The service worker: the client opens without a connection, from the files of one build, which are kept together.
 * Open this when an old client is seen. It answers for the page and for files of its own build, and for nothing else:
 * whatever the server says (/v1/, /play/) is never kept.
 *
 * The page itself is asked for first and taken from here only when no answer comes, so that a deploy is seen at once.
 * A newer build waits beside this one until no page of this one is open, or a player wants it.
 */

import type { Said } from "./messages";

/** What the build put in: the paths of all files that belong to it. */
declare const SHELL_FILES: readonly string[];

/** As much of a service worker's world as is used here; the types of a page and of a worker exclude each other. */
interface Extended extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetched extends Extended {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface Told extends Extended {
  readonly data: Said;
  readonly ports: readonly MessagePort[];
}
interface Worker {
  addEventListener(kind: "install" | "activate", handle: (event: Extended) => void): void;
  addEventListener(kind: "fetch", handle: (event: Fetched) => void): void;
  addEventListener(kind: "message", handle: (event: Told) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void> };
}

const worker = self as unknown as Worker;
const PREFIX = "darbar-";
const CACHE = `${PREFIX}${BUILD}`;
const PAGE = "/";
const FILES = new Set(SHELL_FILES);
/** Somebody in a tunnel does not wait longer for a page that is here. */
const PAGE_MS_MAX = 3000;

worker.addEventListener("install", (event) => event.waitUntil(keepAll()));
worker.addEventListener("activate", (event) => event.waitUntil(begin()));

worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin) return;
  if (mode === "navigate" && pathname === PAGE) event.respondWith(page(event.request));
  else if (FILES.has(pathname)) event.respondWith(file(event.request, pathname));
});

worker.addEventListener("message", (event) => {
  if (event.data === "take_over") event.waitUntil(worker.skipWaiting());
  if (event.data === "which_build") event.ports[0]?.postMessage(BUILD);
});

async function keepAll(): Promise<void> {
  const cache = await caches.open(CACHE);
  // Past the browser's own cache: the page has the same address in every build.
  await cache.addAll([PAGE, ...FILES].map((path) => new Request(path, { cache: "reload" })));
}

async function begin(): Promise<void> {
  const older = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(older.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

async function page(request: Request): Promise<Response> {
  const kept = await (await caches.open(CACHE)).match(PAGE);
  if (kept === undefined) return fetch(request);
  try {
    const answer = await fetch(request.url, { signal: AbortSignal.timeout(PAGE_MS_MAX) });
    return answer.ok ? answer : kept;
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    return kept;
  }
}

async function file(request: Request, path: string): Promise<Response> {
  return (await (await caches.open(CACHE)).match(path)) ?? fetch(request);
}
