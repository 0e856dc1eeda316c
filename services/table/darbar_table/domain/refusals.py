"""The table's refusals, raised with their code and what is particular to the case. The words are in contracts."""

from __future__ import annotations

from darbar_contracts.refusals import REFUSALS, Reason
from darbar_kit.errors import Refused
from darbar_rules.game import Refusal


def refused(reason: Reason | Refusal, **details: object) -> Refused:
    """The exception for a refusal of the table."""
    refusal = REFUSALS[reason]
    return Refused(refusal.code, refusal.sentence, details=details, status=refusal.status)
