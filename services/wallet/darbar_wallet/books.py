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


def pot(table_id: str) -> str:
    """Where the bets of a table lie."""
    return f"pot:{table_id}"


def reserve(table_id: str) -> str:
    """Where the second bets lie, from which a Court is paid."""
    return f"reserve:{table_id}"


class Funds(msgspec.Struct, frozen=True):
    """What an account has, and its bets in pots; as much as those is reserved besides, for paying again."""

    balance_coins: int = 0
    staked_coins: int = 0


class Posting(msgspec.Struct, frozen=True):
    """One line of a transfer: coins to an account, below zero from it."""

    account: str
    coins: int
    reason: EntryReason


class Known(msgspec.Struct, frozen=True):
    """A transfer that was answered: what was asked, and the answer that it keeps for ever."""

    request_hash: bytes
    answer: WalletAnswer
    stake: StakeRequest | None = None


class Decision(msgspec.Struct, frozen=True):
    """What a request does. `is_new` False: it was answered before (or its key was), and nothing is to be stored.

    `body` is the request as it is stored, `request_hash` its hash.
    """

    answer: WalletAnswer
    body: bytes = b""
    request_hash: bytes = b""
    is_new: bool = True
    postings: tuple[Posting, ...] = ()
    closes: str | None = None


_NOTHING = Funds()


class Books:
    """Balances and earlier answers of everybody a batch concerns; decisions are recorded in the order they were taken.

    `closed`: which kind of transfer closed a stake, by the stake's key. `welcomed`: accounts that had their new
    account's grant. `topped_up`: accounts that had a top-up today, by the database's date.
    """

    def __init__(
        self,
        *,
        funds: dict[str, Funds] | None = None,
        known: dict[str, Known] | None = None,
        closed: dict[str, TransferKind] | None = None,
        welcomed: Iterable[str] = (),
        topped_up: Iterable[str] = (),
    ) -> None:
        self.funds = funds or {}
        self.known = known or {}
        self.closed = closed or {}
        self.welcomed = set(welcomed)
        self.topped_up = set(topped_up)

    def available(self, account: str) -> int:
        """The coins that can be spent; none where the account was never seen."""
        return self.funds.get(account, _NOTHING).balance_coins

    def total(self, account: str) -> int:
        """All that a player has: the balance and what lies at tables."""
        funds = self.funds.get(account, _NOTHING)
        return funds.balance_coins + 2 * funds.staked_coins

    def stake(self, stake_key: str) -> StakeRequest | None:
        """The stake of this key, if it was granted."""
        known = self.known.get(stake_key)
        return known.stake if known is not None and known.answer.done else None

    def record(self, request: TransferRequest, decision: Decision) -> None:
        """Makes the decision part of the books, so that the next request of the batch is decided after it."""
        if not decision.is_new:
            return
        stake = request if isinstance(request, StakeRequest) else None
        self.known[request.key] = Known(decision.request_hash, decision.answer, stake)
        for posting in decision.postings:
            self._add(posting.account, posting.coins)
        if stake is not None and decision.answer.done:
            self._add_stakes(stake, sign=1)
        if decision.closes is not None:
            self.closed[decision.closes] = kind_of(request)
            closed = self.stake(decision.closes)
            if closed is not None:
                self._add_stakes(closed, sign=-1)
        if isinstance(request, GrantRequest) and decision.answer.done:
            granted = self.welcomed if request.kind == "new_account" else self.topped_up
            granted.add(request.account_id)

    def _add_stakes(self, stake: StakeRequest, *, sign: int) -> None:
        for seat in stake.seats:
            self._add(player(seat.account_id), 0, staked_coins=sign * stake.bet_coins)

    def _add(self, account: str, coins: int, *, staked_coins: int = 0) -> None:
        funds = self.funds.get(account, _NOTHING)
        self.funds[account] = Funds(funds.balance_coins + coins, funds.staked_coins + staked_coins)


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


_encoder = msgspec.json.Encoder(order="deterministic")


def written(request: TransferRequest) -> bytes:
    """The request as it is stored and hashed."""
    return _encoder.encode(request)


def request_hash(request: TransferRequest, body: bytes) -> bytes:
    """What tells a repeat from another request under the same key. `body` is written(request)."""
    return hashlib.sha256(kind_of(request).encode() + b"\n" + body).digest()
