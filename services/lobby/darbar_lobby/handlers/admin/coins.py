"""Coins as administrators see them and put them right. The wallet has them, and its own say. Open this about both."""

from __future__ import annotations

import re

from darbar_contracts.admin.api import Adjusted, Adjustment
from darbar_contracts.refusals import REFUSALS, Reason
from darbar_contracts.subjects import WALLET_ADJUST, WALLET_AUDIT, WALLET_OF_ACCOUNT
from darbar_contracts.wallet import (
    AccountWalletRequest,
    AdjustRequest,
    AuditRequest,
    EntriesQuery,
    WalletAnswer,
    WalletAudit,
    WalletView,
)
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_lobby.domain.idempotency import IDEMPOTENCY_KEY
from darbar_lobby.handlers.admin.acts import Acts
from darbar_lobby.store.administrators import SignedIn

ASK_SECONDS_MAX = 5.0
# The wallet waits for a pass of its audit.
AUDIT_SECONDS_MAX = 10.0
_ACCOUNT = re.compile("[0-9a-f]{32}")


class Coins:
    """Asks the wallet."""

    def __init__(self, bus: Bus, acts: Acts) -> None:
        self._bus = bus
        self._acts = acts

    async def wallet(self, who: SignedIn, account_id: str, query: EntriesQuery) -> WalletView:
        request = AccountWalletRequest(validated_account_id(account_id), query)
        await self._acts.looked(who, "look_at_wallet", f"account:{account_id}")
        return await self._bus.request(WALLET_OF_ACCOUNT, request, WalletView, timeout_seconds=ASK_SECONDS_MAX)

    async def adjust(self, who: SignedIn, account_id: str, key: str, body: Adjustment) -> Adjusted:
        """Once for each key. Raises Refused with the wallet's reason."""
        if not key:
            raise Refused(Reason.IDEMPOTENCY_KEY_MISSING)
        if not IDEMPOTENCY_KEY.fullmatch(key):
            raise Refused(Reason.IDEMPOTENCY_KEY_INVALID)
        request = AdjustRequest(
            key=f"adjust:{who.name}:{key}",
            account_id=validated_account_id(account_id),
            coins=body.coins,
            administrator=who.name,
            why=body.reason,
        )
        noted = self._acts.noted(
            who, "adjust_coins", f"account:{account_id}", reason=body.reason, coins=body.coins, key=request.key
        )
        async with noted:
            answer = await self._bus.request(WALLET_ADJUST, request, WalletAnswer, timeout_seconds=ASK_SECONDS_MAX)
            if not answer.done:
                raise _refused(answer)
        return Adjusted(answer.balances.get(account_id, 0))

    async def audit(self) -> WalletAudit:
        return await self._bus.request(WALLET_AUDIT, AuditRequest(), WalletAudit, timeout_seconds=AUDIT_SECONDS_MAX)


def validated_account_id(account_id: str) -> str:
    """Raises Refused for what is no id of an account."""
    if not _ACCOUNT.fullmatch(account_id):
        raise Refused(Reason.PLAYER_UNKNOWN)
    return account_id


def _refused(answer: WalletAnswer) -> Refused:
    if answer.reason == Reason.KEY_REUSED:
        return Refused(Reason.IDEMPOTENCY_KEY_REUSED)
    # A newer wallet may have reasons that are not known here.
    code = answer.reason or Reason.REQUEST_FAILED
    known = REFUSALS.get(code)
    return Refused(code, known.sentence, status=known.status) if known else Refused(code)
