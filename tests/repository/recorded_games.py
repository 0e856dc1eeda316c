"""What one seat is sent of a game, with what it may know in between, for the web client's own tests.

`make documents` writes the files anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from tracked import ROOT

from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_rules.testing import random_game, sent

FOLDER = ROOT / "web/tests/recorded"
SEED = 11
ROUNDS = 2
SEAT = 0
# So many events between two views: each kind of event comes right before one in some game, and the files stay small.
EVENTS_BETWEEN = 7


def recorded(game: AnyGame) -> str:
    """One event a line."""
    options = game.options_type()
    lines = [{"view": game.view(game.new(options, game.seat_counts(options)[0]), SEAT)}, *_events(game)]
    return "".join(msgspec.json.encode(line).decode() + "\n" for line in lines)


def _events(game: AnyGame) -> Iterator[dict[str, object]]:
    count = 0
    for step in random_game(game, game.options_type(), SEED, rounds_max=ROUNDS):
        state = step.before
        for event in step.events:
            shown = sent(game, state, event)
            state = game.evolve(state, event)
            line: dict[str, object] = {"kind": game.kind_of(event), "public": shown.public}
            if SEAT in shown.secret:
                line["secret"] = shown.secret[SEAT]
            count += 1
            if count % EVENTS_BETWEEN == 0 or game.kind_of(event) in ("round_dealt", "round_ended"):
                line["view"] = game.view(state, SEAT)
            yield line


def files() -> dict[str, str]:
    """By name."""
    return {f"{game.name}.jsonl": recorded(game) for game in ALL}
