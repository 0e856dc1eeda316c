"""The catalogue over every game of the registry. Open this when a game's options look wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from darbar_lobby.handlers.catalogue import Games, GameUnknown, OptionsInvalid
from darbar_rules.game import OptionInvalid
from darbar_rules.games import ALL


@dataclass(frozen=True)
class Choices:
    """Options of a game that nobody plays."""

    decks: int
    tens: int = 50
    limit: int | None = None
    name: str = "x"


class Doubled:
    """Only what the catalogue asks of a game."""

    name = "doubled"
    title = "Doubled"
    rules_version = 1
    direction = "clockwise"
    stake_unit = "game"
    options_type = Choices
    options_explained = dict.fromkeys(("decks", "tens", "limit", "name", "seats"), "Says what it changes.")

    def check_options(self, options: Any) -> None:
        if not 10 <= options.tens <= 100 or options.tens % 10:
            raise OptionInvalid("tens", "must be ten, twenty and so on.")
        if options.limit is not None and options.limit > 1000:
            raise OptionInvalid("limit", "must not be so high.")

    def seat_counts(self, options: Any) -> tuple[int, ...]:
        return (3, 4) if options.decks == 1 else (6,)


@pytest.mark.parametrize("game", ALL, ids=lambda game: game.name)
def test_every_game_is_offered_with_options_that_it_takes(game: Any) -> None:
    games = Games(ALL)
    offered = next(offered for offered in games.catalogue.games if offered.name == game.name)
    properties = offered.options["properties"]
    defaults = {name: described["default"] for name, described in properties.items() if "default" in described}
    filled = msgspec.to_builtins(game.options_type())
    assert games.choice(game.name, defaults, None).options == filled
    assert games.choice(game.name, {}, None).seats == offered.seats[0]
    for name, described in properties.items():
        for bound in ("minimum", "maximum"):
            if bound in described:
                games.choice(game.name, {name: described[bound]}, None)
    assert msgspec.json.decode(msgspec.json.encode(offered.options)) == offered.options


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(GameUnknown):
        Games(ALL).choice("snap", {}, None)


@pytest.mark.parametrize(
    ("options", "seats", "fields"),
    [
        ({}, None, {"decks": "is missing."}),
        ({"decks": "two", "tens": 1.5}, None, None),
        ({"decks": 1, "jacks": 2}, None, {"jacks": "is not an option of this game."}),
        ({"decks": 1, "tens": 15}, None, {"tens": "must be ten, twenty and so on."}),
        ({"decks": 1}, 6, {"seats": "must be 3 or 4."}),
        ({"decks": 2}, 3, {"seats": "must be 6."}),
    ],
)
def test_wrong_options_are_named_one_by_one(
    options: dict[str, Any], seats: int | None, fields: dict[str, str] | None
) -> None:
    games = Games.__new__(Games)
    games._by_name = {"doubled": Doubled()}  # type: ignore[dict-item]
    with pytest.raises(OptionsInvalid) as refused:
        games.choice("doubled", options, seats)
    if fields is None:
        assert set(refused.value.fields) == set(options)
    else:
        assert refused.value.fields == fields


def test_seats_that_are_an_option_need_to_be_said_only_once() -> None:
    @dataclass(frozen=True)
    class WithSeats:
        seats: int = 5

    class Seated(Doubled):
        options_type = WithSeats  # type: ignore[assignment]

        def check_options(self, options: Any) -> None:
            if not 4 <= options.seats <= 8:
                raise OptionInvalid("seats", "must be 4 to 8.")

        def seat_counts(self, options: Any) -> tuple[int, ...]:
            return (options.seats,)

    game: Any = Seated()
    games = Games((game,))
    assert games.choice("doubled", {}, None).seats == 5
    assert games.choice("doubled", {}, 7) == games.choice("doubled", {"seats": 7}, None)
    with pytest.raises(OptionsInvalid):
        games.choice("doubled", {"seats": 6}, 7)
    with pytest.raises(OptionsInvalid):
        games.choice("doubled", {}, 9)


def test_bounds_and_steps_of_numbers_are_found_by_asking_the_rules() -> None:
    @dataclass(frozen=True)
    class WithDefaults(Choices):
        decks: int = 1

    class Offered(Doubled):
        options_type = WithDefaults

    game: Any = Offered()
    offered = Games((game,)).catalogue.games[0]
    tens = offered.options["properties"]["tens"]
    assert (tens["minimum"], tens["maximum"], tens["multipleOf"], tens["default"]) == (10, 100, 10, 50)
    assert offered.options["additionalProperties"] is False
    assert offered.seats == (3, 4)
