/** Commands on their way to their acknowledgement: none is lost, none counts twice. */

import type { RefusedFrame } from "../contracts";
import { pauseMs, randomText } from "./backoff";
import { Failed } from "./http";

const COMMAND_ID_BYTES = 15;
const ANSWER_MS_MAX = 60_000;

interface Waiting {
  content: string;
  tries: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  limit: ReturnType<typeof setTimeout>;
  resolve: (version: number) => void;
  reject: (reason: Failed) => void;
}

export class Commands {
  readonly #waiting = new Map<string, Waiting>();

  constructor(private readonly post: (content: string) => void) {}

  /** The version at which the command stands. Raises Failed when it is refused, or nobody answered. */
  send(command: { type: string }): Promise<number> {
    const id = randomText(COMMAND_ID_BYTES);
    const content = JSON.stringify({ ...command, id });
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => this.#take(id)?.reject(new Failed("no_answer", "")), ANSWER_MS_MAX);
      this.#waiting.set(id, { content, tries: 0, timer: undefined, limit, resolve, reject });
      this.post(content);
    });
  }

  acknowledged(id: string, version: number): void {
    this.#take(id)?.resolve(version);
  }

  /** Final, or to be tried again after a pause with the same id. */
  refused({ id, code, message, retry }: RefusedFrame): void {
    const waiting = id ? this.#waiting.get(id) : undefined;
    if (!id || waiting === undefined) return;
    if (retry) {
      clearTimeout(waiting.timer);
      waiting.timer = setTimeout(() => this.post(waiting.content), pauseMs(waiting.tries++));
    } else this.#take(id)?.reject(new Failed(code, message));
  }

  /** A new connection: nobody knows which commands the old one still delivered. */
  sendAgain(): void {
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer);
      this.post(waiting.content);
    }
  }

  end(reason: Failed): void {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(reason);
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return undefined;
    clearTimeout(waiting.timer);
    clearTimeout(waiting.limit);
    this.#waiting.delete(id);
    return waiting;
  }
}
