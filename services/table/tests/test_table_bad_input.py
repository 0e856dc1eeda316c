"""Whatever a client sends, it gets a stable code, nothing changes, and no other table notices."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import msgspec
import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts.frames import FRAME_BYTES_MAX
from darbar_kit.errors import Refused
from darbar_kit.testing import eventually
from darbar_kit.tokens import Claims, TokenWriter, new_private_key_pem


def _id() -> str:
    return f"test-{secrets.token_hex(8)}"


async def _playing(stack: Stack) -> tuple[list[Player], Player, dict[str, Any]]:
    """Four players, trump chosen; the caller, who leads, and his newest frame with `legal`."""
    _, players = await stack.full_table()
    dealt = await players[0].event("round_dealt")
    by_seat = dict(zip((0, 2, 1, 3), players, strict=True))
    caller = by_seat[dealt["public"]["caller"]]
    offer = await caller.until(lambda frame: bool(frame.get("legal")))
    await caller.command("choose_trump", round=1, turn=0, card=offer["legal"]["name"][0])
    chosen = await caller.event("trump_chosen")
    for player in players:
        await player.event("trump_chosen")
    return players, caller, chosen


async def _say(player: Player, text: str) -> None:
    assert player.socket is not None
    await player.socket.send_str(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "frame_invalid"),
        ("{", "frame_invalid"),
        ("null", "frame_invalid"),
        ("[]", "frame_invalid"),
        ('{"type":"fly"}', "frame_invalid"),
        ('{"id":"x"}', "frame_invalid"),
        ('{"type":"sit"}', "frame_invalid"),
        ('{"type":"sit","id":7}', "frame_invalid"),
        ('{"type":"sit","id":"abcdefghijklmnop","set":1}', "frame_invalid"),
        ('{"type":"sit","id":"short"}', "command_id_invalid"),
        ('{"type":"sit","id":"' + "x" * 33 + '"}', "command_id_invalid"),
        ('{"type":"sit","id":"abc def ghi jkl mno"}', "command_id_invalid"),
        ('{"type":"sit","id":"abcdefghijklmnop","seat":9}', "seat_unknown"),
        ('{"type":"sit","id":"abcdefghijklmnop","seat":-1}', "seat_unknown"),
        ('{"type":"sit","id":"abcdefghijklmnop","seat":0}', "seat_taken"),
        ('{"type":"leave","id":"abcdefghijklmnop"}', "not_seated"),
        ('{"type":"play_card","id":"abcdefghijklmnop","round":1,"turn":1,"card":"AS"}', "not_seated"),
        ("x" * (FRAME_BYTES_MAX + 1), "frame_too_large"),
        (
            '{"type":"ping","x":"' + "\ud83c\udca1".encode("utf-16", "surrogatepass").decode("utf-16") + '"}',
            "frame_invalid",
        ),
    ],
)
async def test_a_bad_frame_is_refused_by_its_code(start_table: StartTable, text: str, code: str) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    player = await stack.join(table_id, "bob")
    assert player.socket is not None
    await player.socket.send_str(text)
    refusal = await player.frame("refused")
    assert refusal["code"] == code
    assert (await player.command("sit"))["type"] == "event"


async def test_many_bad_frames_end_the_socket(start_table: StartTable) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "bob")
    for _ in range(30):
        await player.send(type="fly")
    assert (await player.frame("closing"))["code"] == "frames_too_many"


async def test_a_binary_message_ends_the_socket(start_table: StartTable) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "bob")
    assert player.socket is not None
    await player.socket.send_bytes(b"\x00\x01")
    assert (await player.frame("closing"))["code"] == "frame_not_text"


async def test_the_first_frame_must_be_hello(start_table: StartTable) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "bob", hello=False)
    await player.send(type="sit", id=_id())
    assert (await player.frame("closing"))["code"] == "hello_expected"


@pytest.mark.parametrize(("protocol", "code"), [(0, "protocol_unknown"), (2, "protocol_unknown")])
async def test_another_protocol_is_refused(start_table: StartTable, protocol: int, code: str) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "bob", hello=False)
    await player.send(type="hello", protocol=protocol, token=player.token)
    assert (await player.frame("closing"))["code"] == code


@pytest.mark.parametrize("kind", ["none", "garbage", "forged", "expired"])
async def test_a_token_that_is_not_good_is_refused(start_table: StartTable, kind: str) -> None:
    stack = await start_table()
    claims = Claims(account_id="bob", name="Bob", avatar="fox", role="player")
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    tokens = {
        "none": "",
        "garbage": "a.b.c",
        "forged": TokenWriter(new_private_key_pem()).write(claims),
        "expired": stack.lobby.writer.write(msgspec.structs.replace(claims, expires_at=long_ago)),
    }
    player = await stack.join(await stack.open_table(), "bob", hello=False)
    await player.send(type="hello", protocol=1, token=tokens[kind])
    code = (await player.frame("closing"))["code"]
    assert code == ("token_expired" if kind == "expired" else "token_invalid")


async def test_a_socket_ends_with_its_token_unless_a_fresh_one_came(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    soon = datetime.now(UTC) + timedelta(seconds=2)
    claims = Claims(account_id="bob", name="Bob", avatar="fox", role="player", expires_at=soon)
    short = stack.lobby.writer.write(claims)
    stays, ends = await stack.join(table_id, "bob", hello=False), await stack.join(table_id, "bob", hello=False)
    for player in (stays, ends):
        await player.send(type="hello", protocol=1, token=short)
        await player.frame("snapshot")
    await stays.send(type="fresh_token", token=stack.lobby.token("bob"))
    assert (await ends.frame("closing"))["code"] == "token_expired"
    await stays.send(type="ping")
    await stays.frame("heartbeat")


async def test_a_fresh_token_of_somebody_else_is_refused(start_table: StartTable) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "bob")
    await player.send(type="fresh_token", token=stack.lobby.token("eve"))
    assert (await player.frame("refused"))["code"] == "token_invalid"


async def test_a_second_hello_of_somebody_else_is_refused(start_table: StartTable) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "bob")
    await player.send(type="hello", protocol=1, token=stack.lobby.token("ann"))
    assert (await player.frame("refused"))["code"] == "token_invalid"
    assert (await player.command("sit"))["public"]["name"] == "Bob"


@pytest.mark.parametrize("table_id", ["7f9c24e5-2f6b-4d11-9a3e-0c5d8b1a6e42", "00000000-0000-0000-0000-000000000000"])
async def test_a_table_that_does_not_exist_is_unknown(start_table: StartTable, table_id: str) -> None:
    stack = await start_table()
    player = await stack.join(table_id, "bob")
    assert (await player.frame("closing"))["code"] == "table_unknown"


async def test_an_account_has_one_seat_anywhere(start_table: StartTable) -> None:
    stack = await start_table()
    first, second = await stack.open_table(), None
    bob = await stack.join(first, "bob")
    await bob.command("sit")
    assert (await bob.command("sit"))["code"] == "already_seated"
    with pytest.raises(Refused, match="seated_elsewhere") as refusal:
        await stack.open_table(host="bob")
    assert refusal.value.details == {"table_id": first}
    second = await stack.open_table(host="eve")
    elsewhere = await stack.join(second, "bob")
    assert (await elsewhere.command("sit"))["code"] == "seated_elsewhere"
    await bob.command("leave")

    async def seated_there() -> bool:
        return bool((await elsewhere.command("sit"))["type"] == "event")

    await eventually(seated_there)


async def test_sitting_down_needs_double_the_bet(start_table: StartTable) -> None:
    stack = await start_table()
    stack.wallet.balances["bob"] = 199
    player = await stack.join(await stack.open_table(), "bob")
    assert (await player.command("sit"))["code"] == "short_of_coins"
    stack.wallet.balances["bob"] = 200
    assert (await player.command("sit"))["type"] == "event"


async def test_cards_that_may_not_be_played_are_refused_and_change_nothing(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    players, caller, chosen = await _playing(stack)
    hand, version = chosen["secret"]["hand"], players[0].version
    foreign = next(card for card in ("AS", "KS", "QS", "JS", "TS", "9S", "8S", "7S", "6S") if card not in hand)
    for fields, code in (
        ({"round": 1, "turn": 1, "card": foreign}, "card_not_held"),
        ({"round": 1, "turn": 1, "card": "1S"}, "card_unknown"),
        ({"round": 1, "turn": 1, "card": "AS#3"}, "card_unknown"),
        ({"round": 1, "turn": 1, "card": ""}, "card_unknown"),
        ({"round": 1, "turn": 0, "card": hand[0]}, "stale_turn"),
        ({"round": 1, "turn": 2, "card": hand[0]}, "stale_turn"),
        ({"round": 2, "turn": 1, "card": hand[0]}, "stale_turn"),
    ):
        answer = await caller.command("play_card", **fields)
        assert (answer["type"], answer["code"]) == ("refused", code)
    other = next(player for player in players if player is not caller)
    answer = await other.command("play_card", round=1, turn=1, card="AS")
    assert answer["code"] == "not_your_turn"
    await caller.send(type="ping")
    assert (await caller.frame("heartbeat"))["version"] == version


async def test_a_repeated_command_has_one_effect_and_the_same_answer(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    _, caller, chosen = await _playing(stack)
    card, command_id = chosen["legal"]["play"][0], _id()
    first = await caller.command("play_card", id=command_id, round=1, turn=1, card=card)
    before = caller.version
    await caller.send(type="play_card", id=command_id, round=1, turn=1, card=card)
    done = await caller.frame("done")
    assert done == {"type": "done", "id": command_id, "version": first["version"]}
    another = "3C" if card == "2C" else "2C"
    await caller.send(type="play_card", id=command_id, round=1, turn=1, card=another)
    refusal = await caller.frame("refused")
    assert (refusal["id"], refusal["code"]) == (command_id, "command_id_reused")
    assert caller.version == before


async def test_a_command_is_the_same_however_its_json_is_written(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    _, caller, chosen = await _playing(stack)
    command = {"type": "play_card", "id": _id(), "round": 1, "turn": 1, "card": chosen["legal"]["play"][0]}
    await _say(caller, json.dumps(command))
    acknowledged = await caller.until(lambda frame: frame.get("id") == command["id"])
    await _say(caller, json.dumps(dict(reversed(command.items())), indent=2))
    done = await caller.frame("done")
    assert done == {"type": "done", "id": command["id"], "version": acknowledged["version"]}


async def test_the_refusal_of_an_unreadable_command_names_its_id(start_table: StartTable) -> None:
    stack = await start_table()
    player = await stack.join(await stack.open_table(), "ann")
    command_id = _id()
    messages = (
        {"type": "play_card", "id": command_id, "round": "one"},
        {"id": command_id, "type": "fly"},
        {"type": "play_card", "id": 7},
        {"type": "play_card", "id": "too short"},
        {"type": "fly"},
        [command_id],
    )
    for message in messages:
        await _say(player, json.dumps(message))
    await player.until(lambda _: len(_refusals(player)) == len(messages))
    assert [refusal["code"] for refusal in _refusals(player)] == ["frame_invalid"] * len(messages)
    assert [refusal["id"] for refusal in _refusals(player)] == [command_id, command_id, None, None, None, None]


def _refusals(player: Player) -> list[dict[str, Any]]:
    return [frame for frame in player.frames if frame["type"] == "refused"]


async def test_other_tables_do_not_notice_a_hostile_client(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    hostile = await stack.join(await stack.open_table(host="mal"), "eve")
    _, players = await stack.full_table()
    for _ in range(15):
        await hostile.send(type="play_card", id=_id(), round=1, turn=1, card="AS")
    await players[0].event("round_dealt")
    frames = [frame for player in players for frame in player.frames]
    assert not [frame for frame in frames if frame["type"] in ("refused", "closing")]


async def test_a_path_that_names_another_process_is_misdirected(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    async with aiohttp.ClientSession() as session:
        url = f"{stack.address}/play/at/t000000000000/tables/{table_id}/socket"
        async with session.get(url) as answer:
            assert (answer.status, (await answer.json())["code"]) == (421, "not_owner")
