"""One history: a table's round, or its whole game, from a seed. Open this first.

The seed draws who plays what, which faults come when, and every moment that a real machine would leave to chance. The
same seed is the same history, in any process: `python tests/simulator/simulated_history.py 4711` tells its story, and
with `--whole-game` that of the whole game.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import simulated_faults as faults
import virtual_time
from database_double import Executed
from invariants import violations
from product_seams import Seams, little_idling
from simulated_faults import Fault
from simulated_player import SimulatedPlayer
from table_company import Company, person
from virtual_loop import VirtualLoop
from virtual_time import Running

# After the last fault everything has to be over by then, in virtual seconds.
QUIET_SECONDS_MAX = 90.0
# Without faults nobody waits for anything but cards.
UNDISTURBED_SECONDS_MAX = 8.0
GAME_SECONDS_MAX = 900.0
NAMES = ("ann", "bob", "cyn", "dan")
SKEW_SECONDS_MAX = 3.0


@dataclass
class Told:
    """What became of a history."""

    seed: int
    violations: list[str]
    story: list[str]
    digest: str
    decisions: int
    faults: list[Fault] = field(default_factory=list)


class Draw:
    """What a history is about."""

    def __init__(self, seed: int, *, whole_game: bool) -> None:
        dice = random.Random(f"history {seed} {whole_game}")
        game, options, seats = dice.choice(GAMES_WHOLE if whole_game else GAMES_OF_A_ROUND)
        self.game: str = game
        self.options: dict[str, Any] = options
        self.seats: int = seats
        self.bots = dice.choice((0, 0, 0, 1, 2, 3))
        self.people = min(len(NAMES), seats - self.bots) if seats > self.bots else 1
        self.think_seconds = dice.choice((0.01, 0.02, 0.02, 0.05))
        self.repeats = dice.choice((0.0, 0.0, 0.1, 0.5))
        self.is_skewed = dice.random() < 0.3
        # Somebody proposes to end the game after so many decisions of their own, and everybody agrees (TL-39). With
        # nobody to propose it, or only bots to agree, the round is a whole one.
        self.ends_after = dice.choice((None, 1, 1, 1, 2, 2, 3, 5))
        self.better_place_seconds = dice.choice((0.5, 2.0, 10.0))
        last_seconds = faults.LAST_SECONDS if self.ends_after is None else faults.LAST_SECONDS_OF_SHORT
        self.faults = faults.draw(dice, last_seconds=30.0 if whole_game else last_seconds)
        self.dice = dice


GAMES_OF_A_ROUND: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("court_piece", {"trump": "hidden"}, 4),
    ("court_piece", {"trump": "open"}, 4),
    ("court_piece", {"trump": "kaat"}, 4),
    ("king_short", {}, 4),
    ("king_long", {}, 4),
    ("kings_and_rebels", {"seats": 4, "rounds": 1}, 4),
)
GAMES_WHOLE: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("court_piece", {}, 4),
    ("kings_and_rebels", {"seats": 4, "rounds": 3}, 4),
    ("king_short", {}, 4),
)


def run(seed: int, *, whole_game: bool = False) -> Told:
    """The history of this seed, and every promise that it broke."""
    virtual_time.install()
    with little_idling(), _no_collection():
        return History(seed, whole_game=whole_game).run()


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """What is left of one history must not come to its end in the midst of another, wherever memory is swept up."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class History:
    """The company of one seed, from its beginning to its end."""

    def __init__(self, seed: int, *, whole_game: bool) -> None:
        self.seed = seed
        self._whole_game = whole_game
        self.draw = draw = Draw(seed, whole_game=whole_game)
        self.loop = loop = VirtualLoop(random.Random(f"loop {seed}"))
        Running.loop, Running.chance = loop, random.Random(f"chance {seed}")
        self.company = company = Company(seed, loop, game=draw.game, options=draw.options, seats=draw.seats)
        company.settings["better_place_seconds"] = draw.better_place_seconds
        if draw.is_skewed:
            company.skews = {
                name: draw.dice.uniform(-SKEW_SECONDS_MAX, SKEW_SECONDS_MAX) for name in ("t1", "t2", "wallet")
            }
        company.players = [self._player(name, whole_game) for name in NAMES[: draw.people]]
        self._time_max = GAME_SECONDS_MAX if whole_game else QUIET_SECONDS_MAX

    def run(self, *, executed: list[Executed] | None = None) -> Told:
        """`executed`: where the statements are written down."""
        company, loop = self.company, self.loop
        company.server.executed = executed
        try:
            with Seams(company) as seams:
                company.begin()
                faults.arrange(company, self.draw.faults)
                over_at = max((fault.over_at for fault in self.draw.faults), default=0.0)
                is_over = loop.run_until(self._is_over, time_max=over_at + self._time_max)
                found = [*violations(company, is_over=is_over), *seams.faults(), *self._waits()]
                digest, decisions = self._digest(), len(company.notebook.answers)
                loop.end()
            return Told(self.seed, found, company.story, digest, decisions, self.draw.faults)
        finally:
            Running.loop = None

    def _waits(self) -> Iterator[str]:
        if not self.draw.faults and self.loop.now > UNDISTURBED_SECONDS_MAX and not self._whole_game:
            yield f"nobody waits: a round without a fault has taken {self.loop.now:.1f} s"

    def _player(self, name: str, whole_game: bool) -> SimulatedPlayer:
        draw = self.draw
        dice = random.Random(f"{name} {self.seed}")
        player = SimulatedPlayer(
            self.company, person(name), dice, bots=draw.seats - draw.people, rounds=0 if whole_game else 1
        )
        player.think_seconds, player.repeats = draw.think_seconds, draw.repeats
        if name == NAMES[0] and not whole_game:
            player.ends_after = draw.ends_after
        return player

    def _is_over(self) -> bool:
        company = self.company
        return (
            company.is_created
            and all(player.is_done for player in company.players)
            and not company.tables.open_tables
            and company.has_told_everything()
        )

    def _digest(self) -> str:
        company = self.company
        seen = hashlib.sha256()
        for rows in company.tables.events.values():
            seen.update(b"".join(row.chain for row in rows))
        for kept in company.broker.stream:
            seen.update(kept.message_id.encode() + kept.data)
        # What would be drawn next tells how often anything was drawn.
        seen.update(repr((self.loop.now, self.loop.dice.random(), company.story, company.notebook.answers)).encode())
        return seen.hexdigest()


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Tells the history of each seed.")
    arguments.add_argument("seeds", nargs="+", type=int)
    arguments.add_argument("--whole-game", action="store_true")
    asked = arguments.parse_args()
    for number in asked.seeds:
        told = run(number, whole_game=asked.whole_game)
        print("\n".join((f"seed {number}", *told.story, *told.violations, told.digest, "")))  # noqa: T201
