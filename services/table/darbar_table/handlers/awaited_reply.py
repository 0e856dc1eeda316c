"""The owner's answer to a command, for who can wait for it. Open this when a service waits for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from darbar_contracts.refusals import REFUSALS
from darbar_kit.errors import Refused, Unavailable


class AwaitedReply:
    """`version`: the table's, once the command is stored or had nothing to do; raises Refused or Unavailable."""

    def __init__(self) -> None:
        self.version: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def refuse(self, code: str, message: str, *, details: dict[str, Any], retry: bool) -> None:
        refusal = Refused(code, message, details, REFUSALS[code].status)
        self.version.set_exception(Unavailable(code, message) if retry else refusal)

    def done(self, version: int) -> None:
        self.version.set_result(version)

    def stored(self, version: int) -> None:
        self.version.set_result(version)
