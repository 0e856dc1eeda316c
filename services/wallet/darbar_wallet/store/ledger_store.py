"""How a batch reaches the database. Open this when something is stored wrongly, or not known to be stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias
from uuid import UUID

import asyncpg
import msgspec

from darbar_contracts.wallet import (
    AdjustRequest,
    BalancesRequest,
    GrantRequest,
    RefundRequest,
    SettleRequest,
    StakeRequest,
    WalletAnswer,
)
from darbar_kit.database import FenceLost, connect, translated
from darbar_wallet.domain.ledger_view import Decision, EarlierAnswer, LedgerView
from darbar_wallet.domain.transfers import (
    BANK,
    FORFEIT,
    ROUNDING,
    BankRequest,
    KeyedRequest,
    TransferKind,
    TransferRequest,
    is_player,
    kind_of,
    player,
    pot,
    reserve,
)

Request = TransferRequest | BalancesRequest
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

_answer_decoder = msgspec.json.Decoder(WalletAnswer)
_stake_decoder = msgspec.json.Decoder(StakeRequest)


class LastNumbers(msgspec.Struct, frozen=True):
    """The last ones given. The writer counts on from them: players up, other accounts down, transfers without gaps."""

    player: int = 0
    other: int = 0
    transfer: int = 0


class LedgerStore:
    """The one writer's own connection. Only one batch at a time."""

    def __init__(self, database_url: str, queries: Mapping[str, str], *, writer_id: UUID, generation: int) -> None:
        self._database_url = database_url
        self._queries = queries
        self._writer_id = writer_id
        self._generation = generation
        self._connection: Connection | None = None
        self._numbers = LastNumbers()

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[LedgerBatch]:
        """All or nothing. Raises FenceLost, DatabaseAway, or the driver's error for what can't be stored."""
        try:
            connection = await self._connected()
            batch = LedgerBatch(
                connection,
                self._queries,
                writer_id=self._writer_id,
                generation=self._generation,
                numbers=self._numbers,
            )
            with translated():
                async with connection.transaction():
                    yield batch
        except BaseException:
            # What became of it is not known: the next batch waits on a new connection until this one has ended.
            self.close()
            raise
        self._numbers = batch.numbers

    def close(self) -> None:
        """Ends the connection without waiting for anybody."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = connection = await connect(self._database_url)
            with translated(maybe_done=False):
                # Tables grow from nothing to millions of rows while one plan is kept; all that is asked has an index.
                await connection.execute("SET enable_seqscan = off")
                await connection.execute("SET jit = off")
                # An append sent over an earlier connection may still be under way. This waits until it has ended, so
                # that looking its keys up says what became of it.
                if await connection.fetchval(self._queries["await_own_append"], self._writer_id) is None:
                    raise FenceLost(str(self._writer_id))
                self._numbers = LastNumbers(*await connection.fetchrow(self._queries["last_numbers"]) or ())
        return self._connection


class LedgerBatch:
    """An open transaction. `numbers` are the last ones after what was appended."""

    def __init__(
        self,
        connection: Connection,
        queries: Mapping[str, str],
        *,
        writer_id: UUID,
        generation: int,
        numbers: LastNumbers,
    ) -> None:
        self._connection = connection
        self._queries = queries
        self._writer_id = writer_id
        self._generation = generation
        self._account_numbers: dict[str, int] = {}
        self.numbers = numbers

    async def view(self, requests: Sequence[Request]) -> LedgerView:
        """All that deciding on these requests needs; their accounts stay locked until the end of the batch."""
        answered, closed = await self._answered(requests)
        granted_new_account, granted_top_up = await self._grants(requests)
        concerned = accounts_of(requests, answered)
        rows = await self._connection.fetch(self._queries["lock_accounts"], sorted(concerned))
        self._account_numbers = {account: number for number, account, _, _ in rows}
        return LedgerView(
            balances={account: balance_coins for _, account, balance_coins, _ in rows},
            staked={account: staked_coins for _, account, _, staked_coins in rows},
            answered=answered,
            closed=closed,
            granted_new_account=granted_new_account,
            granted_top_up=granted_top_up,
        )

    async def append(self, decided: Sequence[tuple[KeyedRequest, Decision]]) -> None:
        """Stores what is new, and opens the accounts that have no row yet. Raises FenceLost."""
        first = self.numbers.transfer + 1
        opened = self._open_accounts(decided)
        transfers = [_transfer_row(number, *both) for number, both in enumerate(decided, first)]
        alive = await self._connection.fetchval(
            self._queries["append"],
            self._writer_id,
            *_columns(opened, 2),
            *_columns(transfers, 14),
            self._generation,
            *self._entry_columns(decided, first),
        )
        if not alive:
            raise FenceLost(str(self._writer_id))

    def _entry_columns(self, decided: Sequence[tuple[KeyedRequest, Decision]], first: int) -> list[str]:
        """Transfer's number, line, account's number, coins, reason."""
        columns: tuple[list[object], ...] = ([], [], [], [], [])
        numbers, lines, accounts, coins, reasons = columns
        for number, (_, decision) in enumerate(decided, first):
            for line, posting in enumerate(decision.postings, 1):
                numbers.append(number)
                lines.append(line)
                accounts.append(self._account_numbers[posting.account])
                coins.append(posting.coins)
                reasons.append(posting.reason)
        return [_array(column) for column in columns]

    def _open_accounts(self, decided: Sequence[tuple[KeyedRequest, Decision]]) -> list[tuple[int, str]]:
        moved = {posting.account: None for _, decision in decided for posting in decision.postings}
        missing = [account for account in moved if account not in self._account_numbers]
        players = [account for account in missing if is_player(account)]
        others = [account for account in missing if not is_player(account)]
        opened = [*enumerate(players, self.numbers.player + 1)]
        opened += [(self.numbers.other - place, account) for place, account in enumerate(others, 1)]
        self._account_numbers |= {account: number for number, account in opened}
        self.numbers = LastNumbers(
            self.numbers.player + len(players), self.numbers.other - len(others), self.numbers.transfer + len(decided)
        )
        return opened

    async def _answered(self, requests: Sequence[Request]) -> tuple[dict[str, EarlierAnswer], dict[str, TransferKind]]:
        answered: dict[str, EarlierAnswer] = {}
        closed: dict[str, TransferKind] = {}
        keys = [request.key for request in requests if not isinstance(request, BalancesRequest)]
        stake_keys = [request.stake_key for request in requests if isinstance(request, SettleRequest | RefundRequest)]
        stakes = [request.key for request in requests if isinstance(request, StakeRequest)]
        if not keys:
            return answered, closed
        rows = await self._connection.fetch(
            self._queries["earlier_answers"], [*keys, *stake_keys], [*stake_keys, *stakes]
        )
        for key, kind, request_hash, answer, stake, closes in rows:
            if closes is not None:
                closed[closes] = TransferKind(kind)
            else:
                request = _stake_decoder.decode(stake) if stake is not None else None
                answered[key] = EarlierAnswer(request_hash, _answer_decoder.decode(answer), request)
        return answered, closed

    async def _grants(self, requests: Sequence[Request]) -> tuple[set[str], set[str]]:
        granted: dict[str, set[str]] = {TransferKind.NEW_ACCOUNT: set(), TransferKind.TOP_UP: set()}
        account_ids = [request.account_id for request in requests if isinstance(request, GrantRequest)]
        if account_ids:
            for account_id, kind in await self._connection.fetch(self._queries["grants_made"], account_ids):
                granted[kind].add(account_id)
        return granted[TransferKind.NEW_ACCOUNT], granted[TransferKind.TOP_UP]


def accounts_of(requests: Iterable[Request], answered: Mapping[str, EarlierAnswer]) -> set[str]:
    """Every account that one of the requests could move, or asks for."""
    stakes = {request.key: request for request in requests if isinstance(request, StakeRequest)}
    found: set[str] = set()
    for request in requests:
        match request:
            case StakeRequest():
                found |= _accounts_of_stake(request)
            case SettleRequest() | RefundRequest():
                earlier = answered.get(request.stake_key)
                stake = earlier.stake if earlier is not None else stakes.get(request.stake_key)
                if stake is not None:
                    found |= _accounts_of_stake(stake)
                if isinstance(request, SettleRequest):
                    found |= {player(share.account_id) for share in request.shares} | {FORFEIT, ROUNDING}
            case GrantRequest() | AdjustRequest():
                found |= {BANK, player(request.account_id)}
            case BalancesRequest():
                found |= {player(account_id) for account_id in request.account_ids}
    return found


def _accounts_of_stake(stake: StakeRequest) -> set[str]:
    return {pot(stake.table_id), reserve(stake.table_id), *(player(seat.account_id) for seat in stake.seats)}


def _transfer_row(number: int, wanted: KeyedRequest, decision: Decision) -> tuple[object, ...]:
    request = wanted.request
    return (
        number,
        request.key,
        kind_of(request),
        decision.answer.done,
        wanted.request_hash,
        wanted.body,
        msgspec.json.encode(decision.answer).decode(),
        None if isinstance(request, BankRequest) else request.table_id,
        None if isinstance(request, BankRequest) else request.unit,
        decision.closes,
        request.purpose if isinstance(request, SettleRequest | RefundRequest) else None,
        request.account_id if isinstance(request, BankRequest) else None,
        sum(posting.coins for posting in decision.postings if posting.coins > 0),
        len(decision.postings),
    )


def _columns(rows: Sequence[tuple[object, ...]], width: int) -> list[tuple[object, ...]]:
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _array(values: Iterable[object]) -> str:
    """The text of an array of numbers or of reasons: nothing in them needs quoting."""
    return "{" + ",".join(map(str, values)) + "}"
