"""Games played at random, and the options to play them with. Open this to test something over every game."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeVar

from hypothesis import Phase, settings
from hypothesis import strategies as st

from darbar_rules.deal import FLAGS_IN_BAG, Chance, bag_flags
from darbar_rules.game import AnyGame, Shown
from darbar_rules.options import OptionInvalid

Found = TypeVar("Found")

# The same examples on every machine. A smaller seed says no more than a big one: they are not shrunk.
STEADY: Final = settings(derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate))
ROUNDS_MAX: Final = 1_000  # no game lasts so long
PAIRING_TRIES_MAX: Final = 200
# Asking, showing and the like are taken this often when they are legal.
POWER_SHARE: Final = 0.3


class Step(NamedTuple):
    """A decision of a seat, or a deal of the table (`seat` and `decision` are None), and what came of it."""

    before: Any
    seat: int | None
    decision: Any
    chance: Chance
    events: tuple[Any, ...]
    after: Any


def random_game(
    game: AnyGame, options: Any, seed: int, *, rounds_max: int = ROUNDS_MAX, power_share: float = POWER_SHARE
) -> Iterator[Step]:
    """A whole game, or its first rounds, with random legal decisions; the same one for the same seed."""
    dice = random.Random(seed)
    state = game.new(options, game.seat_counts(options)[0])
    for number in range(1, rounds_max + 1):
        if game.turn(state).game_over:
            return
        chance = chance_of(seed, round=number)
        events = game.deal(state, chance)
        after = evolved(game, state, events)
        yield Step(state, None, None, chance, events, after)
        state = after
        while seats := game.turn(state).seats:
            seat = dice.choice(seats)
            decision = random_decision(game, state, seat, dice, power_share=power_share)
            events = game.decide(state, seat, decision, chance)
            after = evolved(game, state, events)
            yield Step(state, seat, decision, chance, events, after)
            state = after


def random_decision(
    game: AnyGame, state: Any, seat: int, dice: random.Random, *, power_share: float = POWER_SHARE
) -> Any:
    """One of the legal decisions of a seat that is on turn."""
    legal = game.legal(state, seat)
    choices = game.choices(legal)
    powers = len(legal.also)
    plain, powerful = choices[: len(choices) - powers], choices[len(choices) - powers :]
    return dice.choice(powerful if powerful and (not plain or dice.random() < power_share) else plain)


def chance_of(seed: int, *, round: int, game: int = 1) -> Chance:
    """The chance of a round of a game that is known by its number, with a flag from its table's bags."""
    flags = bag_flags(b"bag of %d" % seed, table_id="table", bag=(round - 1) // FLAGS_IN_BAG)
    return Chance(
        b"seed of %d" % seed,
        table_id="table",
        game=game,
        round=round,
        strings=((0, "north"), (2, "south")),
        filtered=flags[(round - 1) % FLAGS_IN_BAG],
    )


def evolved(game: AnyGame, state: Any, events: tuple[Any, ...]) -> Any:
    for event in events:
        state = game.evolve(state, event)
    return state


def sent(game: AnyGame, before: Any, event: Any) -> Shown:
    """What an event lets be seen, as it arrives."""
    shown = game.show(before, event)
    return Shown(plain(shown.public), {seat: plain(part) for seat, part in shown.secret.items()})


def plain(value: Any) -> Any:
    """The value as JSON has it."""
    return json.loads(json.dumps(value, default=asdict))


def facts_of(game: AnyGame, state: Any, *, seen: Iterable[str]) -> dict[str, Any]:
    """What a replay must come to, in plain JSON: no rules in it, and `seen` of it from a spectator's view."""
    turn = game.turn(state)
    result = game.result(state)
    view = game.view(state, None)
    facts: dict[str, Any] = {
        "round": turn.round,
        "turn": turn.turn,
        "seats": turn.seats,
        "hands": [game.view(state, seat).hand for seat in turn.seats],
        "view": {name: getattr(view, name) for name in seen},
        "result": None if result is None else asdict(result),
    }
    told: dict[str, Any] = plain(facts)
    return told


def at_least(fewest: int, found: Iterable[Found]) -> list[Found]:
    """What was looked for, to be looped over: a test that finds fewer than it thinks would check nothing, and fails."""
    things = list(found)
    assert len(things) >= fewest, f"found {len(things)}, not {fewest}"
    return things


def option_values(game: AnyGame) -> dict[str, tuple[Any, ...]]:
    """Every value that each option may have, the default first."""
    return {option.name: option.values for option in game.options}


def options_with(game: AnyGame, values: dict[str, Any]) -> Any | None:
    """The options with these values, the others their defaults; None when that is not offered."""
    options = game.options_type(**values)
    try:
        game.check_options(options)
    except OptionInvalid:
        return None
    return options


def pairwise_options(game: AnyGame, seed: int = 0) -> tuple[Any, ...]:
    """Options of a few tables in which every two values that are offered together meet; of long lists the ends."""
    dice = random.Random(seed)
    values = {name: tuple(dict.fromkeys((*all_of[:2], all_of[-1]))) for name, all_of in option_values(game).items()}
    open_pairs = [
        {one: first, other: second}
        for one, other in combinations(values, 2)
        for first in values[one]
        for second in values[other]
    ]
    tables: list[Any] = []
    while open_pairs:
        pair = open_pairs[0]
        options = _completed(game, values, pair, dice)
        if options is not None:
            tables.append(options)
        open_pairs = [left for left in open_pairs if left is not pair and (options is None or not _has(options, left))]
    return tuple(tables)


def tables(game: AnyGame) -> st.SearchStrategy[Any]:
    """Any options that are offered."""
    drawn = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in option_values(game).items()})
    return drawn.map(lambda values: _mended(game, values))


def seeds() -> st.SearchStrategy[int]:
    """Seeds of random games."""
    return st.integers(0, 2**32 - 1)


def _mended(game: AnyGame, values: dict[str, Any]) -> Any:
    """The options with these values, but the default for each that is not offered beside the others."""
    options = game.options_type(**values)
    try:
        game.check_options(options)
    except OptionInvalid as invalid:
        return _mended(game, values | {invalid.option: option_values(game)[invalid.option][0]})
    return options


def _completed(
    game: AnyGame, values: dict[str, tuple[Any, ...]], pair: dict[str, Any], dice: random.Random
) -> Any | None:
    for _ in range(PAIRING_TRIES_MAX):
        drawn = {name: dice.choice(choices) for name, choices in values.items()} | pair
        options = options_with(game, drawn)
        if options is not None:
            return options
    return None  # These two values exclude each other.


def _has(options: Any, pair: dict[str, Any]) -> bool:
    return all(getattr(options, name) == value for name, value in pair.items())
