"""What media counts. Units are in the names; no player's id is ever a label."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PIPELINE_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12)


class Metrics:
    """One registry for one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.notes = Counter("media_notes", "Voice notes that were stored", registry=self.registry)
        self.refusals = Counter("media_refusals", "Uploads that were refused", ["reason"], registry=self.registry)
        self.unheard = Counter(
            "media_notes_unheard", "Notes stored whose table could not be told in time", registry=self.registry
        )
        self.pipeline_seconds = Histogram(
            "media_pipeline_seconds",
            "From a recording's last byte to its note, waiting included",
            buckets=PIPELINE_SECONDS,
            registry=self.registry,
        )
        self.notes_deleted = Counter("media_notes_deleted", "Notes that are gone for good", registry=self.registry)
        self.reports_waiting = Gauge(
            "media_reports_waiting", "Reported notes that nobody has dealt with", registry=self.registry
        )
        self.reports_oldest_seconds = Gauge(
            "media_reports_oldest_seconds", "How long the oldest of these has waited", registry=self.registry
        )
