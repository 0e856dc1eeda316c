"""What the wallet counts. Open this when a series is missing."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BATCH_SIZES = (1, 2, 5, 10, 20, 50, 100, 200)
_BATCH_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """One registry for one wallet. Labels are kinds and codes, never an account or a table."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.transfers = Counter("wallet_transfers", "Requests that were carried out", ["kind"], registry=self.registry)
        self.refusals = Counter("wallet_refusals", "Requests that were refused", ["reason"], registry=self.registry)
        self.repeats = Counter("wallet_repeats", "Requests whose key had been answered before", registry=self.registry)
        self.batches_failed = Counter(
            "wallet_batches_failed", "Batches that were not stored at once", ["reason"], registry=self.registry
        )
        self.batch_requests = Histogram(
            "wallet_batch_requests", "Requests in a batch", buckets=_BATCH_SIZES, registry=self.registry
        )
        self.batch_seconds = Histogram(
            "wallet_batch_seconds", "From taking a batch to its commit", buckets=_BATCH_SECONDS, registry=self.registry
        )
        self.waiting = Gauge("wallet_requests_waiting", "Requests that wait for a batch", registry=self.registry)
        self.leader = Gauge("wallet_leader", "1 while this process is the one that writes", registry=self.registry)
