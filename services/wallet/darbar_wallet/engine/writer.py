"""The one writer, which answers requests in batches. Open this when an answer is late, lost or given twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import overload

import structlog

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import BalancesAnswer, BalancesRequest, WalletAnswer
from darbar_kit.database import DatabaseAway, FenceLost, GroupCommit
from darbar_kit.errors import Unavailable
from darbar_wallet.domain.decide import GrantTerms, decide
from darbar_wallet.domain.ledger_view import Decision, LedgerView
from darbar_wallet.domain.transfers import KeyedRequest, TransferRequest, keyed, kind_of, player
from darbar_wallet.metrics import Metrics
from darbar_wallet.store.ledger_store import LedgerStore, Request

BATCH_REQUESTS_MAX = 500
# Beyond this a request is told to come back: its sender asks again with the same key.
REQUESTS_WAITING_MAX = 5_000
# A batch whose outcome is unknown is looked up and tried again for so long; the senders have given up by then.
RETRY_SECONDS_MAX = 10.0

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, eq=False)
class WaitingRequest:
    """A request and the one who waits for its answer; `wanted` None when it only asks for balances."""

    request: Request
    wanted: KeyedRequest | None
    answered: asyncio.Future[WalletAnswer | BalancesAnswer]

    def answer(self, answer: WalletAnswer | BalancesAnswer) -> None:
        """Nothing when nobody waits any more."""
        if not self.answered.done():
            self.answered.set_result(answer)

    def fail(self, reason: Reason) -> None:
        """Nothing is known about it: asking again is right."""
        if not self.answered.done():
            self.answered.set_exception(Unavailable(reason))


class Writer:
    """A storage for the kit's group commit, which is in here as well. One run() at a time; it ends with FenceLost."""

    def __init__(self, store: LedgerStore, *, terms: GrantTerms, metrics: Metrics) -> None:
        self._store = store
        self._terms = terms
        self._metrics = metrics
        self._queue: GroupCommit[WaitingRequest] = GroupCommit(
            batch_max=BATCH_REQUESTS_MAX, waiting_max=REQUESTS_WAITING_MAX, batch_seconds_max=RETRY_SECONDS_MAX
        )
        self._closed = False
        metrics.waiting.set_function(lambda: self._queue.waiting)

    @overload
    async def ask(self, request: TransferRequest) -> WalletAnswer: ...
    @overload
    async def ask(self, request: BalancesRequest) -> BalancesAnswer: ...
    async def ask(self, request: Request) -> WalletAnswer | BalancesAnswer:
        """The answer once it is stored. Raises Unavailable: nothing is known then, and asking again is right."""
        if self._closed:
            raise Unavailable(Reason.WALLET_MOVED)
        wanted = None if isinstance(request, BalancesRequest) else keyed(request)
        waiting = WaitingRequest(request, wanted, asyncio.get_running_loop().create_future())
        if not self._queue.offer(waiting):
            raise Unavailable(Reason.WALLET_BUSY)
        return await waiting.answered

    async def run(self) -> None:
        """Answers until it is cancelled or raises FenceLost. Whoever waits then is told to ask again."""
        try:
            await self._queue.run(self)
        finally:
            self._closed = True
            for waiting in self._queue.abandoned():
                waiting.fail(Reason.WALLET_MOVED)
            self._store.close()

    @property
    def is_stuck(self) -> bool:
        """Whether requests wait whose answers the database doesn't store."""
        return self._queue.is_stuck

    async def drained(self, seconds_max: float) -> bool:
        """Whether nothing waits any more, at the latest after so long. No new requests should come."""
        return await self._queue.drained(seconds_max)

    async def store(self, batch: Sequence[WaitingRequest]) -> None:
        """All is decided, stored and answered. Raises FenceLost, DatabaseAway, or what is impossible in it."""
        try:
            answers = await self._written(batch)
        except FenceLost:
            raise
        except Exception as error:
            reason = "database_away" if isinstance(error, DatabaseAway) else "impossible"
            self._metrics.batches_failed.labels(reason).inc()
            raise
        for waiting, answer in zip(batch, answers, strict=True):
            waiting.answer(answer)

    async def unstored(self, batch: Sequence[WaitingRequest]) -> Sequence[WaitingRequest]:
        """Everything: a request that is stored is known by its key when it is decided again."""
        return batch

    def refuse(self, item: WaitingRequest, error: Exception) -> None:
        """It can't be stored even by itself: a constraint refuses it, or a fault of ours."""
        _log.error("request_impossible", request=type(item.request).__name__, exc_info=error)
        item.fail(Reason.REQUEST_FAILED)

    def give_up(self, item: WaitingRequest) -> None:
        """It may be stored or not."""
        item.fail(Reason.STORAGE_UNAVAILABLE)

    async def _written(self, batch: Sequence[WaitingRequest]) -> list[WalletAnswer | BalancesAnswer]:
        started = perf_counter()
        answers: list[WalletAnswer | BalancesAnswer] = []
        decided: list[tuple[KeyedRequest, Decision]] = []
        async with self._store.batch() as transaction:
            ledger = await transaction.view([waiting.request for waiting in batch])
            for waiting in batch:
                if isinstance(waiting.request, BalancesRequest):
                    answers.append(_balances(waiting.request, ledger))
                elif waiting.wanted is not None:
                    decision = decide(waiting.wanted, ledger, self._terms)
                    ledger.record(waiting.wanted, decision)
                    decided.append((waiting.wanted, decision))
                    answers.append(decision.answer)
            new = [(wanted, decision) for wanted, decision in decided if decision.is_new]
            if new:
                await transaction.append(new)
        self._count(decided, len(batch), perf_counter() - started)
        return answers

    def _count(self, decided: Sequence[tuple[KeyedRequest, Decision]], requests: int, seconds: float) -> None:
        self._metrics.batch_requests.observe(requests)
        self._metrics.batch_seconds.observe(seconds)
        done = Counter(
            kind_of(wanted.request) for wanted, decision in decided if decision.is_new and decision.answer.done
        )
        for kind, count in done.items():
            self._metrics.transfers.labels(kind).inc(count)
        reasons = (decision.answer.reason for _, decision in decided)
        for reason, count in Counter(reason for reason in reasons if reason is not None).items():
            self._metrics.refusals.labels(reason).inc(count)
        self._metrics.repeats.inc(sum(not decision.is_new for _, decision in decided))


def _balances(request: BalancesRequest, ledger: LedgerView) -> BalancesAnswer:
    accounts = ((account_id, player(account_id)) for account_id in request.account_ids)
    return BalancesAnswer({account_id: ledger.available(it) for account_id, it in accounts if it in ledger.balances})
