"""The one writer, which answers requests in batches. Open this when an answer is late, lost or given twice."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import overload

import structlog

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import BalancesAnswer, BalancesRequest, WalletAnswer
from darbar_kit.errors import Unavailable
from darbar_wallet.domain.decide import GrantTerms, decide
from darbar_wallet.domain.ledger_view import Decision, LedgerView
from darbar_wallet.domain.transfers import KeyedRequest, TransferRequest, keyed, kind_of, player
from darbar_wallet.metrics import Metrics
from darbar_wallet.store.ledger_store import BatchRefused, FenceLost, LedgerStore, OutcomeUnknown, Request

BATCH_REQUESTS_MAX = 500
# Beyond this a request is told to come back: its sender asks again with the same key.
REQUESTS_WAITING_MAX = 5_000
# A batch whose outcome is unknown is looked up and tried again for so long; the senders have given up by then.
RETRY_SECONDS_MAX = 10.0
RETRY_PAUSE_SECONDS = 0.05
RETRY_PAUSE_SECONDS_MAX = 1.0

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    request: Request
    wanted: KeyedRequest | None
    answered: asyncio.Future[WalletAnswer | BalancesAnswer]

    def answer(self, answer: WalletAnswer | BalancesAnswer) -> None:
        if not self.answered.done():
            self.answered.set_result(answer)

    def fail(self, reason: Reason) -> None:
        if not self.answered.done():
            self.answered.set_exception(Unavailable(reason))


class Writer:
    """What waits while one batch commits is the next batch. One run() at a time; it ends with FenceLost."""

    def __init__(self, store: LedgerStore, *, terms: GrantTerms, metrics: Metrics) -> None:
        self._store = store
        self._terms = terms
        self._metrics = metrics
        self._waiting: deque[_Waiting] = deque()
        self._batch: list[_Waiting] = []
        self._some_wait = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    @overload
    async def ask(self, request: TransferRequest) -> WalletAnswer: ...
    @overload
    async def ask(self, request: BalancesRequest) -> BalancesAnswer: ...
    async def ask(self, request: Request) -> WalletAnswer | BalancesAnswer:
        """The answer once it is stored. Raises Unavailable: nothing is known then, and asking again is right."""
        if self._closed:
            raise Unavailable(Reason.WALLET_MOVED)
        if len(self._waiting) >= REQUESTS_WAITING_MAX:
            raise Unavailable(Reason.WALLET_BUSY)
        transfer = None if isinstance(request, BalancesRequest) else keyed(request)
        waiting = _Waiting(request, transfer, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._idle.clear()
        self._some_wait.set()
        return await waiting.answered

    async def run(self) -> None:
        """Answers until it is cancelled or raises FenceLost. Whoever waits then is told to ask again."""
        try:
            while True:
                await self._some_wait.wait()
                self._batch = self._take()
                await self._answer(self._batch)
                if not self._waiting:
                    self._some_wait.clear()
                    self._idle.set()
        finally:
            self._closed = True
            for waiting in (*self._batch, *self._waiting):
                waiting.fail(Reason.WALLET_MOVED)
            self._waiting.clear()
            self._idle.set()
            await self._store.close()

    async def drain(self) -> None:
        """Waits until nothing waits. No new requests should come any more."""
        await self._idle.wait()

    def _take(self) -> list[_Waiting]:
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), BATCH_REQUESTS_MAX))]
        self._metrics.waiting.set(len(self._waiting))
        return batch

    async def _answer(self, batch: list[_Waiting]) -> None:
        try:
            answers = await self._stored(batch)
        except FenceLost:
            raise
        except OutcomeUnknown as unknown:
            _log.error("batch_given_up", requests=len(batch), reason=str(unknown))
            for waiting in batch:
                waiting.fail(Reason.STORAGE_UNAVAILABLE)
        except Exception as error:  # noqa: BLE001  # The outermost loop of a batch: one impossible request hurts no other.
            await self._answer_halves(batch, error)
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                waiting.answer(answer)

    async def _answer_halves(self, batch: list[_Waiting], error: Exception) -> None:
        """Finds the impossible request in a few steps, so that its sender may ask for ever and delay nobody much."""
        self._metrics.batches_failed.labels("refused" if isinstance(error, BatchRefused) else "bug").inc()
        if len(batch) == 1:
            _log.error("request_impossible", request=type(batch[0].request).__name__, exc_info=error)
            batch[0].fail(Reason.REQUEST_FAILED)
            return
        _log.warning("batch_split", requests=len(batch), reason=str(error))
        middle = len(batch) // 2
        await self._answer(batch[:middle])
        await self._answer(batch[middle:])

    async def _stored(self, batch: Sequence[_Waiting]) -> list[WalletAnswer | BalancesAnswer]:
        """Writes the batch. After an unknown outcome its keys are looked up, which is what writing it again does."""
        loop = asyncio.get_running_loop()
        end = loop.time() + RETRY_SECONDS_MAX
        pause_seconds = RETRY_PAUSE_SECONDS
        while True:
            try:
                return await self._write(batch)
            except OutcomeUnknown as unknown:
                self._metrics.batches_failed.labels("outcome_unknown").inc()
                _log.warning("outcome_unknown", requests=len(batch), reason=str(unknown))
                if loop.time() > end:
                    raise
            await asyncio.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, RETRY_PAUSE_SECONDS_MAX)

    async def _write(self, batch: Sequence[_Waiting]) -> list[WalletAnswer | BalancesAnswer]:
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
