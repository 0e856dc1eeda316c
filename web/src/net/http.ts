/** One request to the server this page came from, with its tries. Open this when an answer is not tried again. */

import type { Problem } from "../contracts";
import { say, told } from "../words/words";
import { pauseMs, randomText, sleep } from "./backoff";

/** Refused (a code of the server's), or nobody answered (`unreachable`). */
export class Failed extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status: number = 0,
  ) {
    super(told(`refused.${code}`, message));
  }
}

export interface Asked {
  body?: unknown;
  /** In place of a body: bytes as they are, of a type of their own. */
  bytes?: Blob;
  headers?: Record<string, string>;
  token?: string;
  /** Doing it twice does harm: tried again only when it was surely not done. */
  once?: boolean;
  tries?: number;
}

const TRIES = 5;
const KEY_BYTES = 18;
const ANSWER_MS_MAX = 15_000;
const NO_CONTENT = 204;
const UNAVAILABLE = 503;
const RETRIED = new Set([502, UNAVAILABLE, 504]);

export async function ask<Answer>(method: string, path: string, asked: Asked = {}): Promise<Answer> {
  const idempotencyKey = randomText(KEY_BYTES);
  for (let tries = 1; ; tries += 1) {
    const failure = await answered<Answer>(method, path, asked, idempotencyKey);
    if (!(failure instanceof Failed)) return failure.answer;
    const mayRepeat = failure.status === 0 ? !asked.once : RETRIED.has(failure.status) && (!asked.once || failure.status === UNAVAILABLE);
    if (!mayRepeat || tries >= (asked.tries ?? TRIES)) throw failure;
    await sleep(pauseMs(tries));
  }
}

async function answered<Answer>(
  method: string,
  path: string,
  { body, bytes, headers: more, token }: Asked,
  idempotencyKey: string,
): Promise<Failed | { answer: Answer }> {
  const headers = new Headers(more);
  if (bytes !== undefined) headers.set("Content-Type", bytes.type);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
  if (method === "POST") headers.set("Idempotency-Key", idempotencyKey);
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      ...(bytes !== undefined ? { body: bytes } : body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error;
    return new Failed("unreachable", say("failed.unreachable"));
  }
  if (!response.ok) return refusal(response);
  return { answer: (response.status === NO_CONTENT ? undefined : await response.json()) as Answer };
}

async function refusal(response: Response): Promise<Failed> {
  try {
    const { code, message } = (await response.json()) as Problem;
    return new Failed(code, message ?? code, response.status);
  } catch {
    // A proxy's page instead of a reason.
    return new Failed("answer_unreadable", say("failed.unreachable"), response.status);
  }
}
