"""The client's own part in the chance: committed while counting in, opened at zero, never before."""

from __future__ import annotations

import hashlib
from typing import Any

from client_doubles import ScriptedServer, stay_silent, table_view

from darbar_client import Player, TableSocket
from darbar_kit.testing import eventually

COUNT_IN: dict[str, Any] = {"game": 1, "round": 1, "attempt": 1, "seconds": 7.0, "commitment": "00"}


async def joined(amina: Player, *, fair: bool = True) -> TableSocket:
    return await amina.join(await amina.create_table("court_piece"), fair=fair)


async def test_a_string_is_committed_in_the_count_in_and_opened_at_zero(server: ScriptedServer, amina: Player) -> None:
    table = await joined(amina)
    server.event("count_in_started", COUNT_IN)
    await eventually(lambda: server.sent("seed_commit"))
    assert not server.sent("seed_open")
    server.event("seeds_asked", {"seats": [0]})
    (opened,) = await eventually(lambda: server.sent("seed_open"))
    (committed,) = server.sent("seed_commit")
    assert opened["string"] == table.string
    assert len(table.string) >= 20
    assert hashlib.sha256(opened["string"].encode()).hexdigest() == committed["sha256"]


async def test_each_count_in_has_a_string_of_its_own(server: ScriptedServer, amina: Player) -> None:
    await joined(amina)
    server.event("count_in_started", COUNT_IN)
    server.event("count_in_started", COUNT_IN | {"attempt": 2})
    server.event("count_in_started", COUNT_IN | {"round": 2})
    await eventually(lambda: len(server.sent("seed_commit")) == 3)
    assert len({sent["sha256"] for sent in server.sent("seed_commit")}) == 3


async def test_whoever_joins_during_a_count_in_commits_too(server: ScriptedServer, amina: Player) -> None:
    server.view = table_view("counting_in", round=1, attempt=1)
    await joined(amina)
    await eventually(lambda: server.sent("seed_commit"))


async def test_the_string_is_opened_after_a_lost_socket(server: ScriptedServer, amina: Player) -> None:
    table = await joined(amina)
    server.event("count_in_started", COUNT_IN)
    await eventually(lambda: server.sent("seed_commit"))
    await table.until(lambda now: now.version == 7)
    server.event("seeds_asked", {"seats": [0]}, lost=True)
    server.drop()
    await eventually(lambda: server.sent("seed_open"))
    assert len(server.sent("seed_commit")) == 1


async def test_a_client_whose_fairness_is_off_sends_nothing(server: ScriptedServer, amina: Player) -> None:
    table = await joined(amina, fair=False)
    server.event("count_in_started", COUNT_IN)
    server.event("seeds_asked", {"seats": [0]})
    await table.ready()
    assert [command["type"] for command in server.commands] == ["ready"]


async def test_who_has_no_seat_has_no_part(server: ScriptedServer, amina: Player) -> None:
    server.seat = None
    table = await joined(amina)
    server.event("count_in_started", COUNT_IN)
    await table.ready()
    assert not server.sent("seed_commit")


async def test_a_refused_string_disturbs_nobody(server: ScriptedServer, amina: Player) -> None:
    table = await joined(amina)
    server.act = lambda scripted, command: scripted.tell(
        {"type": "refused", "id": command["id"], "code": "seed_late", "message": ""}
    )
    server.event("count_in_started", COUNT_IN)
    await eventually(lambda: server.sent("seed_commit"))
    server.act = stay_silent
    server.event("seat_ready", {"seat": 0})
    await table.until(lambda now: now.version == server.version)
    assert table.failure is None
