"""The wallet's statements in plain Python, one step each. Open this beside `queries.sql` of its store.

What the ledger's trigger refuses is refused here too, in so far as a wallet without a fault could come near it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
from database_double import Blocked, Rows, Session
from tables_statements import unique_violation

from darbar_kit.database import queries
from darbar_wallet.domain.transfers import BANK, BOTS, FORFEIT, ROUNDING

WRITER_ROW = "wallet_writer"
# Bank and bots.
MAY_BE_BELOW_ZERO = (-1, -2)
OUR_ACCOUNTS = (BANK, BOTS, FORFEIT, ROUNDING)
COLUMNS_OF_A_TRANSFER = 14


@dataclass
class Account:
    number: int
    account: str
    balance_coins: int = 0
    staked_coins: int = 0


class WalletEntry(NamedTuple):
    transfer_number: int
    line: int
    account_number: int
    coins: int
    reason: str


class Transfer(NamedTuple):
    """In the order of the statement's columns."""

    number: int
    key: str
    kind: str
    done: bool
    request_hash: bytes
    request: str
    answer: str
    table_id: str | None
    unit: str | None
    closes: str | None
    purpose: str | None
    account_id: str | None
    amount_coins: int
    entry_count: int


@dataclass
class Writer:
    """The row of `wallet_writer`."""

    writer_id: UUID
    expires_at: datetime


@dataclass
class WalletDatabase:
    """The ledger."""

    writer: Writer | None = None
    accounts: dict[str, Account] = field(default_factory=dict)
    transfers: dict[str, Transfer] = field(default_factory=dict)
    entries: dict[int, list[WalletEntry]] = field(default_factory=dict)
    closed: dict[str, Transfer] = field(default_factory=dict)
    granted: dict[str, Transfer] = field(default_factory=dict)
    locks: dict[str, Session] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, account in enumerate(OUR_ACCOUNTS, 1):
            self.accounts[account] = Account(-number, account)

    def run(self, statement: str, arguments: Sequence[Any], now: datetime, session: Session) -> Rows | Blocked:
        name = NAMES.get(statement)
        if name is None:
            if statement.startswith("SET "):
                return []
            raise asyncpg.UndefinedFunctionError(f"nobody has told the double what this does: {statement}")
        found: Rows | Blocked = getattr(self, f"_{name}")(now, session, *arguments)
        return found

    def unlock(self, session: Session) -> None:
        for name in [name for name, holder in self.locks.items() if holder is session]:
            del self.locks[name]

    def _blocked(self, session: Session, *names: str) -> Blocked | None:
        holders = (self.locks.get(name) for name in names)
        return next((Blocked(holder) for holder in holders if holder not in (None, session)), None)

    # The writer's row.

    def _expire_writer(self, now: datetime, session: Session) -> Rows | Blocked:
        if self.writer is None or self.writer.expires_at >= now:
            return []
        blocked = self._blocked(session, WRITER_ROW)
        if blocked is not None:
            return blocked
        self.writer = None
        return []

    def _claim_writer(self, now: datetime, session: Session, writer_id: UUID, seconds: float) -> Rows:
        if self.writer is not None:
            return []
        self.writer = Writer(writer_id, now + timedelta(seconds=seconds))
        return [{"writer_id": writer_id}]

    def _renew_writer(self, now: datetime, session: Session, writer_id: UUID, seconds: float) -> Rows:
        if not self._is_alive(writer_id):
            return []
        self.writer = Writer(writer_id, now + timedelta(seconds=seconds))
        return [{"writer_id": writer_id}]

    def _await_own_append(self, now: datetime, session: Session, writer_id: UUID) -> Rows | Blocked:
        if not self._is_alive(writer_id):
            return []
        return self._blocked(session, WRITER_ROW) or [{"writer_id": writer_id}]

    def _release_writer(self, now: datetime, session: Session, writer_id: UUID) -> Rows | Blocked:
        if not self._is_alive(writer_id):
            return []
        blocked = self._blocked(session, WRITER_ROW)
        if blocked is not None:
            return blocked
        self.writer = None
        return [{"writer_id": writer_id}]

    def _is_alive(self, writer_id: UUID) -> bool:
        return self.writer is not None and self.writer.writer_id == writer_id

    # The ledger.

    def _last_numbers(self, now: datetime, session: Session) -> Rows:
        numbers = [account.number for account in self.accounts.values()]
        return [(max(0, *numbers), min(0, *numbers), len(self.transfers))]

    def _earlier_answers(self, now: datetime, session: Session, keys: list[str], stakes: list[str]) -> Rows:
        known = [self.transfers[key] for key in dict.fromkeys(keys) if key in self.transfers]
        answers = [
            (one.key, one.kind, one.request_hash, one.answer, one.request if one.kind == "stake" else None, None)
            for one in known
        ]
        closing = [self.closed[stake] for stake in dict.fromkeys(stakes) if stake in self.closed]
        return [*answers, *((one.key, one.kind, None, None, None, one.closes) for one in closing)]

    def _grants_made(self, now: datetime, session: Session, account_ids: list[str]) -> Rows:
        return [(account_id, "new_account") for account_id in dict.fromkeys(account_ids) if account_id in self.granted]

    def _lock_accounts(self, now: datetime, session: Session, names: list[str]) -> Rows | Blocked:
        known = sorted(name for name in set(names) if name in self.accounts)
        blocked = self._blocked(session, *known)
        if blocked is not None:
            return blocked
        self.locks.update(dict.fromkeys(known, session))
        return [
            (one.number, one.account, one.balance_coins, one.staked_coins)
            for one in (self.accounts[name] for name in known)
        ]

    def _append(self, now: datetime, session: Session, writer_id: UUID, *columns: Any) -> Rows:
        if not self._is_alive(writer_id):
            return [{"count": 0}]
        self.locks[WRITER_ROW] = session
        opened = list(zip(*columns[:2], strict=True))
        transfers = list(map(Transfer._make, zip(*columns[2 : 2 + COLUMNS_OF_A_TRANSFER], strict=True)))
        entries = _entries(columns[3 + COLUMNS_OF_A_TRANSFER :])
        self._refuse_known(opened, transfers)
        numbers = {account.number: account for account in self.accounts.values()}
        numbers |= {number: Account(number, name) for number, name in opened}
        moved = self._moved(transfers, entries)
        for number, (coins, staked) in moved.items():
            account = numbers[number]
            if account.balance_coins + coins < 0 and number not in MAY_BE_BELOW_ZERO:
                raise _check_violation("balance_not_below_zero")
            if account.staked_coins + staked < 0:
                raise _check_violation("staked_not_below_zero")

        def commit() -> None:
            for number, name in opened:
                self.accounts[name] = numbers[number]
            for number, (coins, staked) in moved.items():
                numbers[number].balance_coins += coins
                numbers[number].staked_coins += staked
            for one in transfers:
                self.transfers[one.key] = one
                self.entries[one.number] = entries.get(one.number, [])
                if one.closes is not None:
                    self.closed[one.closes] = one
                if one.kind == "new_account" and one.done:
                    self.granted[one.account_id or ""] = one

        session.later.append(commit)
        return [{"count": 1}]

    def _refuse_known(self, opened: list[tuple[int, str]], transfers: list[Transfer]) -> None:
        if any(name in self.accounts for _, name in opened):
            raise unique_violation("account_account_key")
        for one in transfers:
            if one.key in self.transfers:
                raise unique_violation("transfer_key_key")
            if one.closes is not None and one.closes in self.closed:
                raise unique_violation("transfer_closes_once")
            if one.kind == "new_account" and one.done and one.account_id in self.granted:
                raise unique_violation("transfer_new_account_once")

    def _moved(self, transfers: list[Transfer], entries: dict[int, list[WalletEntry]]) -> dict[int, tuple[int, int]]:
        """Coins and staked coins by account, as the trigger moves them; refuses what does not sum to zero."""
        moved: dict[int, tuple[int, int]] = {}

        def move(account: int, coins: int, staked: int) -> None:
            before = moved.get(account, (0, 0))
            moved[account] = (before[0] + coins, before[1] + staked)

        new = {one.key: one for one in transfers}
        for one in transfers:
            lines = entries.get(one.number, [])
            if sum(line.coins for line in lines) != 0 or len(lines) != one.entry_count:
                raise _check_violation("entries_sum_to_zero")
            for line in lines:
                move(line.account_number, line.coins, -line.coins if _is_bet(line) else 0)
            stake = None if one.closes is None else new.get(one.closes) or self.transfers.get(one.closes)
            if stake is not None and lines:
                staked = entries.get(stake.number) or self.entries.get(stake.number, [])
                _refuse_uneven(staked, lines)
                for line in filter(_is_bet, staked):
                    move(line.account_number, 0, line.coins)
        return moved


