"""What the wallet counts. Open this when a series is missing."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from darbar_contracts.wallet import TablesAudit, WalletAudit

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
        self.audit_good = Gauge("wallet_audit_good", "1 when the last audit found no coin off", registry=self.registry)
        self.audit_transfers = Gauge("wallet_audit_transfers", "Transfers in the last audit", registry=self.registry)
        self.audit_seconds = Gauge("wallet_audit_seconds", "How long the last audit took", registry=self.registry)
        self.audit_at_seconds = Gauge(
            "wallet_audit_at_seconds", "When the last audit ended, in seconds since 1970", registry=self.registry
        )
        self.tables_audit_good = Gauge(
            "wallet_tables_audit_good", "1 when ledger and tables' logs agreed on every stake", registry=self.registry
        )
        self.tables_audit_at_seconds = Gauge(
            "wallet_tables_audit_at_seconds",
            "When ledger and logs were last compared, in seconds since 1970",
            registry=self.registry,
        )
        self.leader = Gauge("wallet_leader", "1 while this process is the one that writes", registry=self.registry)

    def note_audit(self, audit: WalletAudit, seconds: float) -> None:
        """The last one is what is shown."""
        self.audit_good.set(int(audit.is_good))
        self.audit_transfers.set(audit.transfers)
        self.audit_seconds.set(seconds)
        self.audit_at_seconds.set(audit.at.timestamp())

    def note_tables_audit(self, audit: TablesAudit, _seconds: float) -> None:
        """The last one is what is shown."""
        self.tables_audit_good.set(int(audit.is_good))
        self.tables_audit_at_seconds.set(audit.at.timestamp())
