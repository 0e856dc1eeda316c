/** Whether there is a connection, a newer client, a way to install this one. Open this when an old client stays. */

import type { Said } from "./messages";

const LOOK_MS = 30 * 60_000;
const ANSWER_MS_MAX = 2000;
const RELOADED = "darbar.reloaded_at";
/** A file that is still missing after a new start is not helped by another one. */
const RELOAD_PAUSE_MS = 60_000;

/** Chromium's, where a page may offer to be installed. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>;
}

export const shell = $state({ isOffline: false, hasNewer: false, mayInstall: false });

let waiting: ServiceWorker | null = null;
let offer: InstallOffer | null = null;
let isWanted = false;

/** Once, when the page is opened. */
export function watchShell(): void {
  shell.isOffline = !navigator.onLine;
  addEventListener("online", () => (shell.isOffline = false));
  addEventListener("offline", () => (shell.isOffline = true));
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    offer = event as InstallOffer;
    shell.mayInstall = true;
  });
  addEventListener("appinstalled", () => (shell.mayInstall = false));
  // A part of this build that is gone since a deploy: the page of the new one knows the new parts.
  addEventListener("vite:preloadError", (event) => {
    if (Date.now() - Number(sessionStorage.getItem(RELOADED) ?? 0) < RELOAD_PAUSE_MS) return;
    event.preventDefault();
    sessionStorage.setItem(RELOADED, String(Date.now()));
    location.reload();
  });
  // On secure pages alone; in development there is nothing to keep.
  if ("serviceWorker" in navigator && import.meta.env.PROD) void watchWorker(navigator.serviceWorker);
}

/** The player wants the newer client: this page opens again with it. */
export function takeNewer(): void {
  isWanted = true;
  waiting?.postMessage("take_over" satisfies Said);
}

export async function install(): Promise<void> {
  shell.mayInstall = false;
  await offer?.prompt();
}

async function watchWorker(workers: ServiceWorkerContainer): Promise<void> {
  let registration: ServiceWorkerRegistration;
  try {
    registration = await workers.register("/worker.js", { updateViaCache: "none" });
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    return; // Switched off, or no room: everything works without it, but for a start without a connection.
  }
  workers.addEventListener("controllerchange", () => {
    if (isWanted) location.reload();
  });
  void lookAt(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const found = registration.installing;
    found?.addEventListener("statechange", () => {
      if (found.state === "installed" && workers.controller !== null) void lookAt(found);
    });
  });
  const look = (): void => void registration.update().catch(() => undefined); // Without a connection there is nothing newer.
  setInterval(look, LOOK_MS);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") look();
  });
}

/** A worker that waits with another build than this page's is a newer client; one with the same needs no word. */
async function lookAt(worker: ServiceWorker | null): Promise<void> {
  if (worker === null) return;
  waiting = worker;
  shell.hasNewer = (await buildOf(worker)) !== BUILD;
}

function buildOf(worker: ServiceWorker): Promise<string | null> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const timer = setTimeout(() => resolve(null), ANSWER_MS_MAX);
    port1.onmessage = ({ data }) => {
      clearTimeout(timer);
      resolve(data as string);
    };
    worker.postMessage("which_build" satisfies Said, [port2]);
  });
}
