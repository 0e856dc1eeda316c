"""Moments as whole microseconds since 1970, as PostgreSQL keeps them: in the chain, and in the places of pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(at: datetime) -> int:
    """Whole microseconds since 1970."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def instant(microseconds_since: int) -> datetime:
    """The moment of so many microseconds since 1970. Raises OverflowError for one that no date has."""
    return EPOCH + timedelta(microseconds=microseconds_since)
