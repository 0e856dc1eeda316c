"""What can go wrong for a client, one class a kind. Open this to decide what to catch."""

from __future__ import annotations

from collections.abc import Mapping


class DarbarError(Exception):
    """A refusal or a failure with its stable code. `status` is HTTP's; 0 where HTTP had no part in it."""

    def __init__(
        self, code: str, message: str = "", details: Mapping[str, object] | None = None, *, status: int = 0
    ) -> None:
        self.code = str(code)
        self.message = message or self.code.replace("_", " ")
        self.details: dict[str, object] = dict(details or {})
        self.status = status
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" {self.details}" if self.details else "")


class CommandRefused(DarbarError):
    """The table refused a command: nothing has changed."""


class Unreachable(DarbarError):
    """The server did not answer in the time that we gave it."""


class SocketEnded(DarbarError):
    """This table's socket is over for good: the table closed, or it may not be seen."""


class EventsMissed(DarbarError):
    """The reader of events was too slow: some were thrown away. `details["count"]` says how many."""
