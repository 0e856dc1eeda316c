"""What a table tells, for tests with and without servers. Open this to tell of something else."""

from __future__ import annotations

from typing import Any

import msgspec

from darbar_contracts.tables import AnyMilestoneEvent


def milestone_event(kind: str, **fields: Any) -> AnyMilestoneEvent:
    """What happened at a table of two; what a kind does not have is left out of it."""
    usual = {"game": 1, "round": 1, "accounts": (), "points": (), "places": (), "totals": (), "reason": "left"}
    event: AnyMilestoneEvent = msgspec.convert({"kind": kind, **usual, **fields}, AnyMilestoneEvent)
    return event
