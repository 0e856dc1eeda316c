"""Write the golden log of a game that has none yet: python libs/rules/tests/golden/write.py court_piece.

A log that is there is for ever: old games must be read by all rules to come. New events get a further log,
`<game>_<what is new>.ndjson`, beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_rules.testing import facts_of, options_with, random_game

FOLDER = Path(__file__).parent


class Log(NamedTuple):
    """What is played for a game's log, and what of a spectator's view is noted after each event."""

    tables: tuple[tuple[dict[str, Any], int, int, float], ...]  # options, seed, rounds, how often powers are used
    seen: tuple[str, ...]


# Of a game that is not named below.
PLAIN = Log(tables=(({}, 1, 3, 0.3),), seen=("hand_counts", "totals"))

KING_SEEN = (
    "phase",
    "hand_counts",
    "declarer",
    "contract",
    "trump",
    "hearts_banned",
    "counts",
    "points",
    "totals",
    "last_finished",
)
EVERY_DUTY = {
    "hearts_broken_by": "played",
    "must_overtrump": True,
    "must_underplay": True,
    "heart_forced_in_king_of_hearts": True,
    "early_stop": False,
}

LOGS: dict[str, Log] = {
    "court_piece": Log(
        tables=(
            ({"trump": "hidden", "four_point_card": "2", "six_point_finish": True}, 396, 3, 0.05),
            ({"trump": "hidden", "fresh_win_must_be_after_showing": True}, 1, 3, 0.9),
            ({"trump": "open", "piles": "5-3-3", "ace_cannot_win_pile": True}, 1, 2, 0.3),
            ({"trump": "kaat"}, 1, 1000, 0.3),
        ),
        seen=("phase", "hand_counts", "trump", "trump_shown", "pile", "streak", "collected", "totals"),
    ),
    "king_20": Log(tables=(({}, 1, 1000, 0.3), (EVERY_DUTY, 2, 4, 0.3)), seen=KING_SEEN),
    "king_short": Log(
        tables=(({}, 1, 1000, 0.3), ({"early_stop": False, "positive_restrictions": False}, 2, 3, 0.3)), seen=KING_SEEN
    ),
    "king_long": Log(
        tables=(({}, 1, 1000, 0.3), ({"blind_choice": True, "first_leader": "next"}, 2, 3, 0.3)), seen=KING_SEEN
    ),
    "kings_and_rebels": Log(
        tables=(
            ({"seats": 4, "last_seat_must_bid": False, "rounds": 1}, 112, 1, 0.95),
            ({"three_of_spades_top_trump": True}, 217, 1000, 0.5),
            ({"seats": 9, "decks": 2, "convert_cards": "public", "later_equal_card_wins": True}, 16, 2, 0.3),
        ),
        seen=("phase", "hand_counts", "attempt", "passed", "high_bid", "trump", "rebels", "captured", "totals"),
    ),
}


def lines(game: AnyGame) -> Iterator[dict[str, Any]]:
    """A line that begins a game, then each event with what it led to."""
    log = LOGS.get(game.name, PLAIN)
    for values, seed, rounds, share in log.tables:
        options = options_with(game, values)
        seats = game.seat_counts(options)[0]
        state = game.new(options, seats)
        yield {"game": game.name, "options": values, "seats": seats}
        for step in random_game(game, options, seed, rounds_max=rounds, power_share=share):
            for event in step.events:
                state = game.evolve(state, event)
                yield {
                    "kind": game.kind_of(event),
                    "event": {name: value for name, value in asdict(event).items() if value is not None},
                    "after": facts_of(game, state, seen=log.seen),
                }


def write(game: AnyGame) -> None:
    """Raises FileExistsError for a log that is there: it is for ever."""
    path = FOLDER / f"{game.name}.ndjson"
    with path.open("x") as log:
        log.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines(game))


if __name__ == "__main__":
    write(BY_NAME[sys.argv[1]])
