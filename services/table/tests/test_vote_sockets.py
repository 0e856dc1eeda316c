"""Votes over a real socket: repeats of a command, a seat that changes hands by a swap, who only looks on."""

from __future__ import annotations

from table_doubles import Player
from table_stack import Stack, StartTable

ASK = "ann-asks-for-a-vote"
# No deal comes between, however busy the machine is.
LONG_SECONDS = 300.0


async def swapped(stack: Stack) -> tuple[str, list[Player]]:
    """Ann, bob, cyn and dan: bob and cyn have changed places, and bob says so first."""
    table_id, players = await stack.full_table()
    ann, bob, cyn, dan = players
    ready = await bob.command("ready", id="bob-is-ready-here")
    assert ready["public"] == {"seat": 2}
    asked = await ann.command("ask_vote", id=ASK, about="partner", seat=1)
    for player in (cyn, dan):
        await player.command("answer_vote", id="i-agree-with-that", vote=asked["public"]["vote"], agree=True)
    for player in players:
        assert (await player.event("seats_swapped"))["public"] == {"seats": [2, 1]}
    return table_id, [ann, bob, cyn, dan]


async def test_a_command_that_is_said_again_gets_its_first_answer_wherever_its_player_sits_now(
    start_table: StartTable,
) -> None:
    stack = await start_table(count_in_seconds=LONG_SECONDS)
    _, (ann, bob, cyn, dan) = await swapped(stack)
    assert (await bob.command("ready", id="bob-is-back-in-1-"))["public"] == {"seat": 1}
    start = len(bob.frames)
    await bob.send(type="ready", id="bob-is-ready-here")
    assert (await bob.frame("done", start=start))["id"] == "bob-is-ready-here"
    vote = (await ann.event("vote_asked"))["public"]["vote"]
    for player in (cyn, dan):
        start = len(player.frames)
        await player.send(type="answer_vote", id="i-agree-with-that", vote=vote, agree=True)
        assert (await player.frame("done", start=start))["version"] > vote
        await player.send(type="answer_vote", id="i-agree-with-that", vote=vote, agree=False)
        assert (await player.frame("refused", start=start))["code"] == "command_id_reused"


async def test_who_resumes_from_before_a_swap_gets_a_snapshot_with_the_seat_of_now(start_table: StartTable) -> None:
    stack = await start_table(count_in_seconds=LONG_SECONDS)
    table_id, (ann, bob, _, _) = await swapped(stack)
    had = (await bob.event("vote_asked"))["version"]
    again = await stack.join(table_id, "bob", version=had)
    snapshot = await again.frame("snapshot")
    assert (snapshot["seat"], snapshot["table"]["seats"][1]["name"]) == (1, "Bob")
    assert not [frame for frame in again.frames if frame["type"] == "event"]
    resumed = await stack.join(table_id, "bob", version=ann.version)
    assert [frame["type"] for frame in resumed.frames] == ["welcome"]


async def test_who_looks_on_sees_a_vote_and_has_no_say(start_table: StartTable) -> None:
    stack = await start_table()
    table_id = await stack.open_table(visibility="public")
    ann, bob = await stack.join(table_id, "ann"), await stack.join(table_id, "bob")
    await bob.command("sit")
    asked = await ann.command("ask_vote", about="bot", seat=1)
    eve = await stack.join(table_id, "eve")
    snapshot = await eve.frame("snapshot")
    assert snapshot["table"]["vote"]["waits_for"] == [2]
    assert 0 < snapshot["vote_remaining_ms"] <= 20_000
    for kind, fields in (
        ("answer_vote", {"vote": asked["public"]["vote"], "agree": False}),
        ("ask_vote", {"about": "bot", "seat": 1}),
    ):
        assert (await eve.command(kind, **fields))["code"] == "not_seated"
    refused = await bob.command("ask_vote", about="tea")
    assert refused["code"] == "frame_invalid"
    await bob.command("answer_vote", vote=asked["public"]["vote"], agree=True)
    assert (await eve.event("vote_ended"))["public"]["agreed"] is True
    assert (await eve.event("bot_seated"))["public"]["seat"] == 1
