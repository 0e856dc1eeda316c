"""What the wallet knows while it decides on a batch. Open this when a decision is taken on a wrong balance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from darbar_contracts.wallet import GrantRequest, RefundRequest, SettleRequest, StakeRequest, WalletAnswer

TransferRequest = StakeRequest | SettleRequest | RefundRequest | GrantRequest

# The house's four accounts. Bank and bots may be below zero: the bank issues all coins, and the bots' account says
# what bots have won or lost in all.
BANK = "house:bank"
BOTS = "house:bots"
FORFEIT = "house:forfeit"
ROUNDING = "house:rounding"


class TransferKind(StrEnum):
    """What a transfer was for. Stored: add one (and a migration), never rename one."""

    STAKE = "stake"
    SETTLE = "settle"
    REFUND = "refund"
    NEW_ACCOUNT = "new_account"
    TOP_UP = "top_up"


class EntryReason(StrEnum):
    """Why a line is in the ledger. Stored and shown to players: add one (and a migration), never rename one."""

    BET = "bet"
    RESERVE = "reserve"
    PAYS_AGAIN = "pays_again"
    SHARE = "share"
    FORFEIT = "forfeit"
    ROUNDING = "rounding"
    BET_BACK = "bet_back"
    RESERVE_BACK = "reserve_back"
    NEW_ACCOUNT = "new_account"
    TOP_UP = "top_up"


def player(account_id: str | None) -> str:
    """The account of a person; None is a bot and means the bots' account."""
    return BOTS if account_id is None else f"player:{account_id}"


def is_player(account: str) -> bool:
    """Whether it is a person's account."""
    return account.startswith("player:")


def pot(table_id: str) -> str:
    """Where the bets of a table lie."""
    return f"pot:{table_id}"


def reserve(table_id: str) -> str:
    """Where the second bets lie, from which a Court is paid."""
    return f"reserve:{table_id}"


# gc=False here and below: none of these can lead back to itself, and a batch makes thousands of them.
class Asked(msgspec.Struct, frozen=True, gc=False):
    """A request, as it is stored, and the hash that tells a repeat from another request under the same key."""

    request: TransferRequest
    body: str
    request_hash: bytes


_encoder = msgspec.json.Encoder(order="deterministic")


def as_asked(request: TransferRequest) -> Asked:
    """Needs nothing but the request, so that it is done while the request waits."""
    body = _encoder.encode(request)
    return Asked(request, body.decode(), hashlib.sha256(kind_of(request).encode() + b"\n" + body).digest())


class Posting(msgspec.Struct, frozen=True, gc=False):
    """One line of a transfer: coins to an account, below zero from it."""

    account: str
    coins: int
    reason: EntryReason


class Known(msgspec.Struct, frozen=True, gc=False):
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


class Books:
    """Balances and earlier answers of everybody a batch concerns; decisions are recorded in the order they were taken.

    `balances`: available coins by account; an account that isn't there was never seen. `staked`: bets in pots by
    account. `closed`: which kind of transfer closed a stake, by the stake's key. `welcomed`: accounts that had their
    new account's grant. `topped_up`: accounts that had a top-up today, by the database's date.
    """

    def __init__(
        self,
        *,
        balances: dict[str, int] | None = None,
        staked: dict[str, int] | None = None,
        known: dict[str, Known] | None = None,
        closed: dict[str, TransferKind] | None = None,
        welcomed: Iterable[str] = (),
        topped_up: Iterable[str] = (),
    ) -> None:
        self.balances = balances if balances is not None else {}
        self.staked = staked if staked is not None else {}
        self.known = known if known is not None else {}
        self.closed = closed if closed is not None else {}
        self.welcomed = set(welcomed)
        self.topped_up = set(topped_up)

    def available(self, account: str) -> int:
        """The coins that can be spent; none where the account was never seen."""
        return self.balances.get(account, 0)

    def total(self, account: str) -> int:
        """All that a player has: the balance, the bets in pots, and as much again in reserves."""
        return self.balances.get(account, 0) + 2 * self.staked.get(account, 0)

    def stake(self, stake_key: str) -> StakeRequest | None:
        """The stake of this key, if it was granted."""
        known = self.known.get(stake_key)
        return known.stake if known is not None and known.answer.done else None

    def record(self, asked: Asked, decision: Decision) -> None:
        """Makes the decision part of the books, so that the next request of the batch is decided after it."""
        if not decision.is_new:
            return
        request = asked.request
        balances = self.balances
        for posting in decision.postings:
            balances[posting.account] = balances.get(posting.account, 0) + posting.coins
        stake = request if isinstance(request, StakeRequest) else None
        self.known[request.key] = Known(asked.request_hash, decision.answer, stake)
        if stake is not None and decision.answer.done:
            self._add_stakes(stake, sign=1)
        if decision.closes is not None:
            self._record_closing(decision.closes, kind_of(request))
        if isinstance(request, GrantRequest) and decision.answer.done:
            granted = self.welcomed if request.kind == "new_account" else self.topped_up
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


def kind_of(request: TransferRequest) -> TransferKind:
    """What a request is for, as stored."""
    match request:
        case StakeRequest():
            return TransferKind.STAKE
        case SettleRequest():
            return TransferKind.SETTLE
        case RefundRequest():
            return TransferKind.REFUND
        case GrantRequest():
            return TransferKind(request.kind)
