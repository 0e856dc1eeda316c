"""Operators help a table from the command line: it goes on as if nothing had been, or every bet goes back."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from asyncpg.exceptions import UniqueViolationError
from fault_stack import FaultStack
from long_games import GAME_SECONDS_MAX, long_table
from whole_games import coins_add_up, game_of, in_the_middle_of_round

from darbar_client import Darbar, DarbarError
from darbar_client.demo.checks import FIRST_COINS
from darbar_client.demo.local_server import LocalServer
from darbar_contracts.refusals import Reason
from darbar_kit.testing import MakeDatabase, eventually
from darbar_local.exit_codes import ExitCode
from darbar_local.services import BY_NAME
from darbar_local.testing import run

FROZEN_SECONDS_MAX = 15.0
_PLANT = """
INSERT INTO event (table_id, version, kind, body, at, chain)
SELECT table_id, max(version) + 1, 'nonsense', '{}', now(), sha256('planted'::bytea)
  FROM event WHERE table_id = $1::text::uuid GROUP BY table_id
"""
_CUT_OFF = """
DELETE FROM event WHERE table_id = $1::text::uuid AND version = (
    SELECT max(version) FROM event WHERE table_id = $1::text::uuid)
"""
_MOVE_A_KEY = """
UPDATE transfer SET key = replace(key, $2, '') || $1
 WHERE number = (SELECT max(number) FROM transfer WHERE kind = 'settle' AND done)
"""
_MEND = "DELETE FROM event WHERE table_id = $1::text::uuid AND kind = 'nonsense'"
_RESUMED = "SELECT body->>'operator' AS by, body->>'why' AS why FROM event WHERE kind = 'table_resumed'"
Count = Callable[[str], None]


async def operate(*arguments: str, **variables: str) -> tuple[int, str]:
    """The command's exit code, and what it says."""
    async with run(*arguments, variables=variables) as command:
        code, complaints = await command.end()
        return code, "\n".join([*command.lines, complaints])


async def test_a_thawed_table_is_played_to_its_end_and_proven(stack: FaultStack, guests: Darbar, count: Count) -> None:
    thaw = ("thaw", "--reason", "the row is gone", "--operator", "olga")
    nats = {"DARBAR_ADMIN_NATS_URL": stack.nats.url("operator")}
    table, healthy = await long_table(guests), await long_table(guests, seed=2)
    async with asyncio.timeout(GAME_SECONDS_MAX), asyncio.TaskGroup() as tasks:
        tasks.create_task(table.play())
        tasks.create_task(healthy.play())
        await table.in_the_middle_of_a_round()
        await _poison(stack, table.table_id)
        refused = await operate(*thaw, table.table_id, **nats)
        await stack.stored.ask("tables", _MEND, table.table_id)
        thawed = [await operate(*thaw, table.table_id, **nats) for _ in range(2)]
        table.stop_after_this_game()
        healthy.stop_after_this_game()
    assert (refused[0], "table_unreadable" in refused[1]) == (ExitCode.REFUSED, True)
    assert thawed == [(ExitCode.FINE, "The table goes on: players can come back to it.\n")] * 2
    assert [tuple(row) for row in await stack.stored.ask("tables", _RESUMED)] == [("olga", "the row is gone")]
    events = [await one.proven() for one in (table, healthy)]
    await _is_audited(stack, table.table_id, nats)
    count(f"{events[0]} events of a table that was thawed proven, {events[1]} of one that was not touched")


