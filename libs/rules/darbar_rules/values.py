"""Frozen dataclasses that are made with every move. Open this about what making one costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from functools import update_wrapper
from typing import Any, Final, TypeVar

# With more than these a twin is worth its two changes of class.
FIELDS_FEW: Final = 10

Made = TypeVar("Made", bound=type[Any])


def made_quickly(cls: Made) -> Made:
    """The same frozen dataclass with slots; its `__init__` takes the same, and fills the slots in a quicker way.

    The one that `dataclass` writes asks the class for each slot by name, which takes about twice as long (decision 3).
    For plain fields only, with or without a default: AssertionError for anything else.
    """
    listed = fields(cls)
    assert all(map(_is_plain, listed)), cls
    assert not hasattr(cls, "__post_init__"), cls
    names, lines = (_by_slots if len(listed) <= FIELDS_FEW else _by_a_twin)(cls, [field.name for field in listed])
    defaults = {f"default_{field.name}": field.default for field in listed}
    takes = [field.name if field.default is MISSING else f"{field.name}=default_{field.name}" for field in listed]
    exec("\n    ".join([f"def __init__(self, {', '.join(takes)}):", *lines]), {**defaults, **names}, names)
    cls.__init__ = update_wrapper(names["__init__"], cls.__init__)
    return cls


def _by_slots(cls: type, listed: list[str]) -> tuple[dict[str, Callable[..., object]], list[str]]:
    """The body of an `__init__`, and what it names: each slot fills itself."""
    names = {f"fill_{name}": getattr(cls, name).__set__ for name in listed}
    return names, [f"fill_{name}(self, {name})" for name in listed]


def _by_a_twin(cls: type, listed: list[str]) -> tuple[dict[str, Callable[..., object]], list[str]]:
    """The same for many: while they are assigned the instance is of a class that has these slots and is not frozen."""
    # Setting and deleting are one thing to Python: a frozen base must have its say in neither.
    body = {"__slots__": vars(cls)["__slots__"], "__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    twin = type(f"Open{cls.__name__}", cls.__bases__, body)
    names: dict[str, Callable[..., object]] = {"become": object.__setattr__, "Open": twin, "Frozen": cls}
    assigned = [f"self.{name} = {name}" for name in listed]
    return names, ["become(self, '__class__', Open)", *assigned, "self.__class__ = Frozen"]


def _is_plain(field: Field[Any]) -> bool:
    return field.init and not field.kw_only and field.default_factory is MISSING
