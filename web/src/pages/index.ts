/** Every page beside the table and the first screen, by the first part of its address; each loaded when it is opened. */

import type { Component } from "svelte";
import type { Catalogue, TableRef } from "../contracts";

export interface PageProps {
  /** What stands after the page's name in the address. */
  id: string;
  catalogue: Catalogue;
  open: (table: TableRef, startsNow: boolean) => void;
}

export const PAGES: Readonly<Record<string, () => Promise<{ default: Component<PageProps> }>>> = {
  blocked: () => import("./Blocked.svelte"),
  create: () => import("../lobby/Create.svelte"),
  leaders: () => import("./Leaders.svelte"),
  player: () => import("./Profile.svelte"),
  profile: () => import("./Profile.svelte"),
  replay: () => import("../replay/Replay.svelte"),
  rules: () => import("./Rules.svelte"),
  settings: () => import("./SettingsPage.svelte"),
  tables: () => import("../lobby/Tables.svelte"),
  wallet: () => import("./Wallet.svelte"),
};
