"""Blocks: who is blocked, the list, and that quick play seats no such pair together (TL-8)."""

from __future__ import annotations

import pytest
from lobby_doubles import Caller, LobbyServer

from darbar_contracts.lobby import BlockChanged, BlockersAnswer, BlockersRequest
from darbar_contracts.subjects import LOBBY_BLOCK_CHANGED, LOBBY_BLOCKERS
from darbar_kit.testing import eventually
from darbar_lobby.store import blocks

pytestmark = pytest.mark.ruling("TL-8")


async def handle_of(player: Caller) -> str:
    return str((await player.get("/v1/me/profile")).body["handle"])


async def quick_play(player: Caller, bet_coins: int) -> str:
    return str((await player.post("/v1/quick-play", {"game": "king_20", "bet_coins": bet_coins})).body["table_id"])


async def test_tl_8_a_player_is_blocked_by_handle_listed_and_unblocked(lobby: LobbyServer) -> None:
    ann, bob, cyn = [await lobby.guest() for _ in range(3)]
    for other in (bob, cyn, bob):
        blocked = await ann.post("/v1/me/blocks", {"handle": await handle_of(other)})
        assert blocked.status == 200
    handles = [await handle_of(cyn), await handle_of(bob)]
    assert [one["handle"] for one in blocked.body["blocked"]] == handles
    assert blocked.body["blocked"][1] == {
        "handle": handles[1],
        "name": bob.account["name"],
        "avatar": bob.account["avatar"],
    }
    assert (await bob.get("/v1/me/blocks")).body == {"blocked": []}
    for _ in range(2):
        left = await ann.ask("DELETE", f"/v1/me/blocks/{handles[1]}")
        assert (left.status, [one["handle"] for one in left.body["blocked"]]) == (200, handles[:1])
    assert (await ann.get("/v1/me/blocks")).body == left.body


async def test_tl_8_who_sits_at_a_table_is_blocked_by_the_seat(lobby: LobbyServer) -> None:
    ann, bob = await lobby.guest(), await lobby.guest()
    table_id = (await ann.make_table(lobby.key())).body["table_id"]
    lobby.table.seat(table_id, 2, bob.person)
    blocked = await ann.post("/v1/me/blocks", {"table_id": table_id, "seat": 2})
    assert [one["handle"] for one in blocked.body["blocked"]] == [await handle_of(bob)]


async def test_tl_8_nobody_blocks_whom_there_is_not_or_themselves(lobby: LobbyServer) -> None:
    ann = await lobby.guest()
    table_id = (await ann.make_table(lobby.key())).body["table_id"]
    for body in (
        {},
        {"handle": "nobody"},
        {"handle": await handle_of(ann)},
        {"table_id": table_id, "seat": 0},
        {"table_id": table_id, "seat": 1},
        {"table_id": table_id, "seat": 7},
        {"table_id": table_id},
    ):
        refused = await ann.post("/v1/me/blocks", body)
        assert (refused.status, refused.body["code"]) == (404, "player_unknown"), body


async def test_tl_8_a_list_of_blocks_has_an_end(lobby: LobbyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCKS_MAX", 1)
    ann, bob, cyn = [await lobby.guest() for _ in range(3)]
    assert (await ann.post("/v1/me/blocks", {"handle": await handle_of(bob)})).status == 200
    refused = await ann.post("/v1/me/blocks", {"handle": await handle_of(cyn)})
    assert (refused.status, refused.body["code"]) == (409, "blocks_too_many")
    assert (await ann.post("/v1/me/blocks", {"handle": await handle_of(bob)})).status == 200


@pytest.mark.parametrize(("bet_coins", "host_blocks"), [(31, True), (32, False)])
async def test_tl_8_quick_play_seats_no_blocked_pair_together(
    lobby: LobbyServer, bet_coins: int, host_blocks: bool
) -> None:
    host, guest, other = [await lobby.guest() for _ in range(3)]
    table_id = await quick_play(host, bet_coins)
    blocker, blocked = (host, guest) if host_blocks else (guest, host)
    await blocker.post("/v1/me/blocks", {"handle": await handle_of(blocked)})
    apart = await quick_play(guest, bet_coins)
    assert apart != table_id
    assert await quick_play(other, bet_coins) == table_id
    await blocker.ask("DELETE", f"/v1/me/blocks/{await handle_of(blocked)}")


async def test_tl_8_quick_play_keeps_a_blocked_pair_apart_on_the_way(lobby: LobbyServer) -> None:
    host, ann, bob = [await lobby.guest() for _ in range(3)]
    table_id = await quick_play(host, 33)
    assert await quick_play(ann, 33) == table_id
    await ann.post("/v1/me/blocks", {"handle": await handle_of(bob)})
    assert await quick_play(bob, 33) != table_id


async def test_tl_8_tables_are_told_of_blocks_and_may_ask_who_has_blocked_somebody(lobby: LobbyServer) -> None:
    table, told = lobby.table.bus, []

    async def hear(change: BlockChanged) -> None:
        told.append(change)

    listening = await table.listen(LOBBY_BLOCK_CHANGED, BlockChanged, hear)
    ann, bob, cyn = [await lobby.guest() for _ in range(3)]
    names = [player.person.account_id for player in (ann, bob, cyn)]
    for blocker in (ann, cyn):
        await blocker.post("/v1/me/blocks", {"handle": await handle_of(bob)})
    for _ in range(2):
        await cyn.ask("DELETE", f"/v1/me/blocks/{await handle_of(bob)}")
    request = BlockersRequest(names[1], tuple(names))
    answer = await table.request(LOBBY_BLOCKERS, request, BlockersAnswer, timeout_seconds=5)
    assert answer.account_ids == (names[0],)
    expected = [(names[0], True), (names[2], True), (names[2], False)]
    await eventually(lambda: told == [BlockChanged(who, names[1], is_blocked=is_so) for who, is_so in expected])
    await listening.stop()
