"""Which games are offered and which options a new table may have. Open this when an option is wrongly refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields, replace
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import msgspec

from darbar_contracts.api import Catalogue, GameOffered
from darbar_lobby.domain.names import AVATARS
from darbar_rules.game import Game, OptionInvalid

# The rules bound a number by refusing it: the bounds shown are found by trying these.
NUMBERS_TRIED = range(1001)
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

    options: dict[str, Any]
    seats: int


class Games:
    """The registry of the rules as people choose from it."""

    def __init__(self, games: Sequence[Game], *, rules_folder: str = "") -> None:
        self._by_name = {game.name: game for game in games}
        self._pages = _pages(self._by_name, rules_folder)
        self.catalogue = Catalogue(games=tuple(_offered(game) for game in games), avatars=AVATARS)

    def page(self, game: str) -> str:
        """How a game is played, for people, in Markdown. Raises GameUnknown, also where no pages are kept."""
        if game not in self._pages:
            raise GameUnknown(game)
        return self._pages[game]

    def choice(self, game: str, options: dict[str, Any], seats: int | None) -> TableChoice:
        """Raises GameUnknown and OptionsInvalid. `seats` None is the game's usual number."""
        rules = self.rules_of(game)
        if seats is not None and "seats" in get_type_hints(rules.options_type):
            # Such a game counts its seats among its options: saying it once is enough.
            options = {"seats": seats} | options
        checked = _checked(rules, options)
        allowed = rules.seat_counts(checked)
        if seats is not None and seats not in allowed:
            raise OptionsInvalid({"seats": f"must be {' or '.join(map(str, allowed))}."})
        filled: dict[str, Any] = msgspec.to_builtins(checked)
        return TableChoice(options=filled, seats=allowed[0] if seats is None else seats)

    def rules_of(self, game: str) -> Game:
        """Raises GameUnknown."""
        try:
            return self._by_name[game]
        except KeyError:
            raise GameUnknown(game) from None


def _checked(rules: Game, options: dict[str, Any]) -> Any:
    types = get_type_hints(rules.options_type)
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, value in options.items():
        if name not in types:
            wrong[name] = _UNKNOWN_OPTION
            continue
        try:
            values[name] = msgspec.convert(value, types[name])
        except msgspec.ValidationError as error:
            wrong[name] = f"{error}."
    for option in fields(rules.options_type):
        if _is_required(option) and option.name not in options:
            wrong[option.name] = "is missing."
    if wrong:
        raise OptionsInvalid(wrong)
    checked = rules.options_type(**values)
    try:
        rules.check_options(checked)
    except OptionInvalid as invalid:
        raise OptionsInvalid({invalid.option: invalid.reason}) from invalid
    return checked


def _is_required(option: Field[Any]) -> bool:
    return option.default is MISSING and option.default_factory is MISSING


def _offered(game: Game) -> GameOffered:
    default = game.options_type()
    return GameOffered(
        name=game.name,
        title=game.title,
        rules_version=game.rules_version,
        direction=game.direction,
        stake_unit=game.stake_unit,
        seats=tuple(game.seat_counts(default)),
        options=_schema(game, default),
    )


def _schema(game: Game, default: Any) -> dict[str, Any]:
    """JSON Schema of the options, a sentence each. Bounds of a number hold with the others at their defaults."""
    _, components = msgspec.json.schema_components([game.options_type])
    schema: dict[str, Any] = components.pop(game.options_type.__name__)
    types = get_type_hints(game.options_type)
    for name, described in schema["properties"].items():
        described["description"] = game.options_explained[name]
        if int in (types[name], *get_args(types[name])) and _is_number(types[name]):
            described.update(_bounds(game, default, name))
    schema["additionalProperties"] = False
    if components:
        schema["$defs"] = components
    return schema


def _is_number(option_type: Any) -> bool:
    return set(get_args(option_type) or (option_type,)) <= {int, NoneType}


def _bounds(game: Game, default: Any, name: str) -> dict[str, Any]:
    allowed = [number for number in NUMBERS_TRIED if _is_allowed(game, replace(default, **{name: number}))]
    if not allowed:
        return {}
    bounds: dict[str, Any] = {"minimum": allowed[0], "maximum": allowed[-1]}
    steps = {after - before for before, after in pairwise(allowed)}
    if len(steps) == 1 and (step := steps.pop()) > 1 and not allowed[0] % step:
        bounds["multipleOf"] = step
    return bounds


def _is_allowed(game: Game, options: Any) -> bool:
    try:
        game.check_options(options)
    except OptionInvalid:
        return False
    return True


def _pages(names: Iterable[str], folder: str) -> dict[str, str]:
    """The pages that are there, read once."""
    paths = {name: Path(folder) / f"{name}.md" for name in names} if folder else {}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()}
