/** On the way to a table: one at a time, and when it fails, why. */

import type { TableRef } from "../contracts";
import { Failed } from "../net/http";
import { say } from "../words/words";
import { enter } from "./me.svelte";

export class Going {
  isBusy = $state(false);
  failure = $state("");

  /** As whoever plays here; `open` is called with what was found. */
  async to(find: () => Promise<TableRef>, open: (table: TableRef) => void): Promise<void> {
    this.isBusy = true;
    this.failure = "";
    try {
      await enter();
      open(await find());
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.failure = error.message || say("failed.unreachable");
    } finally {
      this.isBusy = false;
    }
  }
}
