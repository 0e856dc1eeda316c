"""What a service says when it will not or can not. Open this when you choose between a refusal and an outage."""

from collections.abc import Mapping

RETRY_SECONDS = 1.0


class Refused(Exception):
    """The caller may not: expected, counted, sent as a stable code. Never a bug and never an outage."""

    def __init__(
        self,
        code: str,
        message: str = "",
        details: Mapping[str, object] | None = None,
        status: int = 409,
    ) -> None:
        # A StrEnum member is kept as its plain text, so that the code looks the same in logs, metrics and on wires.
        self.code = str(code)
        self.message = message or self.code.replace("_", " ")
        self.details: dict[str, object] = dict(details or {})
        self.status = status
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class Unavailable(Exception):
    """Something this needs does not answer: the same request may work in `retry` seconds (0: don't say when)."""

    def __init__(self, code: str = "unavailable", message: str = "", retry: float = RETRY_SECONDS) -> None:
        self.code = str(code)
        self.message = message or self.code.replace("_", " ")
        self.retry = float(retry)
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
