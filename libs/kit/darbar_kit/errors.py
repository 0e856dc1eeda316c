"""What a service says when it will not or can not. Open this when you choose between a refusal and an outage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol, TypeAlias, runtime_checkable

RETRY_SECONDS = 1.0
STATUS = 409


class KitReason(StrEnum):
    """Everything the kit itself refuses or fails with: code, HTTP status, sentence for people.

    The registry of all codes holds the same ones; what is sent to clients is never renamed.
    """

    status: int
    sentence: str

    def __new__(cls, code: str, status: int, sentence: str) -> KitReason:
        member = str.__new__(cls, code)
        member._value_ = code
        member.status = status
        member.sentence = sentence
        return member

    # HTTP, before any handler has looked.
    BAD_REQUEST = "bad_request", 400, "This request can't be understood."
    BODY_ENCODED = "body_encoded", 415, "Send the body as it is, without a Content-Encoding."
    BODY_INVALID = "body_invalid", 400, "A field of the body is missing, unknown or not of the right kind."
    BODY_NOT_JSON = "body_not_json", 400, "The body is not JSON."
    BODY_TOO_LARGE = "body_too_large", 413, "The body is too large."
    BODY_TOO_SLOW = "body_too_slow", 408, "The body did not arrive in time."
    INTERNAL = "internal", 500, "Something went wrong on our side."
    METHOD_NOT_ALLOWED = "method_not_allowed", 405, "This path does not take this method."
    NOT_FOUND = "not_found", 404, "There is nothing at this path."
    QUERY_INVALID = "query_invalid", 400, "A parameter of the query is unknown or not of the right kind."
    TEXT_INVALID = "text_invalid", 400, "This text is too long or has characters that are not allowed."
    TOO_MANY_REQUESTS = "too_many_requests", 429, "Too many requests. Please wait."

    # Access tokens.
    TOKEN_EXPIRED = "token_expired", 401, "The access token has expired."
    TOKEN_INVALID = "token_invalid", 401, "The access token is not valid."
    TOKEN_MISSING = "token_missing", 401, "An access token is needed."

    # Between services.
    BUSY = "busy", 503, "Too many requests are waiting. Try again."
    BUS_UNREACHABLE = "bus_unreachable", 503, "The message server can't be reached. Try again."
    MESSAGE_INVALID = "message_invalid", 400, "A service could not read this message."
    NO_RESPONDERS = "no_responders", 503, "The service that answers this is not there. Try again."
    SERVICE_FAILED = "service_failed", 503, "Another service failed. Try again."
    STORAGE_UNAVAILABLE = "storage_unavailable", 503, "The database does not answer. Try again."
    TIMED_OUT = "timed_out", 503, "Another service did not answer in time. Try again."
    UNAVAILABLE = "unavailable", 503, "This can't be done just now. Try again."


@runtime_checkable
class Coded(Protocol):
    """A member of an enum of refusals: a code that knows its HTTP status and its sentence for people."""

    status: int
    sentence: str


def _again(kind: type[Exception], arguments: tuple[object, ...], fields: Mapping[str, object]) -> Exception:
    """An error that another process has raised, whatever its class makes of its arguments."""
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error


_Reduced: TypeAlias = tuple[Callable[..., Exception], tuple[object, ...]]


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

    def __reduce__(self) -> _Reduced:
        return _again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class Unavailable(Exception):
    """Something this needs does not answer: the same request may work in `retry` seconds (0: don't say when)."""

    def __init__(self, code: str = KitReason.UNAVAILABLE, message: str = "", retry: float = RETRY_SECONDS) -> None:
        self.code = str(code)
        self.message = message or (code.sentence if isinstance(code, Coded) else self.code.replace("_", " "))
        self.retry = float(retry)
        super().__init__(self.code, self.message)

    def __reduce__(self) -> _Reduced:
        return _again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
