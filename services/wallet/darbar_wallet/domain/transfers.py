"""The words of the ledger: accounts, kinds of transfers, reasons of lines, a request as stored. Begin here."""

from __future__ import annotations

import hashlib
from enum import StrEnum

import msgspec

from darbar_contracts.wallet import AdjustRequest, GrantRequest, RefundRequest, SettleRequest, StakeRequest

TransferRequest = StakeRequest | SettleRequest | RefundRequest | GrantRequest | AdjustRequest
# Between the bank and one player.
BankRequest = GrantRequest | AdjustRequest

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
    ADJUSTMENT = "adjustment"


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
    ADJUSTMENT = "adjustment"


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
class KeyedRequest(msgspec.Struct, frozen=True, gc=False):
    """A request, as it is stored, and the hash that tells a repeat from another request under the same key."""

    request: TransferRequest
    body: str
    request_hash: bytes


# Sorted: the order of the fields in the code is no part of a hash that is kept for ever.
_encoder = msgspec.json.Encoder(order="sorted")


def keyed(request: TransferRequest) -> KeyedRequest:
    """Needs nothing but the request, so that it is done while the request waits."""
    body = _encoder.encode(request)
    return KeyedRequest(request, body.decode(), hashlib.sha256(kind_of(request).encode() + b"\n" + body).digest())


class Posting(msgspec.Struct, frozen=True, gc=False):
    """One line of a transfer: coins to an account, below zero from it."""

    account: str
    coins: int
    reason: EntryReason


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
        case AdjustRequest():
            return TransferKind.ADJUSTMENT
