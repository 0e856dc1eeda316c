"""Commands on their way to their acknowledgement. Open this when one is lost, doubled or never answered."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import msgspec

from darbar_client.backoff import Backoff
from darbar_client.errors import CommandRefused, DarbarError
from darbar_contracts.frames import RefusedFrame
from darbar_contracts.refusals import Reason

COMMANDS_WAITING_MAX = 64
COMMAND_ID_BYTES = 15


def new_command_id() -> str:
    """Twenty random characters that the table accepts."""
    return secrets.token_urlsafe(COMMAND_ID_BYTES)


class _Waiting:
    """A command that has no answer yet."""

    __slots__ = ("answer", "content", "timer", "tries")

    def __init__(self, content: bytes, answer: asyncio.Future[int]) -> None:
        self.content = content
        self.answer = answer
        self.tries = 0
        self.timer: asyncio.TimerHandle | None = None


class Commands:
    """The same id goes out again after every reconnect and after every "try again", until it is answered once."""

    def __init__(self, post: Callable[[bytes], None], backoff: Backoff) -> None:
        self._post = post
        self._backoff = backoff
        self._waiting: dict[str, _Waiting] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    async def run(self, command_id: str, frame: msgspec.Struct) -> int:
        """The version at which the command stands. Raises CommandRefused, or DarbarError when no answer came."""
        answer = self.start(command_id, frame)
        try:
            async with asyncio.timeout(self._backoff.command_seconds):
                return await answer
        except TimeoutError:
            raise DarbarError(Reason.NO_ANSWER, "the table did not answer this command") from None
        finally:
            self._done(command_id)

    def start(self, command_id: str, frame: msgspec.Struct) -> asyncio.Future[int]:
        """Sends without waiting; what comes of it is in the future, and of no harm when nobody looks."""
        if len(self._waiting) >= COMMANDS_WAITING_MAX:
            raise DarbarError(Reason.COMMANDS_TOO_MANY, f"{COMMANDS_WAITING_MAX} commands wait for their answers")
        content = msgspec.json.encode(frame)
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_looked_at)
        self._waiting[command_id] = _Waiting(content, answer)
        self._post(content)
        return answer

    def acknowledged(self, command_id: str, version: int) -> None:
        waiting = self._done(command_id)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_result(version)

    def refused(self, frame: RefusedFrame) -> None:
        """Final, or to be tried again after a pause with the same id."""
        if frame.id is None:
            return
        if frame.retry:
            self._later(frame.id)
            return
        waiting = self._done(frame.id)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_exception(CommandRefused(frame.code, frame.message, frame.details))

    def send_again(self) -> None:
        """A new socket: nobody knows which commands the old one still delivered."""
        for waiting in self._waiting.values():
            _stop(waiting)
            self._post(waiting.content)

    def end(self, failure: DarbarError) -> None:
        """No answer will ever come."""
        for command_id in list(self._waiting):
            waiting = self._done(command_id)
            if waiting is not None and not waiting.answer.done():
                waiting.answer.set_exception(failure)

    def _later(self, command_id: str) -> None:
        waiting = self._waiting.get(command_id)
        if waiting is None:
            return
        _stop(waiting)
        seconds = self._backoff.pause_seconds(waiting.tries)
        waiting.tries += 1
        waiting.timer = asyncio.get_running_loop().call_later(seconds, self._post, waiting.content)

    def _done(self, command_id: str) -> _Waiting | None:
        waiting = self._waiting.pop(command_id, None)
        if waiting is not None:
            _stop(waiting)
        return waiting


def _stop(waiting: _Waiting) -> None:
    if waiting.timer is not None:
        waiting.timer.cancel()
        waiting.timer = None


def _looked_at(answer: asyncio.Future[int]) -> None:
    if not answer.cancelled():
        answer.exception()
