"""Plays a log that somebody sent with a report through the rules. Open this when one can't be followed."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from darbar_contracts.tables import TableTerms
from darbar_table.store.codec import Codecs, KindUnknown, LogBroken
from darbar_table.store.replay import chain_fault, replay
from darbar_table.store.store import StoredEvent

# What reading raises for a log that no table of this version can have stored.
CASE_FAILS = (AssertionError, AttributeError, KindUnknown, LogBroken, LookupError, TypeError, ValueError)


class _Created(msgspec.Struct, frozen=True):
    terms: TableTerms


def played(table_id: UUID, rows: Sequence[StoredEvent]) -> str:
    """How the table stood in the end, in a sentence. Raises one of CASE_FAILS."""
    if not rows:
        raise LogBroken("there are no events")
    fault = chain_fault(table_id, rows)
    if fault is not None:
        raise LogBroken(f"version {fault} does not follow from the one before")
    rules, codec = Codecs().of(msgspec.json.decode(rows[0].body, type=_Created).terms.game)
    table = replay(table_id, rows, rules, codec)
    return f"{rules.title}: {table.version} events, game {table.game}, round {table.round}, {table.phase}"
