"""Coins from the bank, asked for until the wallet confirms them. Open this when a new account has none."""

from __future__ import annotations

import asyncio
import uuid
from typing import Literal

import structlog

from darbar_contracts.refusals import REFUSALS, Reason
from darbar_contracts.subjects import WALLET_GRANT
from darbar_contracts.wallet import GrantRequest, WalletAnswer
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.metrics import Metrics
from darbar_lobby.store.accounts import AccountStore, GrantDue

GRANT_SECONDS_MAX = 1.5
# Who makes an account asks at once; the background asks for those that got no answer.
GRANT_FIRST_WAIT_SECONDS = 3.0
GRANT_AGAIN_SECONDS = 5.0
GRANTS_AT_ONCE_MAX = 100
GRANTS_POLL_SECONDS = 1.0

_log = structlog.get_logger()


def new_account_key(account_id: str) -> str:
    """The permanent key of an account's first coins: asking twice grants once."""
    return str(uuid.uuid5(uuid.UUID(hex=account_id), "new_account"))


class Grants:
    """Asks the wallet. What is owed lies in the database until it is confirmed."""

    def __init__(self, store: AccountStore, bus: Bus, metrics: Metrics) -> None:
        self._store = store
        self._bus = bus
        self._metrics = metrics

    async def ask_first(self, account_id: str) -> None:
        """For an account made a moment ago; a wallet that is away is asked again in the background."""
        try:
            await self._ask(GrantDue(account_id, new_account_key(account_id)))
        except Unavailable as unavailable:
            _log.warning("grant_put_off", account_id=account_id, code=unavailable.code)

    async def run(self) -> None:
        """Never ends."""
        while True:
            await self.ask_due()
            await asyncio.sleep(GRANTS_POLL_SECONDS)

    async def ask_due(self) -> None:
        """Asks for what is due; stops at the first sign that the wallet is away."""
        try:
            self._metrics.grants_waiting.set(await self._store.grants_waiting())
            for due in await self._store.grants_due(GRANTS_AT_ONCE_MAX, again_seconds=GRANT_AGAIN_SECONDS):
                await self._ask(due)
        except Unavailable as unavailable:
            _log.warning("grants_put_off", code=unavailable.code)

    async def top_up(self, account_id: str) -> int | None:
        """The balance afterwards. Raises Refused with the wallet's reason, or Unavailable."""
        answered = await self._request(str(uuid.uuid4()), account_id, kind="top_up")
        if not answered.done:
            # A newer wallet may have reasons that are not known here.
            code = answered.reason or Reason.ALREADY_GRANTED
            raise Refused(code, REFUSALS[code].sentence if code in REFUSALS else "")
        return answered.balances.get(account_id)

    async def _ask(self, due: GrantDue) -> None:
        try:
            answered = await self._request(due.grant_key, due.account_id, kind="new_account")
            reason = None if answered.done else answered.reason
        except Refused as refused:
            reason = refused.code
        if reason in (None, Reason.ALREADY_GRANTED):
            await self._store.grant_done(due.account_id)
        else:
            _log.error("grant_refused", account_id=due.account_id, reason=reason)
            await self._store.grant_refused(due.account_id, str(reason))

    async def _request(self, key: str, account_id: str, *, kind: Literal["new_account", "top_up"]) -> WalletAnswer:
        request = GrantRequest(key=key, account_id=account_id, kind=kind)
        return await self._bus.request(WALLET_GRANT, request, WalletAnswer, timeout_seconds=GRANT_SECONDS_MAX)
