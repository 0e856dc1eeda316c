"""The catalogue over every game of the registry. Open this when a game's options look wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest

from darbar_lobby.handlers.catalogue import Games, GameUnknown, OptionsInvalid
from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.options import check_each, option
from darbar_rules.testing import pairwise_options


@dataclass(frozen=True)
class Choices:
    """Options of a game that nobody plays."""

    decks: int = option(1, "How many decks.", minimum=1, maximum=2)
    tens: int = option(50, "How many points win.", minimum=10, maximum=100, step=10, written="ten, twenty and so on")
    limit: int | None = option(None, "When it ends at the latest.", minimum=0, maximum=1000)
    card: str | None = option(None, "Which card is wild.", choices=("AS", "2C"))


ANY: AnyGame = COURT_PIECE
# Only what the catalogue asks of a game is its own.
DOUBLED = replace(
    ANY,
    name="doubled",
    title="Doubled",
    options_type=Choices,
    check_options=check_each,
    seat_counts=lambda options: (3, 4) if options.decks == 1 else (6,),
)


@pytest.mark.parametrize("game", ALL, ids=lambda game: game.name)
def test_every_game_is_offered_with_options_that_it_takes(game: Any) -> None:
    games = Games(ALL)
    offered = next(offered for offered in games.catalogue.games if offered.name == game.name)
    properties = offered.options["properties"]
    defaults = {name: described["default"] for name, described in properties.items() if "default" in described}
    filled = msgspec.to_builtins(game.options_type())
    assert games.choice(game.name, defaults, None).options == filled
    assert games.choice(game.name, {}, None).seats == offered.seats[0]
    numbers = [number for number in game.options if number.maximum is not None]
    for number in numbers:
        described = properties[number.name]
        for bound in (described["minimum"], described["maximum"]):
            found = next(table for table in pairwise_options(game) if getattr(table, number.name) == bound)
            assert games.choice(game.name, msgspec.to_builtins(found), None).options[number.name] == bound
    assert len(numbers) == sum("minimum" in described for described in properties.values())
    assert msgspec.json.decode(msgspec.json.encode(offered.options)) == offered.options


@pytest.mark.ruling("TL-1")
def test_tl_1_the_catalogue_says_what_a_host_may_still_change() -> None:
    changeable = {offered.name: offered.changeable for offered in Games(ALL).catalogue.games if offered.changeable}
    assert changeable == {"kings_and_rebels": ("seats", "decks", "minimum_bid")}


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(GameUnknown):
        Games(ALL).choice("snap", {}, None)


@pytest.mark.parametrize(
    ("options", "seats", "fields"),
    [
        ({"decks": "two", "tens": 1.5}, None, None),
        ({"jacks": 2}, None, {"jacks": "is not an option of this game."}),
        ({"tens": 15}, None, {"tens": "must be ten, twenty and so on."}),
        ({"limit": 1001}, None, {"limit": "must be a whole number from 0 to 1000."}),
        ({"card": "AH"}, None, {"card": "must be AS or 2C."}),
        ({}, 6, {"seats": "must be 3 or 4."}),
        ({"decks": 2}, 3, {"seats": "must be 6."}),
    ],
)
def test_wrong_options_are_named_one_by_one(
    options: dict[str, Any], seats: int | None, fields: dict[str, str] | None
) -> None:
    with pytest.raises(OptionsInvalid) as refused:
        Games((DOUBLED,)).choice("doubled", options, seats)
    if fields is None:
        assert set(refused.value.fields) == set(options)
    else:
        assert refused.value.fields == fields


def test_seats_that_are_an_option_need_to_be_said_only_once() -> None:
    @dataclass(frozen=True)
    class WithSeats:
        seats: int = option(5, "How many play.", minimum=4, maximum=8)

    games = Games((replace(DOUBLED, options_type=WithSeats, seat_counts=lambda options: (options.seats,)),))
    assert games.choice("doubled", {}, None).seats == 5
    assert games.choice("doubled", {}, 7) == games.choice("doubled", {"seats": 7}, None)
    with pytest.raises(OptionsInvalid):
        games.choice("doubled", {"seats": 6}, 7)
    with pytest.raises(OptionsInvalid):
        games.choice("doubled", {}, 9)


def test_bounds_and_steps_of_numbers_are_those_of_the_rules() -> None:
    offered = Games((DOUBLED,)).catalogue.games[0]
    tens = offered.options["properties"]["tens"]
    assert (tens["minimum"], tens["maximum"], tens["multipleOf"], tens["default"]) == (10, 100, 10, 50)
    assert tens["description"] == "How many points win."
    limit = offered.options["properties"]["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (0, 1000, None)
    assert "multipleOf" not in limit
    assert "minimum" not in offered.options["properties"]["card"]
    assert offered.options["additionalProperties"] is False
    assert offered.seats == (3, 4)
