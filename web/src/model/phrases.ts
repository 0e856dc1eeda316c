/** What can be said at a table, in the order in which it is offered. */

import type { Say } from "../contracts";

export type Phrase = Say["phrase"];

export const SENTENCES: readonly Phrase[] = [
  "hello", "good_luck", "well_played", "thank_you", "sorry", "oops", "one_moment", "hurry_up", "good_game", "goodbye",
];
export const REACTIONS: readonly Phrase[] = ["thumbs_up", "clapping", "laughing", "surprised", "sad", "angry"];

export const isReaction = (phrase: string): boolean => (REACTIONS as readonly string[]).includes(phrase);
