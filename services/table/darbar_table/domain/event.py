"""What every stored event of a table is. Open this before `events`."""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, frozen=True, gc=False):
    """What has happened at a table. Its kind is the class's name in snake case, see KIND_OF."""

    @property
    def actor(self) -> int | None:
        """The seat whose player did it with a command; None for what the table, a clock or an operator did."""
        return None


class SeatEvent(Event, frozen=True, kw_only=True):
    """What happened to one seat, or what its player did: then `id` and `digest` are those of the command."""

    seat: int
    id: str | None = None
    digest: int = 0

    @property
    def actor(self) -> int | None:
        return None if self.id is None else self.seat


def snake_case(name: str) -> str:
    """CountInStarted -> count_in_started."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
