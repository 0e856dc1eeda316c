"""Accounts that are banned or deleted: they go, and don't come back. Open this when a ban does not hold at a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from darbar_contracts import subjects
from darbar_contracts.lobby import SHUT_OUTS_A_PAGE, AccountShutOut, ShutOutsAnswer, ShutOutsRequest
from darbar_contracts.refusals import Reason
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.tokens import SHUT_OUT_MAX, TokenReader
from darbar_table.handlers.lobby_news.asking import LobbyNews

LOBBY_SECONDS_MAX = 2.0
# Of SHUT_OUTS_A_PAGE: as many as are remembered.
PAGES_MAX = SHUT_OUT_MAX // SHUT_OUTS_A_PAGE


class ShutOuts:
    """Of a whole process, whatever node it is at present. `close_sockets` gets who is shut out, by account."""

    def __init__(
        self, bus: Bus, *, tokens: TokenReader, close_sockets: Callable[[Mapping[str, AccountShutOut]], None]
    ) -> None:
        self._bus = bus
        self._tokens = tokens
        self._close_sockets = close_sockets
        self._news = LobbyNews(bus, "shut_outs", ask=self._ask, take=self._take)

    async def run(self) -> None:
        """For ever."""
        await self._news.run()

    async def changed(self, change: AccountShutOut) -> None:
        """The lobby tells every process."""
        self._news.told()
        if change.is_over:
            self._tokens.let_in(change.account_id)
        else:
            self._tokens.shut_out(change.account_id, _refusal(change))
            self._close_sockets({change.account_id: change})

    async def _ask(self) -> dict[str, AccountShutOut]:
        found: dict[str, AccountShutOut] = {}
        after = ""
        for _ in range(PAGES_MAX):
            page = await self._bus.request(
                subjects.LOBBY_SHUT_OUTS, ShutOutsRequest(after), ShutOutsAnswer, timeout_seconds=LOBBY_SECONDS_MAX
            )
            found.update({one.account_id: one for one in page.accounts})
            if not page.more:
                break
            after = page.accounts[-1].account_id
        return found

    def _take(self, now: dict[str, AccountShutOut]) -> None:
        self._tokens.shut_out_only({account_id: _refusal(one) for account_id, one in now.items()})
        self._close_sockets(now)


def _refusal(one: AccountShutOut) -> Refused:
    return Refused(Reason.BANNED, one.message)
