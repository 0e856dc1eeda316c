"""What a service says when it will not or can not. Open this when you choose between a refusal and an outage."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

RETRY_SECONDS = 1.0
STATUS = 409


@runtime_checkable
class Coded(Protocol):
    """A member of an enum of refusals: a code that knows its HTTP status and its sentence for people."""

    status: int
    sentence: str


class Refused(Exception):
    """The caller may not: expected, counted, sent as a stable code. Never a bug and never an outage."""

    def __init__(
        self,
        code: str,
        message: str = "",
        details: Mapping[str, object] | None = None,
        status: int | None = None,
    ) -> None:
        known = (code.status, code.sentence) if isinstance(code, Coded) else (STATUS, "")
        # A StrEnum member is kept as its plain text, so that the code looks the same in logs, metrics and on wires.
        self.code = str(code)
        self.message = message or known[1] or self.code.replace("_", " ")
        self.details: dict[str, object] = dict(details or {})
        self.status = known[0] if status is None else status
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class Unavailable(Exception):
    """Something this needs does not answer: the same request may work in `retry` seconds (0: don't say when)."""

    def __init__(self, code: str = "unavailable", message: str = "", retry: float = RETRY_SECONDS) -> None:
        self.code = str(code)
        self.message = message or (code.sentence if isinstance(code, Coded) else self.code.replace("_", " "))
        self.retry = float(retry)
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
