"""Frozen dataclasses that are made with every move. Open this about what making one costs."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from functools import update_wrapper
from typing import Any, TypeVar

Made = TypeVar("Made", bound=type[Any])


def made_quickly(cls: Made) -> Made:
    """The same frozen dataclass with slots; its `__init__` takes the same, and fills the slots themselves.

    The one that `dataclass` writes asks the class for each slot by name, which takes nearly twice as long (decision 3).
    For plain fields only, with or without a default: AssertionError for anything else.
    """
    listed = fields(cls)
    assert all(map(_is_plain, listed)), cls
    assert not hasattr(cls, "__post_init__"), cls
    names = {f"fill_{field.name}": getattr(cls, field.name).__set__ for field in listed}
    names |= {f"default_{field.name}": field.default for field in listed}
    takes = [field.name if field.default is MISSING else f"{field.name}=default_{field.name}" for field in listed]
    lines = [f"    fill_{field.name}(self, {field.name})" for field in listed]
    exec("\n".join([f"def __init__(self, {', '.join(takes)}):", *lines]), names)
    cls.__init__ = update_wrapper(names["__init__"], cls.__init__)
    return cls


def _is_plain(field: Field[Any]) -> bool:
    return field.init and not field.kw_only and field.default_factory is MISSING
