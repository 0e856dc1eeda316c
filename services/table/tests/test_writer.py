"""Group commit and its failure paths, against a real PostgreSQL."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import TypeAlias
from uuid import UUID, uuid4

import asyncpg
import pytest
import pytest_asyncio

from darbar_kit.database import FenceLost, queries
from darbar_kit.testing import CuttingProxy, TestDatabase, eventually
from darbar_table.metrics import Metrics
from darbar_table.store.chain import first_link, link
from darbar_table.store.writer import Append, Beside, Outcome, Row, Writer

OUTCOME_SECONDS_MAX = 30.0
PROCESS_ID = "t-test"
WRITERS = 5
CUTS = 200


class Stream:
    """One table's events as a test writes them."""

    def __init__(self) -> None:
        self.table_id = uuid4()
        self.chain = first_link(self.table_id)
        self.version = 0
        self.outcome: asyncio.Future[Outcome]

    def append(self, *, body: str = '{"card": "AS"}', version: int | None = None) -> Append:
        """The next event, or one that claims another version."""
        version = self.version + 1 if version is None else version
        at = datetime.now(UTC)
        chain = link(self.chain, self.table_id, version, kind="card_played", at=at, body=body.encode())
        self.outcome = asyncio.get_running_loop().create_future()

        def done(outcome: Outcome) -> None:
            if outcome is Outcome.STORED:
                self.version, self.chain = version, chain
            self.outcome.set_result(outcome)

        row = Row(version, "card_played", body, at, chain)
        return Append(self.table_id, [row], shard=1, beside=Beside(milestones=[(version, "{}")]), done=done)


async def ended(*outcomes: asyncio.Future[Outcome]) -> list[Outcome]:
    """How these appends ended. One that is sent again for ever has not."""
    async with asyncio.timeout(OUTCOME_SECONDS_MAX):
        return await asyncio.gather(*outcomes)


@pytest_asyncio.fixture(loop_scope="session")
async def connection(table_database: TestDatabase) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connected = await asyncpg.connect(table_database.owner_url)
    await connected.execute("INSERT INTO table_process VALUES ($1, 'here', now() + interval '1 hour')", PROCESS_ID)
    yield connected
    await connected.close()


@pytest_asyncio.fixture(loop_scope="session")
async def run_writer() -> AsyncIterator[Callable[[str], Writer]]:
    """A writer on a database URL, running; stopped at the end of the test."""
    running: list[asyncio.Task[None]] = []

    def start(url: str) -> Writer:
        writer = Writer(url, queries("darbar_table.store"), process_id=PROCESS_ID, connections=1, metrics=Metrics())
        running.append(asyncio.create_task(writer.run()))
        return writer

    yield start
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


RunWriter = Callable[[str], Writer]
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


async def _stored(connection: Connection, table_id: UUID) -> list[asyncpg.Record]:
    return await connection.fetch("SELECT version, chain FROM event WHERE table_id = $1 ORDER BY version", table_id)


async def _tables_stored(connection: Connection, table_ids: list[UUID]) -> int:
    return int(
        await connection.fetchval("SELECT count(DISTINCT table_id) FROM event WHERE table_id = ANY($1)", table_ids)
    )


