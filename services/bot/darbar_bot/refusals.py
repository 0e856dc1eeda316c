"""The name under which this service knows the refusals of all services. Open contracts/refusals.py to add a code."""

from __future__ import annotations

from darbar_contracts.refusals import Reason

BotReason = Reason