def _entries(columns: Sequence[str]) -> dict[int, list[WalletEntry]]:
    """They come as the text of arrays."""
    numbers, lines, accounts, coins, reasons = (text.strip("{}").split(",") if text != "{}" else [] for text in columns)
    rows = [
        WalletEntry(int(number), int(line), int(account), int(moved), reason)
        for number, line, account, moved, reason in zip(numbers, lines, accounts, coins, reasons, strict=True)
    ]
    return {number: list(group) for number, group in groupby(rows, lambda row: row.transfer_number)}


def _is_bet(line: WalletEntry) -> bool:
    return line.reason == "bet" and line.coins < 0


def _refuse_uneven(staked: list[WalletEntry], lines: list[WalletEntry]) -> None:
    """What ends a stake takes from pot and reserve exactly what the stake put there."""
    lying: dict[int, int] = {}
    for line in (*staked, *lines):
        if line.account_number < -len(OUR_ACCOUNTS):
            lying[line.account_number] = lying.get(line.account_number, 0) + line.coins
    if any(lying.values()):
        raise _check_violation("ending_empties_the_stake")


def _check_violation(constraint: str) -> asyncpg.CheckViolationError:
    error = asyncpg.CheckViolationError(f'violates check constraint "{constraint}"')
    error.constraint_name = constraint
    return error


STATEMENTS = queries("darbar_wallet.store")
NAMES = {text: name for name, text in STATEMENTS.items() if hasattr(WalletDatabase, f"_{name}")}
