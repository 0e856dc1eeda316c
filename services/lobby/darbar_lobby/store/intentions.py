"""Tables that are being made, and the answers kept with their keys. Open this when a table is made twice."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import asyncpg
import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.tables import CreateTable
from darbar_kit.database import Connection, Database
from darbar_kit.errors import Refused
from darbar_lobby.domain.directory_model import DirectoryEntry
from darbar_lobby.store.directory import insert_entry

# Longer than asking for a table takes: then its maker has died.
MAKING_SECONDS = 15.0


class StoredAnswer(msgspec.Struct, frozen=True):
    """An HTTP answer, word for word."""

    status: int
    body: bytes


class NewIntention(msgspec.Struct, frozen=True):
    """What is to be stored under an idempotency key before the table service is asked."""

    account_id: str
    key: str
    body_sha256: bytes
    request: CreateTable
    entry: DirectoryEntry


class Intention(msgspec.Struct, frozen=True):
    """What is stored under an idempotency key; `answer` None: the table service has not answered yet. `is_maker`:
    whoever reads this is the one to ask it, for MAKING_SECONDS."""

    account_id: str
    key: str
    body_sha256: bytes
    request: CreateTable
    answer: StoredAnswer | None
    is_maker: bool = False


class IntentionStore:
    """Every statement about keys; SQL in queries.sql."""

    def __init__(self, database: Database, sql: Mapping[str, str]) -> None:
        self._database = database
        self._sql = sql

    async def intend(self, new: NewIntention) -> Intention:
        """Stores the key with the table it will make, or answers what was stored under it before. Raises Refused
        `draining`."""
        async with self._database.transaction() as connection:
            return await insert_intention(connection, self._sql, new)

    async def take_over(self, intention: Intention) -> Intention:
        """As it is now; the maker of it, if there is none and it is not answered."""
        values = (intention.account_id, intention.key)
        made = await self._database.write(self._sql["make_intention"], *values, MAKING_SECONDS)
        stored = _intention(await self._database.read_row(self._sql["intention"], *values))
        return msgspec.structs.replace(stored or intention, is_maker=bool(made))

    async def release(self, intention: Intention) -> None:
        """Its maker has failed: somebody else may try at once."""
        await self._database.write(self._sql["release_intention"], intention.account_id, intention.key)

    async def of_table(self, table_id: str) -> Intention | None:
        """None for a table that this lobby did not make, or whose key was forgotten."""
        return _intention(await self._database.read_row(self._sql["intention_of_table"], UUID(table_id)))

    async def answer(
        self, intention: Intention, answer: StoredAnswer, *, forget_table: bool = False
    ) -> tuple[StoredAnswer, bool]:
        """Stores the answer unless there is one. Answers what is stored, and whether it was stored just now. With a
        refusal the table is forgotten."""
        values = (intention.account_id, intention.key)
        async with self._database.transaction() as connection:
            written = await connection.fetchval(self._sql["answer_intention"], *values, answer.status, answer.body)
            if forget_table:
                await connection.execute(self._sql["forget_intent"], UUID(intention.request.table_id))
            stored = _intention(await connection.fetchrow(self._sql["intention"], *values))
        return (stored and stored.answer) or answer, written is not None


async def insert_intention(connection: Connection, sql: Mapping[str, str], new: NewIntention) -> Intention:
    """Within a transaction: the key and the table, or what was stored under it before. Raises Refused `draining`."""
    values = (new.account_id, new.key, new.body_sha256, UUID(new.entry.table_id), msgspec.json.encode(new.request))
    if await connection.fetchval(sql["intend"], *values, MAKING_SECONDS) is not None:
        await insert_entry(connection, sql, new.entry)
        return Intention(new.account_id, new.key, new.body_sha256, new.request, None, is_maker=True)
    stored = _intention(await connection.fetchrow(sql["intention"], new.account_id, new.key))
    if stored is None:
        raise Refused(Reason.DRAINING)
    return stored


def _intention(row: asyncpg.Record | None) -> Intention | None:
    if row is None:
        return None
    answer = None if row["answer"] is None else StoredAnswer(row["status"], row["answer"])
    request = msgspec.json.decode(row["request"], type=CreateTable)
    return Intention(row["account_id"], row["key"], row["body_sha256"], request, answer)
