/** What this player does about the others at the table: hears them no more, blocks them, reports a name. */

import type { Command } from "../model/look";
import { commandOf, type SeatDeed } from "../model/people";
import { isCaughtUp, type State } from "../model/state";
import { blockSeat, reportName } from "../net/accounts";
import { Failed } from "../net/http";
import { seated } from "../net/tables";
import { keepMuted, mutedAfter, mutedAt } from "../ui/mutes";
import { say } from "../words/words";

/** No player's handle: the lobby then says that there is no such player. */
const NOBODY = "-";

export class Neighbours {
  /** Seats. */
  muted = $state.raw<ReadonlySet<number>>(new Set());
  /** Over this connection. */
  hasTold = false;

  constructor(
    private readonly tableId: string,
    private readonly send: (command: Command) => void,
    private readonly tell: (sentence: string) => void,
  ) {}

  changed(before: State, now: State): void {
    this.muted = mutedAfter(this.muted, before, now);
  }

  async act(deed: SeatDeed, seat: number, name: string): Promise<void> {
    const command = commandOf(deed, seat);
    if (command !== null) this.send(command);
    if (deed === "mute" || deed === "hear") await this.#hush(seat, deed === "mute");
    if (deed === "block" || deed === "report_name") await this.#ask(deed, seat, name);
  }

  /** Once a connection: this page may be new, and the process that has the table another one than before. */
  async tellMutes(state: State): Promise<void> {
    if (this.hasTold || !isCaughtUp(state) || state.seat === null) return;
    this.hasTold = true;
    const handles = mutedAt(this.tableId);
    if (handles.length === 0) return;
    try {
      const people = await seated(this.tableId);
      this.muted = new Set(people.flatMap((person, seat) => (person !== null && handles.includes(person.handle) ? [seat] : [])));
    } catch (error) {
      // Then it is as this page knows it.
      if (!(error instanceof Failed)) throw error;
    }
    for (const seat of this.muted) this.send({ type: "mute", seat, muted: true });
  }

  async #hush(seat: number, isMuted: boolean): Promise<void> {
    this.muted = new Set(isMuted ? [...this.muted, seat] : [...this.muted].filter((other) => other !== seat));
    try {
      const handle = (await seated(this.tableId))[seat]?.handle;
      const others = mutedAt(this.tableId).filter((other) => other !== handle);
      if (handle !== undefined) keepMuted(this.tableId, isMuted ? [...others, handle] : others);
    } catch (error) {
      // Then it holds as long as this page is open.
      if (!(error instanceof Failed)) throw error;
    }
  }

  async #ask(deed: "block" | "report_name", seat: number, name: string): Promise<void> {
    try {
      if (deed === "block") await blockSeat(this.tableId, seat);
      else await reportName((await seated(this.tableId))[seat]?.handle ?? NOBODY);
      this.tell(say(deed === "block" ? "deed.blocked" : "deed.name_reported", { name }));
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.tell(error.message || say("failed.unreachable"));
    }
  }
}
