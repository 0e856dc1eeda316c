/** How each game is explained: sentences in their order, some with an example. Open this to explain a game. */

import type { Suit } from "../cards/card";
import type { RuleWords } from "../words/rules/en";
import type { Key } from "../words/words";

export type Example =
  /** One trick; `winner` is the place of the card that takes it. */
  | { kind: "trick"; cards: readonly string[]; winner: number; trump?: Suit }
  /** What may be played from a hand when `led` was led. */
  | { kind: "hand"; led: string; hand: readonly string[]; legal: readonly string[] }
  /** A face-down card beside the others. */
  | { kind: "hidden"; hand: readonly string[] }
  /** A card that changes sides. */
  | { kind: "joins"; card: string }
  | { kind: "values"; of: readonly { cards: readonly string[]; points: number }[] }
  | { kind: "contracts"; of: readonly { contract: Key; points: number | null }[] };

export interface Step {
  words: keyof RuleWords;
  example?: Example;
}

const SHORT_FOLLOW: Step = { words: "ks.follow", example: { kind: "trick", cards: ["9D", "JD", "AS", "KD"], winner: 3 } };
const SHORT_HEARTS: Step = { words: "ks.hearts" };
const SHORT_KING: Step = { words: "ks.king", example: { kind: "hand", led: "8C", hand: ["KH", "7H", "AD", "9S"], legal: ["KH"] } };
const SHORT_CONTRACTS: Step = {
  words: "ks.contracts",
  example: {
    kind: "contracts",
    of: [
      { contract: "contract.no_tricks", points: -20 },
      { contract: "contract.no_hearts", points: -20 },
      { contract: "contract.no_kings_or_jacks", points: -20 },
      { contract: "contract.no_queens", points: -40 },
      { contract: "contract.no_king_of_hearts", points: -160 },
      { contract: "contract.no_last_two", points: -80 },
      { contract: "contract.nothing", points: null },
    ],
  },
};

export const STEPS: Readonly<Record<string, readonly Step[]>> = {
  court_piece: [
    { words: "cp.aim" },
    { words: "cp.trump", example: { kind: "hidden", hand: ["AH", "QH", "9C", "4D"] } },
    { words: "cp.follow", example: { kind: "hand", led: "7H", hand: ["KH", "3H", "AS", "6C", "2D"], legal: ["KH", "3H"] } },
    { words: "cp.win", example: { kind: "trick", cards: ["KH", "9H", "2S", "AH"], winner: 2, trump: "S" } },
    { words: "cp.ask" },
    { words: "cp.power" },
    { words: "cp.pile" },
    { words: "cp.round" },
    { words: "cp.coins" },
  ],
  king_20: [
    { words: "k20.aim" },
    { words: "k20.declare" },
    {
      words: "k20.contracts",
      example: {
        kind: "contracts",
        of: [
          { contract: "contract.trump", points: 50 },
          { contract: "contract.no_tricks", points: -50 },
          { contract: "contract.no_hearts", points: -30 },
          { contract: "contract.no_boys", points: -60 },
          { contract: "contract.no_girls", points: -100 },
          { contract: "contract.no_king_of_hearts", points: -320 },
          { contract: "contract.no_last_two", points: -180 },
        ],
      },
    },
    { words: "k20.follow", example: { kind: "trick", cards: ["8C", "QC", "3C", "TC"], winner: 1 } },
    { words: "k20.trump", example: { kind: "hand", led: "9S", hand: ["5H", "2H", "KD", "7C"], legal: ["5H", "2H"] } },
    { words: "k20.throw", example: { kind: "hand", led: "9C", hand: ["KS", "JD", "4H", "2D"], legal: ["KS", "JD"] } },
    { words: "k20.hearts" },
    { words: "k20.end" },
  ],
  king_short: [{ words: "ks.aim" }, SHORT_CONTRACTS, SHORT_FOLLOW, SHORT_HEARTS, SHORT_KING, { words: "ks.end" }],
  king_long: [{ words: "kl.aim" }, { words: "kl.choose" }, SHORT_CONTRACTS, SHORT_FOLLOW, SHORT_HEARTS, SHORT_KING, { words: "kl.end" }],
  kings_and_rebels: [
    { words: "kr.aim" },
    {
      words: "kr.points",
      example: {
        kind: "values",
        of: [
          { cards: ["3S"], points: 30 },
          { cards: ["AH", "KH", "QH", "JH", "TH"], points: 10 },
          { cards: ["5D"], points: 5 },
        ],
      },
    },
    { words: "kr.bid" },
    { words: "kr.convert" },
    { words: "kr.join", example: { kind: "joins", card: "AH" } },
    { words: "kr.trick", example: { kind: "trick", cards: ["KD", "3S", "4C", "AD", "9D"], winner: 2, trump: "C" } },
    { words: "kr.win" },
    { words: "kr.coins" },
  ],
};
