"""The microphone over real sockets; media is a double that says who may speak and what becomes of a recording."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts.subjects import MEDIA_VOICE_RIGHTS, TABLE_WHERE, table_note
from darbar_contracts.tables import WhereAnswer, WhereRequest
from darbar_contracts.voice import (
    NoteStep,
    NoteStepTaken,
    NoteStored,
    UploadBegan,
    UploadEnded,
    UploadRefused,
    UploadTicket,
    VoiceBan,
    VoiceRights,
    VoiceRightsRequest,
)
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.seals import Seal

KEY = "only-for-tests-only-for-tests"
QUICK: dict[str, Any] = {"ticket_key": KEY, "count_in_seconds": 0.05, "seeds_open_seconds": 0.05}


class MediaDouble:
    """Says who is banned, and tells a table what media would tell it."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.banned: set[str] = set()

    async def rights(self, request: VoiceRightsRequest) -> VoiceRights:
        now = datetime.now(UTC)
        ban = VoiceBan(now, now + timedelta(hours=1), "shouting") if request.account_id in self.banned else None
        return VoiceRights(request.account_id, ban)

    async def tell(self, ticket: str, step: Any) -> NoteStepTaken:
        read = Seal(KEY).read(ticket, UploadTicket)
        where = await self.bus.request(TABLE_WHERE, WhereRequest(read.table_id), WhereAnswer, timeout_seconds=5)
        assert where.process_id is not None
        subject = table_note(where.process_id)
        return await self.bus.request(subject, NoteStep(read, step), NoteStepTaken, timeout_seconds=5)


@pytest_asyncio.fixture(loop_scope="session")
async def media(bus: Bus) -> AsyncIterator[MediaDouble]:
    double = MediaDouble(bus)
    served = await bus.serve(MEDIA_VOICE_RIGHTS, VoiceRightsRequest, double.rights)
    yield double
    await served.stop()


async def dealt(stack: Stack) -> tuple[str, list[Player]]:
    table_id, players = await stack.full_table(turn_seconds=30)
    await players[0].event("round_started")
    return table_id, players


def shown(player: Player) -> list[tuple[int | None, bool]]:
    """Who has had the microphone, as this player was shown; and whether a time came with it."""
    frames = [frame for frame in player.frames if frame["type"] == "microphone"]
    return [(frame["seat"], frame["remaining_ms"] is not None) for frame in frames]


async def ask(player: Player) -> str:
    """The ticket."""
    answer = await player.command("ask_microphone")
    assert answer["type"] == "upload_ticket", answer
    return str(answer["ticket"])


@pytest.mark.ruling("TL-47")
@pytest.mark.ruling("TL-49")
async def test_a_note_is_recorded_by_one_seen_by_all_and_played_for_who_was_seated_tl_47_tl_49(
    start_table: StartTable, media: MediaDouble
) -> None:
    stack = await start_table(**QUICK)
    table_id, (ann, bob, cyn, dan) = await dealt(stack)
    eve = await stack.join(table_id, "eve")
    ticket = await ask(ann)
    assert (await bob.command("ask_microphone"))["code"] == "microphone_taken"
    late = await stack.join(table_id, "bob")
    await media.tell(ticket, UploadBegan())
    ended = await media.tell(ticket, UploadEnded())
    assert ended.sent_at is not None
    assert sorted(ended.listeners) == ["ann", "bob", "cyn", "dan"]
    note = NoteStored("n1", 2000, ended.listeners, ended.sent_at + timedelta(seconds=1), "/v1/voice-notes/n1?link=x")
    await media.tell(ticket, note)
    for player in (ann, bob, cyn, dan, late):
        ready = await player.frame("note_ready")
        assert (ready["note_id"], ready["seat"], ready["path"]) == ("n1", 0, note.path)
        assert 0 < ready["plays_in_ms"] <= 1000
    await eve.command("mute", seat=0, muted=True)
    assert not [frame for frame in eve.frames if frame["type"] == "note_ready"]
    for player in (ann, bob, eve, late):
        assert shown(player) == [(0, True), (0, True), (None, False)]
    assert (await ann.command("ask_microphone"))["code"] == "note_used"
    assert (await bob.command("ask_microphone"))["type"] == "upload_ticket"


