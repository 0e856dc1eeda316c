"""What the table service counts. Units are in the names; no player's id is ever a label."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

APPEND_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5)
HANDOVER_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
APPEND_EVENTS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


class Metrics(Collector):
    """One set for a process; `registry` is what /metrics shows."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        # Counted with every move, so as plain numbers.
        self.moves_by = dict.fromkeys(("player", "clock", "bot", "table"), 0)
        self.events = 0
        self.registry.register(self)
        self.refusals = Counter("table_refusals", "Frames refused, by reason", ["reason"], registry=self.registry)
        self.frozen = Counter("table_frozen", "Tables frozen because of a fault of ours", registry=self.registry)
        self.append_seconds = Histogram(
            "table_append_seconds", "From taking a batch to its outcome", buckets=APPEND_SECONDS, registry=self.registry
        )
        self.append_events = Histogram(
            "table_append_events", "Events in a batch", buckets=APPEND_EVENTS, registry=self.registry
        )
        self.unknown_outcomes = Counter(
            "table_append_unknown_outcomes", "Appends whose outcome had to be looked up", registry=self.registry
        )
        self.sockets = Gauge("table_sockets", "Open players' sockets", registry=self.registry)
        self.tables = Gauge("table_tables", "Tables owned and loaded", registry=self.registry)
        self.milestones = Counter("table_milestones", "Milestones published", registry=self.registry)
        self.outbox_oldest_seconds = Gauge(
            "table_outbox_oldest_seconds", "How long milestones have waited to be published", registry=self.registry
        )
        self.wallet_retries = Counter(
            "table_wallet_retries", "Questions asked of the wallet again", registry=self.registry
        )

        self._count_shards()

    def _count_shards(self) -> None:
        """How tables move, are loaded and put away, and how they are at this moment."""
        self.shards = Gauge("table_shards", "Shards owned and served", registry=self.registry)
        self.tables_frozen = Gauge(
            "table_tables_frozen", "Tables owned that are stopped at this moment", registry=self.registry
        )
        self.shards_handed_over = Counter(
            "table_shards_handed_over", "Shards given to another living process", registry=self.registry
        )
        self.handover_seconds = Histogram(
            "table_handover_seconds",
            "For how long the tables of a group that moves are not served",
            buckets=HANDOVER_SECONDS,
            registry=self.registry,
        )
        self.archived = Counter("table_archived", "Tables whose logs went to the archive", registry=self.registry)
        self.snapshots_unfit = Counter(
            "table_snapshots_unfit", "Snapshots that were ignored: the whole log was read", registry=self.registry
        )
        self.load_failures = Counter(
            "table_load_failures", "Attempts to load shards that failed and are repeated", registry=self.registry
        )

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The plain numbers, when somebody asks."""
        moves = CounterMetricFamily("table_moves", "Decisions stored, by who decided", None, ["by"])
        for by, count in self.moves_by.items():
            moves.add_metric([by], count)
        yield moves
        yield CounterMetricFamily("table_events", "Events stored", value=self.events)
