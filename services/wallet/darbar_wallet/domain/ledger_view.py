"""What the wallet knows while it decides on a batch. Open this when a decision is taken on a wrong balance."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from darbar_contracts.wallet import GrantRequest, StakeRequest, WalletAnswer
from darbar_wallet.domain.transfers import KeyedRequest, Posting, TransferKind, kind_of, player


# gc=False, as in transfers.py: a batch makes thousands of them.
class EarlierAnswer(msgspec.Struct, frozen=True, gc=False):
    """A transfer that was answered: what was asked, and the answer that it keeps for ever."""

    request_hash: bytes
    answer: WalletAnswer
    stake: StakeRequest | None = None


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What a request does. `is_new` False: it was answered before (or its key was), and nothing is to be stored."""

    answer: WalletAnswer
    is_new: bool = True
    postings: tuple[Posting, ...] = ()
    closes: str | None = None


class LedgerView:
    """Balances and earlier answers of everybody a batch concerns; decisions are recorded in the order they were taken.

    `balances`: available coins by account; an account that isn't there was never seen. `staked`: bets in pots by
    account. `answered`: earlier answers by key. `closed`: which kind of transfer closed a stake, by the stake's key.
    `granted_new_account`: accounts that had their new account's grant. `granted_top_up`: accounts that had a top-up
    today, by the database's date.
    """

    def __init__(
        self,
        *,
        balances: dict[str, int] | None = None,
        staked: dict[str, int] | None = None,
        answered: dict[str, EarlierAnswer] | None = None,
        closed: dict[str, TransferKind] | None = None,
        granted_new_account: Iterable[str] = (),
        granted_top_up: Iterable[str] = (),
    ) -> None:
        self.balances = balances if balances is not None else {}
        self.staked = staked if staked is not None else {}
        self.answered = answered if answered is not None else {}
        self.closed = closed if closed is not None else {}
        self.granted_new_account = set(granted_new_account)
        self.granted_top_up = set(granted_top_up)

    def available(self, account: str) -> int:
        """The coins that can be spent; none where the account was never seen."""
        return self.balances.get(account, 0)

    def total(self, account: str) -> int:
        """All that a player has: the balance, the bets in pots, and as much again in reserves."""
        return self.balances.get(account, 0) + 2 * self.staked.get(account, 0)

    def stake(self, stake_key: str) -> StakeRequest | None:
        """The stake of this key, if it was granted."""
        earlier = self.answered.get(stake_key)
        return earlier.stake if earlier is not None and earlier.answer.done else None

    def record(self, wanted: KeyedRequest, decision: Decision) -> None:
        """Makes the decision part of the view, so that the next request of the batch is decided after it."""
        if not decision.is_new:
            return
        request = wanted.request
        balances = self.balances
        for posting in decision.postings:
            balances[posting.account] = balances.get(posting.account, 0) + posting.coins
        stake = request if isinstance(request, StakeRequest) else None
        self.answered[request.key] = EarlierAnswer(wanted.request_hash, decision.answer, stake)
        if stake is not None and decision.answer.done:
            self._add_stakes(stake, sign=1)
        if decision.closes is not None:
            self._record_closing(decision.closes, kind_of(request))
        if isinstance(request, GrantRequest) and decision.answer.done:
            granted = self.granted_new_account if request.kind == "new_account" else self.granted_top_up
            granted.add(request.account_id)

    def _record_closing(self, stake_key: str, kind: TransferKind) -> None:
        self.closed[stake_key] = kind
        stake = self.stake(stake_key)
        if stake is not None:
            self._add_stakes(stake, sign=-1)

    def _add_stakes(self, stake: StakeRequest, *, sign: int) -> None:
        for seat in stake.seats:
            account = player(seat.account_id)
            self.staked[account] = self.staked.get(account, 0) + sign * stake.bet_coins