@pytest.mark.ruling("TL-49")
async def test_a_note_of_who_is_connected_to_another_process_is_recorded_and_heard_there_tl_49(
    start_table: StartTable, media: MediaDouble
) -> None:
    stays = {"better_place_seconds": 3600.0}
    owner, other = await start_table(**QUICK, **stays), await start_table(**QUICK, **stays)
    table_id, (direct, _, cyn, _) = await dealt(owner)
    ann, bob, eve = [await other.join(table_id, name) for name in ("ann", "bob", "eve")]
    ticket = await ask(ann)
    for player in (direct, cyn, bob, eve):
        await player.until(lambda frame: frame["type"] == "microphone" and frame["seat"] == 0)
    assert (await bob.command("ask_microphone"))["code"] == "microphone_taken"
    await media.tell(ticket, UploadBegan())
    ended = await media.tell(ticket, UploadEnded())
    assert ended.sent_at is not None
    note = NoteStored("n1", 2000, ended.listeners, ended.sent_at + timedelta(seconds=1), "/v1/voice-notes/n1?link=x")
    await media.tell(ticket, note)
    for player in (direct, ann, bob, cyn):
        ready = await player.frame("note_ready")
        assert (ready["note_id"], ready["seat"], ready["path"]) == ("n1", 0, note.path)
    assert (await eve.command("mute", seat=0, muted=True))["type"] == "done"
    assert not [frame for frame in eve.frames if frame["type"] == "note_ready"]
    assert [shown(player) for player in (cyn, bob, eve)] == [[(0, True), (0, True), (None, False)]] * 3
    assert (await bob.command("ask_microphone"))["type"] == "upload_ticket"
    assert (await bob.command("cancel_note"))["type"] == "done"


async def test_who_comes_after_a_note_was_sent_is_told_of_none_and_another_microphones_ticket_moves_nothing(
    start_table: StartTable, media: MediaDouble
) -> None:
    stack = await start_table(**QUICK)
    table_id, (ann, *_) = await dealt(stack)
    ticket = await ask(ann)
    of_another = Seal(KEY).write(msgspec.structs.replace(Seal(KEY).read(ticket, UploadTicket), grant_id="of-another"))
    for step in (UploadBegan(), UploadEnded()):
        with pytest.raises(Refused, match="microphone_not_held"):
            await media.tell(of_another, step)
        taken = await media.tell(ticket, step)
    assert sorted(taken.listeners) == ["ann", "bob", "cyn", "dan"]
    later = await stack.join(table_id, "fay")
    assert taken.sent_at is not None
    await media.tell(ticket, NoteStored("n1", 2000, taken.listeners, taken.sent_at, "/v1/voice-notes/n1?link=x"))
    await ann.frame("note_ready")
    assert (await later.command("mute", seat=0, muted=True))["type"] == "done"
    assert not [frame for frame in later.frames if frame["type"] == "note_ready"]


@pytest.mark.ruling("TL-47")
async def test_the_microphone_is_free_when_its_time_is_over_and_when_it_is_given_back_tl_47(
    start_table: StartTable, media: MediaDouble
) -> None:
    stack = await start_table(**QUICK, microphone_seconds=0.1, upload_seconds=0.1)
    _, (ann, bob, cyn, dan) = await dealt(stack)
    ticket = await ask(ann)
    await bob.until(lambda frame: frame == {"type": "microphone", "seat": None, "remaining_ms": None})
    with pytest.raises(Refused, match="microphone_not_held"):
        await media.tell(ticket, UploadBegan())
    start = len(cyn.frames)
    ticket = await ask(bob)
    await media.tell(ticket, UploadBegan())
    await cyn.until(lambda frame: frame == {"type": "microphone", "seat": None, "remaining_ms": None}, start=start)
    with pytest.raises(Refused, match="microphone_not_held"):
        await media.tell(ticket, UploadEnded())
    await ask(cyn)
    assert (await cyn.command("cancel_note"))["type"] == "done"
    assert (await cyn.command("ask_microphone"))["code"] == "note_used"
    assert (await dan.command("cancel_note"))["code"] == "microphone_not_held"


async def test_what_became_no_note_may_be_recorded_again(start_table: StartTable, media: MediaDouble) -> None:
    stack = await start_table(**QUICK)
    _, (ann, *_) = await dealt(stack)
    for _ in range(3):
        ticket = await ask(ann)
        await media.tell(ticket, UploadBegan())
        await media.tell(ticket, UploadEnded())
        await media.tell(ticket, UploadRefused())
    assert (await ann.command("ask_microphone"))["code"] == "note_used"


@pytest.mark.ruling("TL-52")
async def test_who_is_banned_is_told_why_and_until_when_tl_52(start_table: StartTable, media: MediaDouble) -> None:
    stack = await start_table(**QUICK)
    _, (ann, *_) = await dealt(stack)
    media.banned.add("ann")
    refusal = await ann.command("ask_microphone")
    assert (refusal["code"], refusal["details"]["reason"]) == ("voice_banned", "shouting")
    assert datetime.fromisoformat(refusal["details"]["until"]) > datetime.now(UTC)


@pytest.mark.ruling("TL-46")
async def test_nobody_records_before_a_deal_nor_without_a_seat_nor_where_no_key_is_set_tl_46(
    start_table: StartTable, media: MediaDouble
) -> None:
    stack = await start_table(ticket_key=KEY)
    table_id, players = await stack.full_table()
    assert (await players[0].command("ask_microphone"))["code"] == "notes_not_here"
    assert (await (await stack.join(table_id, "eve")).command("ask_microphone"))["code"] == "not_seated"


async def test_without_media_the_player_is_told_to_ask_again(start_table: StartTable) -> None:
    stack = await start_table(**QUICK)
    _, (ann, *_) = await dealt(stack)
    refusal = await ann.command("ask_microphone")
    assert (refusal["code"], refusal["retry"]) == ("unavailable", True)
