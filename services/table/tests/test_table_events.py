"""Stored events are for ever: what was written once is read for ever, and gives the same table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from golden_log import AT, FOLDER, SCRIPTS, rows_of
from table_scripts import COURT_PIECE, TABLE_ID, Script

from darbar_table.domain import events
from darbar_table.domain.events import KIND_OF, OWN
from darbar_table.domain.seat_view import PUBLIC_FIELDS
from darbar_table.handlers.log_reader import fingerprint
from darbar_table.store.codec import Codecs, KindUnknown, LogBroken
from darbar_table.store.replay import chain_fault, replay
from darbar_table.store.store import StoredEvent

CODECS = Codecs()
CODEC = CODECS.of("court_piece")[1]
LOGS = sorted(FOLDER.glob("*.ndjson"))
SECRET_FIELDS = {"server_seed", "seed", "account_id", "host_account_id", "id", "digest", "key", "stake_key"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_log_replays_to_the_live_state(name: str) -> None:
    script = SCRIPTS[name]()
    rules, codec = CODECS.of(script.table.rules.name)
    assert fingerprint(replay(UUID(TABLE_ID), rows_of(script), rules, codec)) == fingerprint(script.table)


def golden(log: Path) -> tuple[dict[str, Any], list[StoredEvent]]:
    """What a golden log says of its table, and its rows."""
    head, *lines = [json.loads(line) for line in log.read_text().splitlines()]
    return head, [StoredEvent(version, kind, body, AT, bytes.fromhex(chain)) for version, kind, body, chain in lines]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_golden_log_replays_for_ever(log: Path) -> None:
    head, rows = golden(log)
    rules, codec = CODECS.of(head["game"])
    assert chain_fault(UUID(TABLE_ID), rows) is None
    table = replay(UUID(TABLE_ID), rows, rules, codec)
    assert (table.phase, table.round, table.version) == (head["phase"], head["round"], len(rows))
    for row in rows:
        assert json.loads(codec.encode(codec.decode(row.kind, row.body))) == json.loads(row.body)


def test_every_kind_of_a_tables_own_is_in_a_golden_log() -> None:
    kept = {row.kind for log in LOGS for row in golden(log)[1]}
    assert set(KIND_OF.values()) - kept == set()


@pytest.mark.parametrize("field", ["body", "kind", "at", "version", "chain"])
def test_a_changed_row_is_found_by_the_chain(field: str) -> None:
    rows = rows_of(Script().dealt())
    other = {"body": "{}", "kind": "seat_freed", "at": AT.replace(second=1), "version": 99, "chain": bytes(32)}
    rows[4] = rows[4]._replace(**{field: other[field]})  # type: ignore[arg-type]
    assert chain_fault(UUID(TABLE_ID), rows) == 5


def test_a_removed_moved_or_inserted_row_is_found_by_the_chain() -> None:
    rows = rows_of(Script().dealt())
    assert chain_fault(UUID(TABLE_ID), rows) is None
    assert chain_fault(UUID(TABLE_ID), rows[:3] + rows[4:]) == 4
    assert chain_fault(UUID(TABLE_ID), [*rows[:3], rows[4], rows[3], *rows[5:]]) == 4
    assert chain_fault(UUID(TABLE_ID), [*rows[:3], rows[3], *rows[3:]]) == 5


def test_a_log_with_a_gap_or_without_a_beginning_is_broken() -> None:
    rows = rows_of(Script().dealt())
    with pytest.raises(LogBroken, match="version 3"):
        replay(UUID(TABLE_ID), rows[:2] + rows[3:], COURT_PIECE, CODEC)
    with pytest.raises(LogBroken):
        replay(UUID(TABLE_ID), rows[1:], COURT_PIECE, CODEC)


def test_a_kind_of_a_newer_version_is_not_guessed() -> None:
    with pytest.raises(KindUnknown):
        CODEC.decode("seat_swapped", "{}")


def test_a_field_that_an_older_writer_did_not_know_has_its_default() -> None:
    event = CODEC.decode("seat_taken", '{"seat":1,"account_id":"a","name":"A","avatar":"fox","new":1}')
    assert event == events.SeatTaken(seat=1, account_id="a", name="A", avatar="fox")


def test_every_kind_of_the_tables_own_has_chosen_what_is_public() -> None:
    assert set(PUBLIC_FIELDS) == set(OWN)
    for event, names in PUBLIC_FIELDS.items():
        fields = {field.name for field in msgspec.structs.fields(event)}
        assert set(names) <= fields
        allowed = {"server_seed"} if event is events.SeedsShown else set()
        assert not (set(names) & SECRET_FIELDS) - allowed


def test_kinds_are_unique() -> None:
    assert len(set(KIND_OF.values())) == len(OWN)
    assert not set(KIND_OF.values()) & set(COURT_PIECE.events)
