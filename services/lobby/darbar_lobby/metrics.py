"""What the lobby counts. Open this when a number on a dashboard is missing."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """One registry for one lobby. Labels are routes, kinds and codes, never an account or a table."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("lobby_requests", "HTTP requests.", ["route", "method", "status"], registry=registry)
        self.request_seconds = Histogram(
            "lobby_request_seconds", "Time to answer an HTTP request.", ["route"], registry=registry
        )
        self.refusals = Counter("lobby_refusals", "Requests refused, by reason.", ["reason"], registry=registry)
        self.limited = Counter(
            "lobby_limited", "Requests refused because they came too often, by limit.", ["limit"], registry=registry
        )
        self.limit_keys = Gauge(
            "lobby_limit_keys", "Addresses, accounts and names that a limit remembers.", ["limit"], registry=registry
        )
        self.guests = Counter("lobby_guests", "Accounts made.", registry=registry)
        self.refreshes = Counter(
            "lobby_refreshes", "Sessions renewed; a repeated one had its answer lost.", ["kind"], registry=registry
        )
        self.tables_made = Counter("lobby_tables_made", "Tables made.", ["game"], registry=registry)
        self.milestones_applied = Counter(
            "lobby_milestones_applied", "Milestones applied to the directory.", ["kind"], registry=registry
        )
        self.administrators_refused = Counter(
            "lobby_administrators_refused",
            "Administrators refused, by the wrong factor.",
            ["reason"],
            registry=registry,
        )
        self.milestone_gaps = Counter(
            "lobby_milestone_gaps", "Times that missing milestones were asked for.", registry=registry
        )
        self.milestones_failed = Counter(
            "lobby_milestones_failed", "Times that a table was parked, to be tried again.", registry=registry
        )
        self.tables_parked = Gauge(
            "lobby_tables_parked", "Tables whose milestones could not be applied.", registry=registry
        )
        self.names_reported = Gauge("lobby_names_reported", "Reported names that wait.", registry=registry)
        self.grants_waiting = Gauge(
            "lobby_grants_waiting", "New accounts whose coins the wallet has not confirmed.", registry=registry
        )