async def test_a_voided_round_gives_every_bet_back(server: LocalServer, darbar: Darbar, count: Count) -> None:
    void = ("void", "--reason", "nobody can go on", "--data", str(server.log.parent / "data"))
    game = await game_of(darbar)
    playing = asyncio.create_task(game.play())
    await in_the_middle_of_round(game.table, 2)
    # Nobody plays a card any more, or the round would be over before the operator has typed a line.
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)

    said = [await operate(*void, game.table.table_id) for _ in range(2)]

    assert [code for code, _ in said] == [ExitCode.FINE] * 2
    assert said[0] == said[1]
    players = [participant.player for participant in game.participants]

    async def all_is_back() -> bool:
        wallets = [await player.wallet() for player in players]
        return not any(wallet.reserved_coins or wallet.in_pots_coins for wallet in wallets)

    await eventually(all_is_back, seconds=30)
    # What the first round, which was over, had moved stays moved.
    assert sum([(await player.wallet()).balance_coins for player in players]) == FIRST_COINS * len(players)
    returned = [[entry for entry in await player.ledger() if entry.purpose == "voided"] for player in players]
    assert all(returned)
    assert await coins_add_up(server)
    count(f"{sum(len(entries) for entries in returned)} entries give bets back")


@pytest.mark.ruling("TL-40")
async def test_tl_40_maintenance_is_announced_at_every_table_ends_nothing_and_outlives_a_restart(
    stack: FaultStack, guests: Darbar
) -> None:
    nats, line = {"DARBAR_ADMIN_NATS_URL": stack.nats.url("operator")}, "Maintenance at 22:00"
    ann, bob, cyn = [await guests.guest() for _ in range(3)]
    made = await ann.create_table("king_20", bet_coins=75, visibility="public")
    async with await ann.join(made) as table:
        announced = await operate("announce", line, **nats)
        await table.until(lambda now: now.heard.announcement == line, seconds=10)
        drained = await operate("drain", "--operator", "olga", **nats)
        assert [code for code, _ in (announced, drained)] == [ExitCode.FINE] * 2
        assert drained[1] == f"Announced at every table: {line}\nNo new tables are made; nothing that runs ends.\n"
        await stack.stop()
        await stack.start()
        await stack.ready()
        with pytest.raises(DarbarError, match=Reason.DRAINING):
            await bob.quick_play("king_20", bet_coins=50)
        found = await bob.quick_play("king_20", bet_coins=75)
        async with await bob.join(found) as other:
            assert found.table_id == made.table_id
            await other.sit()
            for one in (table, other):
                await one.until(lambda now: len(now.now.people) == 2 and now.heard.announcement == line, seconds=10)
            ended = [await operate(command, "--end", **nats) for command in ("drain", "announce")]
            await table.until(lambda now: now.heard.announcement is None, seconds=10)
    assert ended[1] == (ExitCode.FINE, "Nothing is announced.\nNew tables are made.\n")
    assert (await cyn.quick_play("king_20", bet_coins=50)).made


async def test_what_is_not_there_is_told_with_an_exit_code(server: LocalServer, tmp_path: Path) -> None:
    here, unknown = str(server.log.parent / "data"), str(uuid4())
    code, said = await operate("thaw", unknown, "--reason", "x", "--data", here)
    assert (code, said) == (ExitCode.REFUSED, "darbar: table_unknown: There is no such table.\n")
    code, said = await operate("void", unknown, "--reason", "two\nlines", "--data", here)
    assert (code, "message_invalid" in said) == (ExitCode.REFUSED, True)
    code, said = await operate("void", unknown, "--reason", "x", "--data", str(tmp_path / "nowhere"))
    assert (code, "no `darbar up` of yours" in said) == (ExitCode.SERVER_FAILED, True)
    assert not (tmp_path / "nowhere").exists()
    code, said = await operate("void", unknown, "--reason", "x", DARBAR_ADMIN_NATS_URL="nats://127.0.0.1:1")
    assert (code, "bus_unreachable" in said) == (ExitCode.SERVER_FAILED, True)
    code, said = await operate("announce", "two\nlines", "--data", here)
    assert (code, "message_invalid" in said) == (ExitCode.REFUSED, True)


