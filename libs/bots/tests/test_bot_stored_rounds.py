"""Rounds that bots played once are played again as they were. Open this when a bot decides otherwise than before.

The weights of the bots were found by playing, and no sentence says what they are. So a bot that decides otherwise, with
the same view, is seen here. When that is meant, and the tests of its strength hold, store the rounds anew:

    .venv/bin/python libs/bots/tests/test_bot_stored_rounds.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from darbar_bots.duels import play
from darbar_bots.policies import LEVELS, POLICIES, find
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_rules.testing import pairwise_options

STORED = Path(__file__).parent / "golden"
SEEDS = range(2)
# Those that somebody has written bots for.
GAMES = [BY_NAME[name] for name in POLICIES]


class StoredRound(msgspec.Struct, frozen=True):
    """What bots of one level decided in one round, in order: a card, or the kind of a decision and what it names."""

    level: str
    options: dict[str, Any]
    seed: int
    decided: str


def played(game: AnyGame, level: str, options: Any, seed: int) -> str:
    words: list[str] = []
    bots = [find(game.name, level)] * game.seat_counts(options)[0]
    play(game, options, bots, seed=seed, look=lambda _, decision: words.append(word(game, decision)))
    return " ".join(words)


def word(game: AnyGame, decision: Any) -> str:
    kind = next(kind for kind, made in game.decisions.items() if type(decision) is made)
    named = list(msgspec.to_builtins(decision).values())
    if kind == "play_card":
        return str(named[0])
    return f"{kind}{json.dumps(named, separators=(',', ':'))}"


def stored(game: AnyGame) -> list[StoredRound]:
    lines = (STORED / f"{game.name}.ndjson").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=StoredRound) for line in lines]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_bots_of_every_level_play_their_stored_rounds_as_they_did(game: AnyGame) -> None:
    rounds = stored(game)
    assert {one.level for one in rounds} == set(LEVELS)
    for one in rounds:
        options = msgspec.convert(one.options, game.options_type)
        assert played(game, one.level, options, one.seed) == one.decided, one


def rounds_of(game: AnyGame) -> Iterator[StoredRound]:
    """Good bots at every kind of table, and all levels at the usual one."""
    tables = [("normal", options) for options in pairwise_options(game)]
    tables += [(level, game.options_type()) for level in LEVELS]
    for level, options in tables:
        for seed in SEEDS:
            yield StoredRound(level, msgspec.to_builtins(options), seed, played(game, level, options, seed))


if __name__ == "__main__":
    for each in GAMES:
        lines = [msgspec.json.encode(one) for one in rounds_of(each)]
        (STORED / f"{each.name}.ndjson").write_bytes(b"\n".join(lines) + b"\n")
