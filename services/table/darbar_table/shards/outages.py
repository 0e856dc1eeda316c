"""The time in which nobody could answer for a table is nobody's but ours (TL-43). Open this beside the clocks."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from darbar_table.store.registry import Outage


def served_seconds(since: datetime, until: datetime, outages: Iterable[Outage]) -> float:
    """The seconds between two moments in which somebody could answer, for what another process may have begun."""
    silent = sum(max(0.0, (min(outage.ended, until) - max(outage.began, since)).total_seconds()) for outage in outages)
    return max(0.0, (until - since).total_seconds() - silent)
