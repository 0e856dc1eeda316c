"""Phrases and reactions over real sockets: who hears them, who may say them, who is muted (TL-45)."""

from __future__ import annotations

import pytest
from table_doubles import Player
from table_stack import Stack, StartTable

pytestmark = pytest.mark.ruling("TL-45")


async def three(stack: Stack) -> tuple[Player, Player, Player]:
    """Ann and bob sit, eve looks on."""
    table_id = await stack.open_table()
    ann, bob, eve = [await stack.join(table_id, name) for name in ("ann", "bob", "eve")]
    await bob.command("sit", seat=2)
    return ann, bob, eve


def heard(player: Player) -> list[str]:
    return [frame["phrase"] for frame in player.frames if frame["type"] == "said"]


async def test_tl_45_a_phrase_is_heard_by_everybody_at_the_table_and_is_no_event(start_table: StartTable) -> None:
    stack = await start_table()
    ann, bob, eve = await three(stack)
    version = bob.version
    assert (await bob.command("say", phrase="good_luck"))["type"] == "done"
    for player in (ann, bob, eve):
        said = await player.frame("said")
        assert said == {"type": "said", "seat": 2, "phrase": "good_luck"}
    assert (await bob.command("mute", seat=0, muted=False))["version"] == version


async def test_tl_45_who_looks_on_says_nothing_and_nobody_says_other_words(start_table: StartTable) -> None:
    stack = await start_table()
    ann, _, eve = await three(stack)
    assert (await eve.command("say", phrase="hello"))["code"] == "not_seated"
    assert (await ann.command("say", phrase="free text"))["code"] == "frame_invalid"
    assert heard(ann) == []


async def test_tl_45_who_says_too_much_waits_and_nobody_else(start_table: StartTable) -> None:
    stack = await start_table(phrases_a_minute_max=2)
    ann, bob, _ = await three(stack)
    answers = [await ann.command("say", phrase="hurry_up") for _ in range(3)]
    assert [answer["type"] for answer in answers] == ["done", "done", "refused"]
    assert answers[2]["code"] == "too_many_requests"
    assert (await bob.command("say", phrase="one_moment"))["type"] == "done"
    assert heard(bob) == ["hurry_up", "hurry_up", "one_moment"]


async def test_tl_45_another_connection_says_no_more_than_the_first(start_table: StartTable) -> None:
    stack = await start_table(phrases_a_minute_max=2)
    ann, _, _ = await three(stack)
    assert [(await ann.command("say", phrase="sad"))["type"] for _ in range(2)] == ["done", "done"]
    await ann.close()
    again = await stack.join(stack.table_ids[0], "ann")
    assert (await again.command("say", phrase="sad"))["code"] == "too_many_requests"


async def test_tl_45_who_has_muted_a_player_does_not_hear_them_until_they_want_to(start_table: StartTable) -> None:
    stack = await start_table()
    ann, bob, eve = await three(stack)
    assert (await ann.command("mute", seat=2, muted=True))["type"] == "done"
    await bob.command("say", phrase="angry")
    await eve.frame("said")
    await ann.command("mute", seat=2, muted=False)
    assert heard(ann) == []
    await bob.command("say", phrase="sorry")
    await ann.frame("said")
    assert (heard(ann), heard(eve)) == (["sorry"], ["angry", "sorry"])


async def test_tl_45_only_another_player_is_muted(start_table: StartTable) -> None:
    stack = await start_table()
    ann, _, _ = await three(stack)
    for seat, code in ((0, "nobody_else_there"), (1, "nobody_else_there"), (4, "seat_unknown"), (-1, "seat_unknown")):
        assert (await ann.command("mute", seat=seat, muted=True))["code"] == code
