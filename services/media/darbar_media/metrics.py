"""What media counts. Units are in the names; no player's id is ever a label."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge


class Metrics:
    """One registry for one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.notes_deleted = Counter("media_notes_deleted", "Notes that are gone for good", registry=self.registry)
        self.reports_waiting = Gauge(
            "media_reports_waiting", "Reported notes that nobody has dealt with", registry=self.registry
        )
        self.reports_oldest_seconds = Gauge(
            "media_reports_oldest_seconds", "How long the oldest of these has waited", registry=self.registry
        )
