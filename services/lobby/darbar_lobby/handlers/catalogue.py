"""Which games are offered and which options a new table may have. Open this when an option is wrongly refused."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from darbar_contracts.api import TURN_SECONDS_USUAL, Catalogue, GameOffered, NewTable
from darbar_contracts.tables import JsonObject, TableTerms, TermsLimits
from darbar_lobby.domain.names import AVATARS
from darbar_rules.game import AnyGame
from darbar_rules.options import OptionInvalid

ANY_TERMS = TermsLimits()
_UNKNOWN_OPTION = "is not an option of this game."


class GameUnknown(Exception):
    """No game of this name is offered."""


class OptionsInvalid(Exception):
    """What is wrong with the options, a sentence for each."""

    def __init__(self, fields: dict[str, str]) -> None:
        super().__init__(", ".join(fields))
        self.fields = fields


class TableChoice(msgspec.Struct, frozen=True):
    """The options of a new table with every default filled in, so that a later default changes no table."""

    options: JsonObject
    seats: int


class Games:
    """The registry of the rules as people choose from it."""

    def __init__(self, games: Collection[AnyGame], *, limits: TermsLimits = ANY_TERMS, rules_folder: str = "") -> None:
        self._by_name = {game.name: game for game in games}
        self._limits = limits
        self._pages = _pages(self._by_name, rules_folder)
        self.catalogue = Catalogue(games=tuple(_offered(game) for game in games), avatars=AVATARS, terms=limits)

    def page(self, game: str) -> str:
        """How a game is played, for people, in Markdown. Raises GameUnknown, also where no pages are kept."""
        if game not in self._pages:
            raise GameUnknown(game)
        return self._pages[game]

    def terms(self, body: NewTable) -> TableTerms:
        """What a table with this body agrees on. Raises GameUnknown and OptionsInvalid."""
        limits, turn_seconds = self._limits, body.turn_seconds
        if turn_seconds is None:
            turn_seconds = min(max(TURN_SECONDS_USUAL, limits.turn_seconds_min), limits.turn_seconds_max)
        problems = limits.problems(bet_coins=body.bet_coins, turn_seconds=turn_seconds)
        try:
            choice = self.choice(body.game, body.options, body.seats)
        except OptionsInvalid as invalid:
            raise OptionsInvalid(invalid.fields | problems) from invalid
        if problems:
            raise OptionsInvalid(problems)
        return TableTerms(
            game=body.game,
            options=choice.options,
            seats=choice.seats,
            bet_coins=body.bet_coins,
            turn_seconds=turn_seconds,
            visibility=body.visibility,
            bot_level=body.bot_level,
        )

    def choice(self, game: str, options: JsonObject, seats: int | None) -> TableChoice:
        """Raises GameUnknown and OptionsInvalid. `seats` None is the game's usual number."""
        rules = self.rules_of(game)
        if seats is not None and "seats" in get_type_hints(rules.options_type):
            # Such a game counts its seats among its options: saying it once is enough.
            options = {"seats": seats} | options
        checked = _checked(rules, options)
        allowed = rules.seat_counts(checked)
        if seats is not None and seats not in allowed:
            raise OptionsInvalid({"seats": f"must be {' or '.join(map(str, allowed))}."})
        filled: JsonObject = msgspec.to_builtins(checked)
        return TableChoice(options=filled, seats=allowed[0] if seats is None else seats)

    def rules_of(self, game: str) -> AnyGame:
        """Raises GameUnknown."""
        try:
            return self._by_name[game]
        except KeyError:
            raise GameUnknown(game) from None


def _checked(rules: AnyGame, options: JsonObject) -> Any:
    types = get_type_hints(rules.options_type)
    values: JsonObject = {}
    wrong: dict[str, str] = {}
    for name, value in options.items():
        if name not in types:
            wrong[name] = _UNKNOWN_OPTION
            continue
        try:
            values[name] = msgspec.convert(value, types[name])
        except msgspec.ValidationError as error:
            wrong[name] = f"{error}."
    if wrong:
        raise OptionsInvalid(wrong)
    checked = rules.options_type(**values)
    try:
        rules.check_options(checked)
    except OptionInvalid as invalid:
        raise OptionsInvalid({invalid.option: invalid.reason}) from invalid
    return checked


def _offered(game: AnyGame) -> GameOffered:
    default = game.options_type()
    return GameOffered(
        name=game.name,
        title=game.title,
        rules_version=game.rules_version,
        direction=game.direction,
        stake_unit=game.stake_unit,
        seats=tuple(game.seat_counts(default)),
        options=_schema(game),
        changeable=tuple(option.name for option in game.options if option.changeable),
    )


def _schema(game: AnyGame) -> JsonObject:
    """JSON Schema of the options, a sentence each. A bound is the widest one that some other options leave."""
    _, components = msgspec.json.schema_components([game.options_type])
    schema: JsonObject = components.pop(game.options_type.__name__)
    for option in game.options:
        described = schema["properties"][option.name]
        described["description"] = option.sentence
        if option.maximum is not None:
            described |= {"minimum": option.minimum, "maximum": option.maximum}
        if option.step > 1:
            described["multipleOf"] = option.step
    schema["additionalProperties"] = False
    if components:
        schema["$defs"] = components
    return schema


def _pages(names: Iterable[str], folder: str) -> dict[str, str]:
    """The pages that are there, read once."""
    paths = {name: Path(folder) / f"{name}.md" for name in names} if folder else {}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()}