async def test_where_no_process_holds_tables_one_is_told_to_try_again(nats_server: str) -> None:
    for command in (("thaw", str(uuid4()), "--reason", "x"), ("drain",)):
        code, said = await operate(*command, NATS_URL=nats_server)
        assert (code, "no_responders" in said) == (ExitCode.UNANSWERED, True)


async def _is_audited(stack: FaultStack, table_id: str, nats: dict[str, str]) -> None:
    """Everything that `darbar audit` looks at holds; what is then done to the database by hand is found."""
    code, said = await operate("audit", "verify", **nats)
    assert code == ExitCode.FINE, said
    assert "Every chain holds" in said
    code, said = await operate("audit", "ledger", **nats)
    assert (code, said.endswith("All coins add up.\n")) == (ExitCode.FINE, True), said
    code, said = await operate("audit", "deal", table_id, "1", **nats)
    assert (code, "game 1, round 1" in said, "follows from its seeds" in said) == (ExitCode.FINE, True, True), said
    code, said = await operate("audit", "replay", table_id, **nats)
    assert (code, " card_played by " in said, " after " in said) == (ExitCode.FINE, True, True)
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/case.ndjson"
        assert (await operate("audit", "export", table_id, "--to", file, **nats))[0] == ExitCode.FINE
        code, said = await operate("audit", "import", file)
        assert (code, said.startswith("Court Piece")) == (ExitCode.FINE, True), said
    await stack.stored.ask("wallet", _MOVE_A_KEY, "-by-hand", "")
    code, said = await operate("audit", "ledger", **nats)
    assert (code, " settle " in said, "unlogged" in said, "unpaid" in said) == (ExitCode.AUDIT_FAILED, *[True] * 3), (
        said
    )
    await stack.stored.ask("wallet", _MOVE_A_KEY, "", "-by-hand")
    await stack.stored.ask("tables", _CUT_OFF, table_id)
    code, said = await operate("audit", "verify", **nats)
    assert (code, f"table {table_id}: version" in said, "is missing" in said) == (ExitCode.AUDIT_FAILED, True, True)
    await stack.stored.ask("wallet", "UPDATE account SET balance_coins = balance_coins + 1 WHERE number = 1")
    code, said = await operate("audit", "ledger", **nats)
    assert (code, "balances are not the sums" in said) == (ExitCode.AUDIT_FAILED, True)
    await stack.stored.ask("wallet", "UPDATE account SET balance_coins = balance_coins - 1 WHERE number = 1")


async def _poison(stack: FaultStack, table_id: str) -> None:
    """Until its owner has met the row: whoever plays may be quicker, then it is planted once more."""

    async def is_frozen() -> bool:
        with suppress(UniqueViolationError):
            await stack.stored.ask("tables", _PLANT, table_id)
        return bool(
            await stack.stored.ask("tables", "SELECT 1 FROM frozen_table WHERE table_id = $1::text::uuid", table_id)
        )

    await eventually(is_frozen, seconds=FROZEN_SECONDS_MAX)


async def test_a_table_database_keeps_some_shards_and_a_wrong_range_changes_nothing(
    make_database: MakeDatabase,
) -> None:
    database = await make_database("tables", BY_NAME["table"].migrations)
    owner = {"DARBAR_TABLE_OWNER_DATABASE_URL": database.owner_url}
    wrong = [await operate("keep-shards", shards, **owner) for shards in ("512", "7-3", "1000-1024")]
    told = [await operate("keep-shards", "512-1023", **owner) for _ in range(2)]
    gone = await operate("keep-shards", "0-511", **owner)
    numbers = (ExitCode.REFUSED, "darbar: shards are numbered 0 to 1023\n")
    assert wrong == [(ExitCode.SETTINGS_WRONG, "darbar: shards are named as in 512-1023\n"), numbers, numbers]
    assert told == [(ExitCode.FINE, "This database has the shards 512 to 1023; 0 logs of others are removed\n")] * 2
    assert gone == (ExitCode.REFUSED, "darbar: this database does not have all of these shards\n")
