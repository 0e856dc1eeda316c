"""A table's log in one file, with nobody's name in it: what a report of a fault carries. Open this about its form.

The first line says which table and game; each other one is an event: version, kind, body, time, chain. Accounts are
numbered in the order in which they came, names are numbers too, and the chain is made again over what is left. What an
operator wrote is left out.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

import msgspec

from darbar_contracts.admin.disclosure import LoggedEvent
from darbar_local.exit_codes import ExitCode, Failure
from darbar_table.store.case_replay import CASE_FAILS, played
from darbar_table.store.chain import first_link, link
from darbar_table.store.store import StoredEvent

BAG_OPENED = "bag_opened"
_SEALED_BAG = '{"bag":%d,"commitment":"","seed":"' + "0" * 64 + '"}'
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_ACCOUNT = re.compile(rf'"account_id":{_TEXT}')
_NAME = re.compile(rf'"(name|avatar)":{_TEXT}')
_NAMES = re.compile(rf'"names":\[(?:{_TEXT},?)*\]')
_OPERATOR = re.compile(rf'"(operator|why)":{_TEXT}')


class CaseHead(msgspec.Struct, frozen=True):
    """The first line of a file."""

    table_id: str
    events: int


class CaseLine(msgspec.Struct, frozen=True, array_like=True):
    """One event."""

    version: int
    kind: str
    body: str
    at: datetime
    chain: str


def case_of(table_id: str, log: Sequence[LoggedEvent]) -> str:
    """The text of the file. A bag whose seed is not shown yet has one of zeros in its place."""
    chain = first_link(UUID(table_id))
    accounts: dict[str, str] = {}
    bags = 0
    lines: list[CaseLine] = []
    for event in log:
        bags += event.kind == BAG_OPENED
        body = _SEALED_BAG % bags if event.body is None else _nameless(event.body, accounts)
        chain = link(chain, UUID(table_id), event.version, kind=event.kind, at=event.at, body=body.encode())
        lines.append(CaseLine(event.version, event.kind, body, event.at, chain.hex()))
    encoder = msgspec.json.Encoder()
    return encoder.encode_lines([CaseHead(table_id, len(lines)), *lines]).decode()


def read_case(path: Path) -> str:
    """What came of playing the file through the rules, in a sentence. Raises Failure where that can't be done."""
    try:
        head_line, *others = path.read_bytes().splitlines()
        head = msgspec.json.decode(head_line, type=CaseHead)
        lines = [msgspec.json.decode(line, type=CaseLine) for line in others]
    except (OSError, ValueError) as error:
        raise Failure(ExitCode.REFUSED, f"{path} holds no exported log: {error}") from error
    rows = [StoredEvent(line.version, line.kind, line.body, line.at, bytes.fromhex(line.chain)) for line in lines]
    try:
        return played(UUID(head.table_id), rows)
    except CASE_FAILS as error:
        raise Failure(ExitCode.AUDIT_FAILED, f"the log can't be followed: {error}") from error


def _nameless(body: str, accounts: dict[str, str]) -> str:
    def number(account_id: str) -> str:
        return accounts.setdefault(account_id, f"account-{len(accounts) + 1}")

    body = _ACCOUNT.sub(lambda found: f'"account_id":"{number(found[1])}"', body)
    body = _OPERATOR.sub(lambda found: f'"{found[1]}":"-"', body)
    body = _NAMES.sub(lambda found: re.sub(_TEXT, '"-"', found[0]).replace('"-"', '"names"', 1), body)
    return _NAME.sub(lambda found: f'"{found[1]}":"-"', body)
