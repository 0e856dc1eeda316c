"""What is done with a request. Open this to change it."""

from __future__ import annotations

import time

from darbar_bot.engine.workers import Workers
from darbar_bot.metrics import Metrics
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_kit.errors import Refused, Unavailable


class Handlers:
    """Deciding, counted."""

    def __init__(self, workers: Workers, metrics: Metrics) -> None:
        self._workers = workers
        self._metrics = metrics

    async def decide(self, request: BotRequest) -> BotAnswer:
        """Raises Refused and Unavailable with a Reason."""
        began = time.perf_counter()
        try:
            answer = await self._workers.decide(request)
        except (Refused, Unavailable) as failure:
            self._metrics.failures.labels(reason=failure.code).inc()
            raise
        self._metrics.decisions.inc()
        self._metrics.decision_seconds.observe(time.perf_counter() - began)
        return answer
