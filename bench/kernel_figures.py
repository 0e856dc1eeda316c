"""What the bots' kernels come to in this process, compiled or not. Open this about what is timed by kernels_bench.

    python -m bench.kernel_figures

A line that comes in says what to measure, `kernels` or `decisions`, and the answer is a line of JSON. Everything is
drawn beforehand; times are of the CPU.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from random import Random
from statistics import quantiles
from typing import Any, Final, get_args

import msgspec
from bench.rules_bench import TABLES

from darbar_bots import duels, worlds
from darbar_bots.court_piece.playout import NOBODY, Playout, Table, play_out, play_out_by_chance
from darbar_bots.playouts import BIT_OF, SUIT_BITS, next_lot
from darbar_bots.policies import find
from darbar_bots.policy import Policy
from darbar_bots.worlds import Worlds
from darbar_rules.cards import CARDS_IN_DECK, CARDS_IN_SUIT
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import TrumpMode

SECONDS_MIN: Final = 0.5
ROUNDS: Final = 300
WORLDS: Final = 500
ROUNDS_DECIDED: Final = 3
DECISIONS: Final = 121
FORMS: Final = get_args(TrumpMode)

Deal = tuple[Table, list[int], int, int]


class Figures(msgspec.Struct, frozen=True):
    """Of one turn. `result` is what the same rounds came to: it is the same with and without a compiler."""

    compiled: bool
    moves_a_second: float
    worlds_a_second: float
    result: int


class Spent(msgspec.Struct, frozen=True):
    """Milliseconds of the CPU for a decision."""

    p95: float
    middle: float
    decisions: int


class Decisions(msgspec.Struct, frozen=True):
    """By the table at which they were due."""

    compiled: bool
    spent: dict[str, Spent]


def blank(form: str) -> Table:
    """The beginning of a round that seat 0 called, spades where the trump lies open."""
    return Table(
        seat=0,
        lying=0,
        led=0,
        best=0,
        winning=0,
        power=SUIT_BITS[3] if form == "open" else 0,
        since=0,
        kaat=form == "kaat",
        fresh=False,
        caller=0,
        pile=0,
        streak=NOBODY,
        collected=(0, 0),
        first_pile=3,
        later_pile=2,
        tricks_left=CARDS_IN_SUIT,
        no_pick_up=0,
    )


def dealt(form: str, dice: Random) -> Deal:
    """A table, its hands, the face-down card's suit and the card; 0 where none lies so."""
    bits = list(BIT_OF)
    dice.shuffle(bits)
    hands = [sum(bits[start : start + CARDS_IN_SUIT]) for start in range(0, CARDS_IN_DECK, CARDS_IN_SUIT)]
    if form != "hidden":
        return blank(form), hands, 0, 0
    indicator = bits[0]
    hands[0] ^= indicator
    return blank(form), hands, next(suit for suit in SUIT_BITS if suit & indicator), indicator


def moves_of(deal: Deal, lot: int) -> int:
    """How many cards are played in this round by chance."""
    table, hands, hidden, indicator = deal
    playout = Playout(table, hands, hidden=hidden, indicator=indicator)
    moves, over = 0, False
    while not over:
        lot = next_lot(lot)
        over = playout.lay(playout.any_choice(lot))
        moves += 1
    return moves


def moves_a_second(deals: Sequence[Deal]) -> tuple[float, int]:
    """Cards played by chance from full hands, in rounds of every form; and what all rounds came to."""
    moves = sum(moves_of(deal, lot) for lot, deal in enumerate(deals, 1))
    played = result = 0
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS_MIN:
        result = 0
        for lot, (table, hands, hidden, indicator) in enumerate(deals, 1):
            even, _ = play_out_by_chance(table, hands, lot, hidden=hidden, indicator=indicator)
            result = result * 7 + even & 0xFFFFFFFF
        played += moves
    return played / spent, result


def worlds_a_second() -> tuple[float, int]:
    """Worlds drawn by the seat that leads the first trick of an open round, each played out by the quick rule."""
    table, hands, _, _ = dealt("open", Random(1))
    own = hands[0]
    places = Worlds(sum(BIT_OF) & ~own, (0, *[CARDS_IN_SUIT] * 3), (0, 0, 0, 0))
    drawn = 0
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS_MIN:
        dice, result = Random(2), 0
        for _ in range(WORLDS):
            world = places.draw(dice)
            world[0] = own
            even, _ = play_out(table, world)
            result = result * 7 + even & 0xFFFFFFFF
        drawn += WORLDS
    return drawn / spent, result


def searched_tables() -> dict[str, Policy]:
    """Tables at which the strong level searches, one for each of its policies, and that policy."""
    found: dict[str, Policy] = {}
    for name, (game, _) in TABLES.items():
        policy = find(game, "strong")
        if policy is not find(game, "normal") and all(policy is not other for other in found.values()):
            found[name] = policy
    return found


def views_of(name: str) -> list[Any]:
    """Positions of rounds that the normal level plays, of each kind of table alike, from all parts of a round."""
    game_name, choices = TABLES[name]
    game, found = BY_NAME[game_name], list[Any]()
    for choice in choices:
        options = game.options_type(**choice)
        policies = [find(game_name, "normal")] * game.seat_counts(options)[0]
        duels.play(game, options, policies, seed=1, rounds=ROUNDS_DECIDED, look=lambda view, _: found.append(view))
    return Random(0).sample(found, min(DECISIONS, len(found)))


def milliseconds_of_decisions() -> Decisions:
    """Of each policy that searches; its first decision is not timed."""
    figures = {}
    for name, policy in searched_tables().items():
        spent = []
        for view in views_of(name):
            began = time.process_time()
            policy.decide(view)
            spent.append(1000 * (time.process_time() - began))
        parts = quantiles(spent[1:], n=20)
        figures[name] = Spent(p95=parts[-1], middle=parts[9], decisions=len(spent) - 1)
    assert figures, "no level searches: there is no decision to measure"
    return Decisions(is_compiled(), figures)


def is_compiled() -> bool:
    return not str(worlds.__file__).endswith(".py")


def measured(deals: Sequence[Deal]) -> Figures:
    moves, result = moves_a_second(deals)
    drawn, other_result = worlds_a_second()
    return Figures(
        compiled=is_compiled(),
        moves_a_second=moves,
        worlds_a_second=drawn,
        result=result ^ other_result,
    )


def main() -> None:
    dice = Random(0)
    deals = [dealt(form, dice) for _ in range(ROUNDS // len(FORMS)) for form in FORMS]
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        found = measured(deals) if line.strip() == "kernels" else milliseconds_of_decisions()
        print(msgspec.json.encode(found).decode(), flush=True)


if __name__ == "__main__":
    main()
