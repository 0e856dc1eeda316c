"""Statements by name, out of a package's queries.sql. Open this when a query isn't found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_HEADING = re.compile(r"^-- ([a-z][a-z0-9_]*) --[ \t]*$", re.MULTILINE)


class QueriesInvalid(Exception):
    """A queries.sql has a block without a name, or two with the same one."""


@cache
def queries(package: str, file: str = "queries.sql") -> Mapping[str, str]:
    """The statements of a file of the package by name: blocks headed by `-- name --`."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    return parse_queries(text)


def parse_queries(text: str) -> Mapping[str, str]:
    """Splits the text of a queries.sql."""
    before, *blocks = _HEADING.split(text)
    if any(line and not line.startswith("--") for line in map(str.strip, before.splitlines())):
        raise QueriesInvalid("there is SQL above the first name")
    found: dict[str, str] = {}
    for name, body in zip(blocks[::2], blocks[1::2], strict=True):
        if name in found:
            raise QueriesInvalid(f"{name} is there twice")
        found[name] = body.strip().removesuffix(";").rstrip()
    return MappingProxyType(found)
