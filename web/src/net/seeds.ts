/** This client's own part in the chance of a deal: a random string, committed to in the count-in, opened at zero. */

import type { TableView } from "../contracts";
import { promiseKey } from "../model/state";
import { randomText } from "./backoff";

/** More chance than a shuffle of 52 cards can use up. */
const STRING_BYTES = 24;

export class SeedStrings {
  #countIn = "";
  #string = "";
  #opened = false;
  /** The own strings that were opened, by game and round. */
  readonly kept: Record<string, string> = {};

  constructor(private readonly send: (command: { type: string; sha256?: string; string?: string }) => void) {}

  /** Does what is due: called after every change of the table's phase. */
  async follow(table: TableView, seat: number | null): Promise<void> {
    // The digest is there on secure pages alone: elsewhere this client adds nothing to the chance.
    if (seat === null || !crypto.subtle) return;
    const countIn = [table.game_number, table.round, table.attempt].join();
    if (table.phase === "counting_in" && countIn !== this.#countIn && !table.seats[seat]?.committed) {
      this.#countIn = countIn;
      this.#string = randomText(STRING_BYTES);
      this.#opened = false;
      this.send({ type: "seed_commit", sha256: await sha256(this.#string) });
    } else if (table.phase === "opening_seeds" && countIn === this.#countIn && !this.#opened) {
      this.#opened = true;
      this.kept[promiseKey(table.game_number, table.round)] = this.#string;
      this.send({ type: "seed_open", string: this.#string });
    }
  }
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
