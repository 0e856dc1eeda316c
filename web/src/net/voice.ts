/** Voice notes: the microphone of the device, and where a recording goes. Open this when nothing is recorded. */

import type { VoiceRights } from "../contracts";
import { asAccount } from "./session";

/** Longer is no note. */
const RECORD_MS_MAX = 6_900;
const TYPES = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];

/** Why there is no microphone: in words by `voice.fault.KIND`. */
export type MicrophoneFault = "insecure" | "refused" | "missing";

export class NoMicrophone extends Error {
  constructor(readonly fault: MicrophoneFault) {
    super(fault);
  }
}

/** Raises NoMicrophone. */
export async function openMicrophone(): Promise<MediaStream> {
  if (!navigator.mediaDevices || typeof MediaRecorder === "undefined") throw new NoMicrophone("insecure");
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new NoMicrophone(error.name === "NotAllowedError" || error.name === "SecurityError" ? "refused" : "missing");
  }
}

/** One recording, which ends by itself; the microphone is closed with it. */
export class Recording {
  readonly #recorder: MediaRecorder;
  readonly #parts: Blob[] = [];
  readonly #limit: ReturnType<typeof setTimeout>;
  readonly ended: Promise<Blob>;

  constructor(private readonly stream: MediaStream) {
    const type = TYPES.find((known) => MediaRecorder.isTypeSupported(known));
    this.#recorder = new MediaRecorder(stream, type === undefined ? {} : { mimeType: type });
    this.ended = new Promise((resolve) => {
      this.#recorder.onstop = () => {
        closeMicrophone(this.stream);
        resolve(new Blob(this.#parts, { type: this.#recorder.mimeType.split(";")[0]! }));
      };
    });
    this.#recorder.ondataavailable = ({ data }) => this.#parts.push(data);
    this.#recorder.start();
    this.#limit = setTimeout(() => this.stop(), RECORD_MS_MAX);
  }

  stop(): void {
    clearTimeout(this.#limit);
    if (this.#recorder.state !== "inactive") this.#recorder.stop();
  }
}

export const closeMicrophone = (stream: MediaStream): void => stream.getTracks().forEach((track) => track.stop());

/** Raises Failed: what was recorded is no note, or could not be sent. */
export async function sendNote(ticket: string, recorded: Blob): Promise<void> {
  await asAccount("POST", "/v1/voice-notes", { bytes: recorded, headers: { "Upload-Ticket": ticket }, once: true, tries: 1 });
}

export const voiceRights = (): Promise<VoiceRights> => asAccount<VoiceRights>("GET", "/v1/me/voice", { tries: 1 });

export async function reportNote(noteId: string): Promise<void> {
  await asAccount("POST", `/v1/voice-notes/${encodeURIComponent(noteId)}/report`, { once: true });
}

/** Plays it; the promise ends with the sound. Where the browser can't or won't, it ends at once. */
export async function playNote(path: string): Promise<void> {
  const sound = new Audio();
  const plays = sound.canPlayType("audio/ogg; codecs=opus") !== "";
  sound.src = plays ? path : `${path}&form=m4a`;
  const ended = new Promise<void>((resolve) => {
    sound.onended = () => resolve();
    sound.onerror = () => resolve();
  });
  try {
    await sound.play();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return;
  }
  await ended;
}
