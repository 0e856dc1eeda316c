"""What the bot service counts. Open this when a series is missing."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_DECISION_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)


class Metrics:
    """One registry for one service. Labels are codes, never a table or a seat."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.decisions = Counter("bot_decisions", "Requests that were answered with a decision", registry=self.registry)
        self.failures = Counter(
            "bot_failures", "Requests that were refused or failed", ["reason"], registry=self.registry
        )
        self.decision_seconds = Histogram(
            "bot_decision_seconds",
            "From taking a request to its decision, waiting included",
            buckets=_DECISION_SECONDS,
            registry=self.registry,
        )
        self._waiting = Gauge("bot_requests_waiting", "Requests that wait for a child", registry=self.registry)
        self._ready = Gauge("bot_children_ready", "Children that take requests", registry=self.registry)

    def look_at(self, *, waiting: Callable[[], int], ready: Callable[[], int]) -> None:
        """Read these two whenever the metrics are asked for."""
        self._waiting.set_function(waiting)
        self._ready.set_function(ready)
