"""The owner's answer to a command, for who can wait for it. Open this when a service waits for ever."""

from __future__ import annotations

import asyncio

from darbar_contracts.refusals import REFUSALS
from darbar_contracts.tables import JsonObject
from darbar_kit.errors import Refused, Unavailable

ANSWER_SECONDS_MAX = 10.0


class AwaitedReply:
    """For one command. A process that is over answers nothing, so nobody waits longer than ANSWER_SECONDS_MAX."""

    def __init__(self) -> None:
        self._version: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def stored_version(self) -> int:
        """The table's, once the command is stored or had nothing to do; raises Refused or Unavailable."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS_MAX):
                return await self._version
        except TimeoutError as error:
            raise Unavailable from error

    def refuse(self, code: str, message: str, *, details: JsonObject, retry: bool) -> None:
        refusal = Refused(code, message, details, REFUSALS[code].status)
        if not self._version.done():
            self._version.set_exception(Unavailable(code, message) if retry else refusal)

    def done(self, version: int) -> None:
        if not self._version.done():  # Whoever asked may have gone.
            self._version.set_result(version)

    def stored(self, version: int) -> None:
        self.done(version)