async def test_of_fifty_tables_in_one_batch_forty_eight_are_stored(
    table_database: TestDatabase, connection: Connection, run_writer: RunWriter
) -> None:
    streams = [Stream() for _ in range(50)]
    taken, impossible = streams[17], streams[31]
    await connection.execute(
        "INSERT INTO event VALUES ($1, 1, 'card_played', '{}', now(), $2)", taken.table_id, bytes(32)
    )
    writer = run_writer(str(table_database))
    for stream in streams:
        writer.offer(stream.append(body='{"broken"' if stream is impossible else "{}"))
    outcomes = await ended(*(stream.outcome for stream in streams))
    assert outcomes[17] is Outcome.FOREIGN_VERSION
    assert outcomes[31] is Outcome.IMPOSSIBLE
    assert outcomes.count(Outcome.STORED) == 48
    good = [stream.table_id for stream in streams if stream not in (taken, impossible)]
    assert await _tables_stored(connection, good) == 48
    assert await _stored(connection, impossible.table_id) == []


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ('{"a":', Outcome.IMPOSSIBLE),
        ("\x00", Outcome.IMPOSSIBLE),
        ('{"a": "\ud800"}', Outcome.IMPOSSIBLE),
        ("x" * 10, Outcome.IMPOSSIBLE),
        # A column of type json keeps text as it is, and this is text.
        ('{"a": "\\ud800"}', Outcome.STORED),
    ],
)
async def test_a_body_that_the_database_cannot_take_is_impossible_and_hurts_no_other(
    table_database: TestDatabase, connection: Connection, run_writer: RunWriter, body: str, outcome: Outcome
) -> None:
    good, bad = Stream(), Stream()
    writer = run_writer(str(table_database))
    verdict: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    row = Row(1, "card_played", body, datetime.now(UTC), bytes(32))
    writer.offer(Append(bad.table_id, [row], shard=1, done=verdict.set_result))
    writer.offer(good.append())
    assert await ended(verdict, good.outcome) == [outcome, Outcome.STORED]
    assert len(await _stored(connection, bad.table_id)) == (outcome is Outcome.STORED)
    assert len(await _stored(connection, good.table_id)) == 1


async def test_a_version_that_jumps_is_not_hidden_by_the_next_one(
    table_database: TestDatabase, connection: Connection, run_writer: RunWriter
) -> None:
    stream = Stream()
    writer = run_writer(str(table_database))
    for version in (1, 2):
        writer.offer(stream.append())
        assert await ended(stream.outcome) == [Outcome.STORED]
        assert stream.version == version
    writer.offer(stream.append(version=2))
    assert await ended(stream.outcome) == [Outcome.FOREIGN_VERSION]


async def test_a_process_that_was_declared_dead_stores_nothing(
    table_database: TestDatabase, connection: Connection
) -> None:
    await connection.execute("DELETE FROM table_process")
    stream = Stream()
    writer = Writer(
        str(table_database), queries("darbar_table.store"), process_id=PROCESS_ID, connections=1, metrics=Metrics()
    )
    writer.offer(stream.append())
    with pytest.RaisesGroup(FenceLost):
        await writer.run()
    assert await _stored(connection, stream.table_id) == []
    assert await connection.fetchval("SELECT count(*) FROM outbox") == 0


async def test_a_connection_cut_around_the_commit_loses_and_doubles_nothing(
    table_database: TestDatabase, connection: Connection, run_writer: RunWriter
) -> None:
    async def cut_again_and_again(seed: int) -> list[Stream]:
        proxy = CuttingProxy(str(table_database))
        writer = run_writer(await proxy.start())
        chance = random.Random(seed)
        streams = [Stream() for _ in range(3)]
        try:
            for _ in range(CUTS):
                proxy.arm(chance.choice(("before", "after")))
                for stream in streams:
                    writer.offer(stream.append())
                assert set(await ended(*(stream.outcome for stream in streams))) == {Outcome.STORED}
        finally:
            await proxy.stop()
        assert proxy.cuts == CUTS
        return streams

    # At the same time, as most of it is waiting for the next connection.
    writers = await asyncio.gather(*(cut_again_and_again(2026 + number) for number in range(WRITERS)))
    for stream in itertools.chain(*writers):
        rows = await _stored(connection, stream.table_id)
        assert [row["version"] for row in rows] == list(range(1, CUTS + 1))
        assert rows[-1]["chain"] == stream.chain


async def test_a_database_that_goes_away_only_delays(
    table_database: TestDatabase, connection: Connection, run_writer: RunWriter
) -> None:
    proxy = CuttingProxy(str(table_database))
    writer = run_writer(await proxy.start())
    stream = Stream()
    writer.offer(stream.append())
    await ended(stream.outcome)
    proxy.go_away()
    writer.offer(stream.append())
    counted = writer.metrics.registry.get_sample_value
    await eventually(lambda: (counted("table_append_unknown_outcomes_total") or 0) >= 2)
    assert not stream.outcome.done()
    proxy.come_back()
    assert await ended(stream.outcome) == [Outcome.STORED]
    await proxy.stop()
