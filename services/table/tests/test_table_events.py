"""Stored events are for ever: what was written once is read for ever, and gives the same table."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from golden_log import AT, FOLDER, SCRIPTS, rows_of
from table_scripts import COURT_PIECE, TABLE_ID, Script

from darbar_contracts.tables import alias_of
from darbar_table.domain import events
from darbar_table.domain.events import KIND_OF, OWN
from darbar_table.domain.seat_view import PUBLIC_FIELDS
from darbar_table.handlers.log_reader import fingerprint
from darbar_table.store.chain import first_link, shared_body
from darbar_table.store.codec import Codecs, KindUnknown, LogBroken
from darbar_table.store.replay import chain_fault, is_shared_link, replay
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


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_log_is_chained_over_account_ids_when_it_is_old_and_else_over_aliases(log: Path) -> None:
    _, rows = golden(log)
    links = [first_link(UUID(TABLE_ID)), *(row.chain for row in rows)]
    naming = [row for row in zip(rows, links, strict=False) if '"account_id"' in row[0].body]
    found = {is_shared_link(UUID(TABLE_ID), row, previous) for row, previous in naming}
    known = {"court_piece_game": False, "voided_while_staking": False, "comings_and_goings": True}
    assert len(found) == 1
    assert known.get(log.stem) in (None, *found)


def test_an_account_that_was_exchanged_for_another_or_for_its_alias_is_found_by_the_chain() -> None:
    _, rows = golden(FOLDER / "comings_and_goings.ndjson")
    table_id = UUID(TABLE_ID)
    for place, row in enumerate(rows):
        if '"account_id"' not in row.body:
            continue
        for body in (row.body.replace('"account_id":"', '"account_id":"x'), shared(row)):
            changed = [*rows[:place], row._replace(body=body), *rows[place + 1 :]]
            assert chain_fault(table_id, changed) == row.version, body


@pytest.mark.ruling("TL-54")
@pytest.mark.parametrize("name", SCRIPTS)
def test_tl_54_a_shared_log_has_aliases_and_no_account_and_its_chain_can_be_made_again(name: str) -> None:
    script = SCRIPTS[name]()
    rows = rows_of(script)
    accounts = {account for _, _, after in script.log for account in after.accounts if account is not None}
    assert len(accounts) > 1
    text = "".join(shared(row) for row in rows)
    for account in accounts:
        assert f'"{account}"' not in text
        assert alias_of(TABLE_ID, account) in text
    # Written down a second time, from docs/fairness.md.
    table = UUID(TABLE_ID).bytes
    previous = hashlib.sha256(b"darbar" + table).digest()
    for row in rows:
        body = shared(row).encode()
        mark = b"shared" if re.search(rb'"account_id":"[0-9a-f]{64}"', body) else b""
        time = round((row.at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000).to_bytes(8, "big")
        before = mark + previous + table + row.version.to_bytes(4, "big")
        previous = hashlib.sha256(before + row.kind.encode() + time + body).digest()
        assert previous == row.chain, row


def test_a_name_that_looks_like_a_field_stays_as_it_is() -> None:
    names = ('"account_id":"ann"', 'a\\"account_id\\":\\"b', "\\")
    for name in names:
        body = CODEC.encode(events.SeatTaken(seat=1, account_id="ann", name=name, avatar="fox"))
        seen = json.loads(shared_body(UUID(TABLE_ID), body))
        assert seen == json.loads(body) | {"account_id": alias_of(TABLE_ID, "ann")}


def shared(row: StoredEvent) -> str:
    return shared_body(UUID(TABLE_ID), row.body.encode()).decode()


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
