import { expect, it } from "vitest";
import { rankOf, RANKS, type Suit, suitOf } from "../src/cards/card";
import { type Example, STEPS } from "../src/pages/steps";

const examples = Object.entries(STEPS).flatMap(([game, steps]) => steps.flatMap(({ words, example }) => (example ? [{ game, words, example }] : [])));
const tricks = examples.filter((one): one is typeof one & { example: Example & { kind: "trick" } } => one.example.kind === "trick");
const hands = examples.filter((one): one is typeof one & { example: Example & { kind: "hand" } } => one.example.kind === "hand");

/** As every game here has it: the highest trump, else the highest card of the suit that was led. */
function taker(cards: readonly string[], trump?: Suit): number {
  const strength = (card: string): number =>
    RANKS.indexOf(rankOf(card)) + (suitOf(card) === trump ? 200 : suitOf(card) === suitOf(cards[0]!) ? 100 : 0);
  return cards.findIndex((card) => cards.every((other) => strength(other) <= strength(card)));
}

it.each(tricks)("the drawn trick of $words goes to whom the rules give it", ({ example }) => {
  expect(example.winner).toBe(taker(example.cards, example.trump));
});

it.each(hands)("the drawn hand of $words follows suit where it can", ({ example }) => {
  const following = example.hand.filter((card) => suitOf(card) === suitOf(example.led));
  expect(example.legal.length).toBeGreaterThan(0);
  expect(example.legal.every((card) => example.hand.includes(card))).toBe(true);
  if (following.length > 0) expect(example.legal).toEqual(following);
});

it.each(Object.keys(STEPS))("%s is explained with drawings", (game) => {
  expect(examples.filter((one) => one.game === game).length).toBeGreaterThanOrEqual(3);
});
