"""What administrators did, in the database: rows are added, and never changed. Open this when an act is missing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import structlog

from darbar_contracts.admin.api import Act, AuditEntry, AuditLogQuery, AuditPage
from darbar_kit.database import Database
from darbar_lobby.domain.audit_chain import FIRST_LINK, StoredEntry, chain_fault, link

_NUMBER_MAX = 2**63 - 1
READ_AT_ONCE_MAX = 1000

_log = structlog.get_logger()


class AuditLog:
    """Every statement about the log; SQL in administrators.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def add(self, act: Act) -> int:
        """The number of the entry, once it is stored. Its link is told to the process's log too, which lies elsewhere:
        whoever takes away the end of this one is found by it."""
        body = msgspec.json.encode(act)
        async with self._database.transaction() as connection:
            at = await connection.fetchval(self._sql["audit_lock"], column=1)
            row = await connection.fetchrow(self._sql["audit_last"])
            number, previous = (1, FIRST_LINK) if row is None else (row["number"] + 1, row["chain"])
            chain = link(previous, number, at, body)
            await connection.execute(self._sql["new_audit_entry"], number, at, body.decode(), chain)
        _log.info("administrator_acted", act=act.act, subject=act.subject, number=number, chain=chain.hex())
        return int(number)

    async def page(self, query: AuditLogQuery) -> AuditPage:
        """Newest first."""
        below = _NUMBER_MAX if query.before is None else query.before
        rows = await self._database.read(
            self._sql["audit_page"], below, query.administrator, query.subject, query.limit + 1
        )
        entries = tuple(
            AuditEntry(row["number"], row["at"], row["body"], row["chain"].hex()) for row in rows[: query.limit]
        )
        return AuditPage(entries, entries[-1].number if len(rows) > query.limit else None)

    async def fault(self) -> tuple[StoredEntry | None, int | None]:
        """The last entry that was read, and the first number that does not follow from the one before it."""
        last: StoredEntry | None = None
        while rows := await self._database.read(
            self._sql["audit_after"], 0 if last is None else last.number, READ_AT_ONCE_MAX
        ):
            entries = [StoredEntry(*row) for row in rows]
            fault = chain_fault(entries, after=last)
            last = entries[-1]
            if fault is not None:
                return last, fault
        return last, None
