"""What the tables of a game can choose, each option declared once. Open this to see what an option can say of itself.

An options class is a frozen dataclass whose fields are made by `option`: type, default, limits and the sentence for
people stand together, and whoever offers, checks or explains options reads them from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from types import MappingProxyType, NoneType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

Value = TypeVar("Value")

_LIMITS: Final = "limits"
OPTION_CLASSES_MAX: Final = 64


class OptionInvalid(Exception):
    """An option of a new table is not allowed; `option` names the field, `reason` is a sentence for people."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")
        self.option = option
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that a table can choose.

    `type` is its type as the options class names it. A number goes from `minimum` to `maximum` in steps of `step`, both
    included; whatever is no number has all its values in `choices`. An option whose default is None may be None.
    `changeable`: the host may still change it when the table is made, until the first count-in (TL-1).
    """

    name: str
    type: Any
    default: Any
    sentence: str  # what it changes, for people
    choices: tuple[Any, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    step: int = 1
    written: str | None = None  # how its values are written, where naming them all would say less
    changeable: bool = False

    @property
    def values(self) -> tuple[Any, ...]:
        """Every value that it may have, the default first."""
        numbers = () if self.maximum is None else range(self.minimum or 0, self.maximum + 1, self.step)
        return self.default, *(value for value in (*self.choices, *numbers) if value != self.default)

    def takes(self, value: object) -> bool:
        """Whether the value is offered. True equals 1 and 10.0 equals 10, but neither is what was offered."""
        return any(type(value) is type(offered) and value == offered for offered in self.values)

    @property
    def must_be(self) -> str:
        """What its values are, as the end of a sentence that begins with its name."""
        if self.written is not None:
            return f"must be {self.written}."
        if self.maximum is not None:
            kind = "whole number" if self.step == 1 else f"multiple of {self.step}"
            return f"must be a {kind} from {self.minimum} to {self.maximum}."
        *others, last = ["on", "off"] if self.type is bool else [str(value) for value in self.choices]
        return f"must be {', '.join(others)} or {last}."


def option(
    default: Value,
    sentence: str,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    step: int = 1,
    choices: tuple[Any, ...] = (),
    written: str | None = None,
    changeable: bool = False,
) -> Value:
    """A field of an options class. A bool or a Literal needs no `choices`: its type names them."""
    limits = {"minimum": minimum, "maximum": maximum, "step": step, "choices": choices, "written": written}
    said = limits | {"sentence": sentence, "changeable": changeable}
    return field(default=default, metadata={_LIMITS: MappingProxyType(said)})


def options_of(options_type: Any) -> tuple[Option, ...]:
    """The options of a class, in the order in which it declares them."""
    return _options_of(options_type)


@lru_cache(maxsize=OPTION_CLASSES_MAX)
def _options_of(options_type: Any) -> tuple[Option, ...]:
    types = get_type_hints(options_type)
    return tuple(_option_of(item.name, types[item.name], item.default, item.metadata) for item in fields(options_type))


def check_each(options: Any) -> None:
    """Raise OptionInvalid for the first option whose value is not offered, whatever the others are."""
    for one in options_of(type(options)):
        if not one.takes(getattr(options, one.name)):
            raise OptionInvalid(one.name, one.must_be)


def _option_of(name: str, kind: Any, default: Any, metadata: Mapping[str, Any]) -> Option:
    limits = dict(metadata[_LIMITS])
    if kind is bool:
        limits["choices"] = (False, True)
    elif get_origin(kind) is Literal:
        limits["choices"] = get_args(kind)
    assert default is not None or NoneType in get_args(kind), name
    return Option(name, kind, default, **limits)
