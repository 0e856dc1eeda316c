"""Logs that leave the machine with a report: nobody is named in them, and they are played as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_log import AT, SCRIPTS, rows_of
from table_scripts import TABLE_ID

from darbar_contracts.admin.disclosure import LoggedEvent
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.operators.case_file import case_of, read_case


def logged(name: str) -> list[LoggedEvent]:
    """A golden log as the table service tells it: the seed of the last bag is not shown."""
    rows = rows_of(SCRIPTS[name]())
    sealed = max((row.version for row in rows if row.kind == "bag_opened"), default=0)
    return [
        LoggedEvent(row.version, row.kind, AT, None if row.version == sealed else row.body, row.chain.hex())
        for row in rows
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_exported_log_is_played_as_it_was_and_names_nobody(name: str, tmp_path: Path) -> None:
    script = SCRIPTS[name]()
    file = tmp_path / "case.ndjson"
    file.write_text(case_of(TABLE_ID, logged(name)))
    said = read_case(file)
    assert f"{len(script.log)} events" in said
    assert said.endswith(f"round {script.table.round}, {script.table.phase}")
    text = file.read_text().lower()
    # In quotes, since a body is a text in the line that holds it.
    named = [name for name in ("ann", "bob", "cyn", "dan", "eve", "mal", "root") if f'\\"{name}\\"' in text]
    assert (named, "a golden fault" in text) == ([], False)
    assert '\\"account-1\\"' in text


def test_what_was_changed_in_a_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "case.ndjson"
    lines = case_of(TABLE_ID, logged("three_votes")).splitlines()
    file.write_text("\n".join([*lines[:9], *lines[10:]]))
    with pytest.raises(Failure, match="version 9 does not follow") as failed:
        read_case(file)
    assert failed.value.code == ExitCode.AUDIT_FAILED


@pytest.mark.parametrize("text", ["", "x", "{}", '{"table_id": "x", "events": 1}\n[1]'])
def test_what_is_no_exported_log_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "case.ndjson"
    file.write_text(text)
    with pytest.raises(Failure, match="holds no exported log") as failed:
        read_case(file)
    assert failed.value.code == ExitCode.REFUSED
