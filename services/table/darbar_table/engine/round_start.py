"""The state from which frames of a round are made again. Open this about the memory that a table takes to resume."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from darbar_rules.game import AnyGame
from darbar_table.domain.state import Table


class RoundStart:
    """The state before the first count-in of a round. Few ask for it, so it can be packed: a sixth of its size."""

    __slots__ = ("_packed_state", "_table")

    def __init__(self, table: Table) -> None:
        self._table = table
        self._packed_state: bytes | None = None

    @property
    def version(self) -> int:
        return self._table.version

    def pack(self) -> None:
        """The game's own state becomes bytes; the rest is for the most part that of the present state."""
        if self._packed_state is None:
            self._packed_state = zlib.compress(msgspec.json.encode(self._table.state), zlib.Z_BEST_SPEED)
            self._table = replace(self._table, state=None)

    def table(self) -> Table:
        if self._packed_state is None:
            return self._table
        state = state_decoder(self._table.rules).decode(zlib.decompress(self._packed_state))
        return replace(self._table, state=state)


@cache
def state_decoder(rules: AnyGame) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(rules.state_type | None)
