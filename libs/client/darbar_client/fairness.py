"""The client's own part in the chance of a deal. Open this when a string is left out of one (docs/fairness.md)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable

import msgspec

from darbar_client.commands import new_command_id
from darbar_contracts.frames import SeedCommit, SeedOpen, TableView

# 32 characters: more chance than a shuffle of 52 cards can use up.
STRING_BYTES = 24

CountIn = tuple[int, int, int]


class SeedStrings:
    """Commits to a fresh random string in each count-in and opens it at zero; nobody can know it before."""

    def __init__(self, send: Callable[[str, msgspec.Struct], object]) -> None:
        self._send = send
        self._count_in: CountIn | None = None
        self._string = ""
        self._opened = False

    @property
    def string(self) -> str:
        """What was committed last; empty before the first count-in."""
        return self._string

    def follow(self, table: TableView, seat: int | None) -> None:
        """Does what is due: called after every change of the table's phase."""
        if seat is None:
            return
        count_in = (table.game_number, table.round, table.attempt)
        if table.phase == "counting_in" and count_in != self._count_in and not table.seats[seat].committed:
            self._commit(count_in)
        elif table.phase == "opening_seeds" and count_in == self._count_in and not self._opened:
            self._open()

    def _commit(self, count_in: CountIn) -> None:
        self._count_in, self._string, self._opened = count_in, secrets.token_urlsafe(STRING_BYTES), False
        command_id = new_command_id()
        sha256 = hashlib.sha256(self._string.encode()).hexdigest()
        self._send(command_id, SeedCommit(id=command_id, sha256=sha256))

    def _open(self) -> None:
        self._opened = True
        command_id = new_command_id()
        self._send(command_id, SeedOpen(id=command_id, string=self._string))
