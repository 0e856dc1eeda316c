/** Where one is, by what stands after the # of the address: `#/table/ID` can be opened, sent and reloaded. */

export interface Place {
  /** Empty: the first screen. */
  page: string;
  id: string;
}

let now = $state.raw<Place>(read());
/** Whether this page has led here, so that the browser's way back stays in it. */
let steps = 0;

globalThis.addEventListener?.("hashchange", () => (now = read()));

/** Whoever reads it is told when it changes. */
export const place = (): Place => now;

export const hrefOf = (page: string, id = ""): string => `#/${page}${id === "" ? "" : `/${encodeURIComponent(id)}`}`;

export function go(page: string, id = ""): void {
  steps += 1;
  location.hash = hrefOf(page, id);
}

/** In place of where one is: the way back does not lead here. */
export function goInstead(page: string, id = ""): void {
  history.replaceState(null, "", hrefOf(page, id));
  now = read();
}

export function back(): void {
  if (steps > 0) {
    steps -= 1;
    history.back();
  } else goInstead("");
}

function read(): Place {
  const [page = "", id = ""] = (globalThis.location?.hash ?? "").slice(2).split("/");
  try {
    return { page, id: decodeURIComponent(id) };
  } catch (error) {
    if (!(error instanceof URIError)) throw error; // An address that was cut in the middle leads to the first screen.
    return { page: "", id: "" };
  }
}
