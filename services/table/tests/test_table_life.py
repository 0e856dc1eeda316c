"""Two thousand simulated tables of every game: after each step they are what the plain table says (docs/tables.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import pytest
from table_simulator import Simulation

from darbar_rules.game import AnyGame
from darbar_rules.games import ALL, BY_NAME
from darbar_rules.games.king.forms import Form20, FormLong, FormShort
from darbar_rules.games.king.state import first_state
from darbar_table.domain import events

TABLES = 2_000
TABLES_A_GAME = 400
WHOLE_LENGTH_EACH = 20  # One table in so many plays the game at its whole length.


class Short20(Form20):
    deals: ClassVar[int] = 4


class ShortShort(FormShort):
    deals: ClassVar[int] = 3


class ShortLong(FormLong):
    deals: ClassVar[int] = 5


class Length(NamedTuple):
    """How a game is made short: another first state, or options."""

    new: Callable[[Any, int], Any] | None
    options: dict[str, Any]


SHORT: Mapping[str, Length] = {
    "king_20": Length(lambda options, seats: first_state(Short20(options), seats), {}),
    "king_short": Length(lambda options, seats: first_state(ShortShort(options), seats), {}),
    "king_long": Length(lambda options, seats: first_state(ShortLong(options), seats), {}),
    "kings_and_rebels": Length(None, {"seats": 4, "rounds": 2}),
}
WHOLE = Length(None, {})
# Not met in every game: they need its host, bots that deal, or a wallet that says no.
SELDOM = {"seats_swapped", "options_changed", "deal_asked", "refund_refused", "player_sent_away", "sitting_paused"}


def shortened(game: AnyGame, length: Length) -> AnyGame:
    return game if length.new is None else replace(game, new=length.new)


@pytest.mark.parametrize("game", sorted(game.name for game in ALL))
def test_simulated_tables_are_after_every_step_what_the_plain_table_says(
    game: str, record_property: Callable[[str, object], None]
) -> None:
    rules, games, refusals, kinds, steps = BY_NAME[game], Counter[str](), set[str](), set[str](), 0
    for seed in range(TABLES_A_GAME):
        length = WHOLE if seed % WHOLE_LENGTH_EACH == 0 else SHORT.get(game, WHOLE)
        seen = Simulation(shortened(rules, length), length.options, seed).run()
        games.update(seen.games)
        refusals |= seen.refusals
        kinds |= seen.kinds
        steps += seen.steps
    assert games["played"] >= TABLES_A_GAME // 4
    assert min(games["ended_early"], games["voided"]) > 0
    assert set(events.KIND_OF.values()) - SELDOM <= kinds
    assert {"short_of_coins", "not_now"} <= refusals
    record_property("count", f"{TABLES_A_GAME} tables, {steps} steps, games {dict(games)}")


def test_what_happens_seldom_is_met_by_some_of_the_two_thousand() -> None:
    assert len(ALL) * TABLES_A_GAME >= TABLES
    missing = set(SELDOM)
    for seed in range(1, TABLES_A_GAME):
        for game in ALL:
            length = SHORT.get(game.name, WHOLE)
            missing -= Simulation(shortened(game, length), length.options, seed).run().kinds
        if not missing:
            return
    pytest.fail(f"Not met at any table: {sorted(missing)}")
