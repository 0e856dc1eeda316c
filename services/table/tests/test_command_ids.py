"""The same id gets the same answer, also when its sender has left, sat down elsewhere, or meets another process."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

from table_doubles import Player
from table_stack import StartTable

Answer = dict[str, Any]


def new_id() -> str:
    return f"test-{secrets.token_hex(8)}"


async def bob_leaves(bob: Player) -> tuple[str, Answer]:
    """The id of his command, and the answer that it must have from now on."""
    command_id = new_id()
    freed = await bob.command("leave", id=command_id)
    assert freed["kind"] == "seat_freed"
    return command_id, {"type": "done", "id": command_id, "version": freed["version"]}


async def again(player: Player, kind: str, command_id: str) -> Answer:
    return await player.command(kind, id=command_id)


async def test_a_repeated_leave_is_done_also_at_the_next_process(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    await bob.command("sit")
    command_id, done = await bob_leaves(bob)
    assert await again(bob, "leave", command_id) == done
    assert (await bob.command("leave"))["code"] == "not_seated"
    await stack.runner.cleanup()
    back = await (await start_table()).join(table_id, "bob")
    assert await again(back, "leave", command_id) == done
    assert (await again(back, "start_now", command_id))["code"] == "command_id_reused"


async def test_a_repeated_leave_frees_no_seat_that_was_taken_after_it(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob = await stack.join(table_id, "bob")
    await bob.command("sit", seat=2)
    command_id, done = await bob_leaves(bob)
    for seat in (2, 3):
        await bob.command("sit", seat=seat)
        assert await again(bob, "leave", command_id) == done
        assert (await bob.command("sit"))["code"] == "already_seated"
        if seat == 2:
            await bob.command("leave")
    await stack.runner.cleanup()
    back = await (await start_table()).join(table_id, "bob")
    assert await again(back, "leave", command_id) == done
    assert (await back.command("sit"))["code"] == "already_seated"


async def test_a_repeated_leave_is_done_while_its_sender_sits_at_another_table(start_table: StartTable) -> None:
    stack = await start_table()
    table_id, other_id = await stack.open_table(), await stack.open_table(host="eve")
    bob, there = await stack.join(table_id, "bob"), await stack.join(other_id, "bob")
    await bob.command("sit")
    command_id, done = await bob_leaves(bob)
    assert (await there.command("sit"))["type"] == "event"
    assert await again(bob, "leave", command_id) == done
    assert (await there.command("sit"))["code"] == "already_seated"


async def test_a_repeated_sit_is_done_whatever_the_wallet_or_another_table_would_say_now(
    start_table: StartTable,
) -> None:
    stack = await start_table()
    table_id, other_id = await stack.open_table(), await stack.open_table(host="eve")
    bob, there = await stack.join(table_id, "bob"), await stack.join(other_id, "bob")
    command_id = new_id()
    taken = await bob.command("sit", id=command_id)
    await bob.command("leave")
    assert (await there.command("sit"))["type"] == "event"
    stack.wallet.balances["bob"] = 0
    assert await again(bob, "sit", command_id) == {"type": "done", "id": command_id, "version": taken["version"]}
    assert (await bob.command("sit"))["code"] == "seated_elsewhere"


async def test_the_ids_of_who_left_are_forgotten_when_another_has_the_seat(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table()
    bob, cyn = await stack.join(table_id, "bob"), await stack.join(table_id, "cyn")
    await bob.command("sit", seat=2)
    command_id, _ = await bob_leaves(bob)
    assert (await cyn.command("sit", seat=2, id=command_id))["type"] == "event", "an id is its account's own"
    assert (await again(bob, "leave", command_id))["code"] == "not_seated"


async def test_a_leave_in_a_round_is_done_again_when_the_round_is_over(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=0.05)
    _, players = await stack.full_table()
    bob, command_id = players[1], new_id()
    await bob.event("round_dealt")
    asked = await bob.command("leave", id=command_id)
    assert asked["kind"] == "leave_asked"
    done = {"type": "done", "id": command_id, "version": asked["version"]}
    assert await again(bob, "leave", command_id) == done
    await asyncio.gather(*(player.play(_settled) for player in players if player is not bob))
    await bob.event("seat_freed")
    assert await again(bob, "leave", command_id) == done


def _settled(frame: Answer) -> bool:
    return bool(frame.get("kind") == "settled")
