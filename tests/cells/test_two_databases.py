"""A whole product whose tables lie in two databases: games in both are played to their ends and proven."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import UUID

import pytest
import pytest_asyncio
from fault_stack import FaultStack, fault_stack
from test_operators import operate
from whole_games import BACKOFF, OTHERS_MAY_ENTER, SETTINGS, Game, false_checks

from darbar_client import Darbar
from darbar_client.demo.playing import joined, seated
from darbar_contracts.tables import SHARDS, shard_of
from darbar_kit.service import reserve
from darbar_kit.testing import eventually
from darbar_kit.tokens import public_key_pem
from darbar_local.exit_codes import ExitCode
from darbar_local.testing import run

HALF = SHARDS // 2
TABLES_MADE_MAX = 40


@pytest.fixture(scope="module")
def stack_folder() -> Iterator[Path]:
    """Not below pytest's own folder, which the user of PostgreSQL may not enter."""
    with tempfile.TemporaryDirectory(prefix="darbar-cells-") as folder:
        Path(folder).chmod(OTHERS_MAY_ENTER)
        yield Path(folder)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def split(stack_folder: Path) -> AsyncIterator[FaultStack]:
    """Darbar is stopped, its table database copied, each copy keeps its half, and a table process more is started."""
    async with fault_stack(stack_folder) as stack, AsyncExitStack() as ends:
        await stack.stop()
        await stack.stored.ask("postgres", "CREATE DATABASE tables_b TEMPLATE tables")
        for database, shards in (("tables", f"0-{HALF - 1}"), ("tables_b", f"{HALF}-{SHARDS - 1}")):
            owner = {"DARBAR_TABLE_OWNER_DATABASE_URL": stack.stored.url(database)}
            assert (await operate("keep-shards", shards, "--remove", **owner))[0] == ExitCode.FINE
        await stack.start()
        with reserve("127.0.0.1", 0) as free:
            port = str(free.getsockname()[1])
        variables = {
            **{name: value for name, value in SETTINGS.items() if name.startswith(("DARBAR_TABLE_", "DARBAR_TERMS_"))},
            "DARBAR_TABLE_DATABASE_URL": stack.stored.url("tables_b"),
            "DARBAR_TABLE_NATS_URL": stack.nats.url("operator"),
            "DARBAR_TABLE_TOKEN_PUBLIC_KEY": public_key_pem((stack._data / "token_key.pem").read_text()),
            "DARBAR_TABLE_PROCESS_NAME": "second",
            "DARBAR_TABLE_UNSAFE_STORAGE": "1",
        }
        await ends.enter_async_context(run("serve", "table", "--port", port, variables=variables))
        yield stack


async def test_games_in_two_databases_are_played_side_by_side_and_every_coin_and_chain_is_found(
    split: FaultStack,
) -> None:
    async with Darbar(split.url, backoff=BACKOFF) as darbar:
        await eventually(lambda: _is_served(split, "tables_b"), seconds=30)
        games = {is_high: await _game(darbar, is_high=is_high) for is_high in (False, True)}
        await asyncio.gather(*(game.play() for game in games.values()))
        for is_high, game in games.items():
            evidence = await game.evidence()
            assert false_checks(evidence) == []
            database = ("tables", "tables_b")[is_high]
            stored = "SELECT count(*) > 50 FROM event WHERE table_id = $1::text::uuid"
            assert [row[0] for row in await split.stored.ask(database, stored, game.table.table_id)] == [True]
    nats = {"DARBAR_ADMIN_NATS_URL": split.nats.url("operator")}
    for audit in ("ledger", "verify"):
        code, said = await operate("audit", audit, **nats)
        assert code == ExitCode.FINE, said


async def _is_served(stack: FaultStack, database: str) -> bool:
    owned = "SELECT count(*) FROM shard JOIN table_process USING (process_id)"
    return [row[0] for row in await stack.stored.ask(database, owned)] == [HALF]


async def _game(darbar: Darbar, *, is_high: bool) -> Game:
    """Of four people, at a table of this half."""
    for _ in range(TABLES_MADE_MAX):
        host = await darbar.guest()
        ref = await host.create_table("court_piece")
        if (shard_of(UUID(ref.table_id)) >= HALF) == is_high:
            players = [host, *[await darbar.guest() for _ in range(3)]]
            participants = await joined(players, ref, random.Random(1))
            await seated(participants)
            return Game(participants)
    raise AssertionError(f"no table of this half among {TABLES_MADE_MAX}")
