"""One HTTP request with its tries and its errors. Open this when an answer can't be read or is not tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TypeVar

import aiohttp
import msgspec

from darbar_client.backoff import Attempts, Backoff
from darbar_client.errors import DarbarError, Unreachable
from darbar_contracts.api import Problem
from darbar_contracts.refusals import Reason

REQUEST_SECONDS_MAX = 15.0
# What a proxy or a service says when another moment may be better.
# A service that can't do it now says so with 503; the others leave open what was done.
UNAVAILABLE = 503
RETRIED_STATUSES = frozenset({502, UNAVAILABLE, 504})

# aiohttp's own takes a task that is cancelled in the moment when it rings for one that was too slow: it would go on.
NO_TIMEOUT = aiohttp.ClientTimeout(total=None)

_Answer = TypeVar("_Answer")
_LOST = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError, OSError)


class Http:
    """Requests to one origin."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str, backoff: Backoff) -> None:
        self.session = session
        self._base_url = base_url.rstrip("/")
        self._backoff = backoff

    @property
    def seconds(self) -> float:
        """How long a request is usually tried."""
        return self._backoff.http_seconds

    def url(self, path: str) -> str:
        """A path of this origin as a URL; a URL stays what it is."""
        return self._base_url + path if path.startswith("/") else path

    async def ask(
        self,
        method: str,
        path: str,
        answer_type: type[_Answer],
        *,
        body: Mapping[str, object] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        seconds: float | None = None,
        repeatable: bool = True,
    ) -> _Answer:
        """Raises DarbarError for a refusal at once, Unreachable when nobody answered in time.

        `body`: JSON, or bytes of the type that `headers` names.
        `seconds`: try for another time than the usual one; 0: one try. `repeatable` False: doing it twice does harm, so
        it is tried again only when it was surely not done.
        """
        attempts = Attempts(self._backoff, seconds=self._backoff.http_seconds if seconds is None else seconds)
        while True:
            seconds_min = 0.0
            try:
                status, answered, content = await self._once(method, path, body=body, headers=headers, query=query)
            except _LOST as error:
                surely_not_done = isinstance(error, aiohttp.ClientConnectorError)
                failure: DarbarError = Unreachable(
                    Reason.UNREACHABLE, f"{method} {path}: {type(error).__name__} {error}".strip()
                )
            else:
                if status < 300:
                    return _decoded(content, answer_type, path)
                failure = _failure(status, content)
                if status not in RETRIED_STATUSES:
                    raise failure
                seconds_min = _retry_after_seconds(answered)
                surely_not_done = status == UNAVAILABLE
            if not (repeatable or surely_not_done) or not await attempts.pause(seconds_min=seconds_min):
                raise failure

    async def fetch(self, path: str) -> bytes:
        """What lies there. Raises DarbarError."""
        try:
            status, _, content = await self._once("GET", path, body=None, headers=None, query=None)
        except _LOST as error:
            raise Unreachable(Reason.UNREACHABLE, f"GET {path}: {type(error).__name__} {error}".strip()) from error
        if status >= 300:
            raise _failure(status, content)
        return content

    async def _once(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, object] | bytes | None,
        headers: Mapping[str, str] | None,
        query: Mapping[str, str] | None,
    ) -> tuple[int, Mapping[str, str], bytes]:
        is_json = body is not None and not isinstance(body, bytes)
        encoded = msgspec.json.encode(body) if is_json else body
        sent = dict(headers or {}) | ({"Content-Type": "application/json"} if is_json else {})
        async with (
            asyncio.timeout(REQUEST_SECONDS_MAX),
            self.session.request(
                method, self.url(path), data=encoded, headers=sent, params=query, timeout=NO_TIMEOUT
            ) as response,
        ):
            return response.status, response.headers, await response.read()


def _decoded(content: bytes, answer_type: type[_Answer], path: str) -> _Answer:
    try:
        return msgspec.json.decode(content or b"null", type=answer_type)
    except msgspec.DecodeError as error:
        raise DarbarError(Reason.ANSWER_UNREADABLE, f"{path}: {error}") from error


def _failure(status: int, content: bytes) -> DarbarError:
    kind = Unreachable if status in RETRIED_STATUSES else DarbarError
    try:
        problem = msgspec.json.decode(content, type=Problem)
    except msgspec.DecodeError:
        return kind(Reason.ANSWER_UNREADABLE, f"HTTP {status} without a reason", status=status)
    return kind(problem.code, problem.message, problem.details, status=status)


def _retry_after_seconds(headers: Mapping[str, str]) -> float:
    """The server's wish; a date instead of a number counts as none."""
    wish = headers.get("Retry-After", "")
    return float(wish) if wish.isdecimal() else 0.0
