"""The socket of a table: gaps, losses, repeats and refusals. Nothing is lost or done twice."""

from __future__ import annotations

import asyncio

import pytest
from client_doubles import ANY, DIRECT, ScriptedServer, stay_silent, table_view

from darbar_client import (
    Backoff,
    CommandRefused,
    Darbar,
    DarbarError,
    EventsMissed,
    Player,
    SocketEnded,
    TableSocket,
    Unreachable,
)
from darbar_contracts.frames import EventFrame, Snapshot
from darbar_contracts.refusals import Reason
from darbar_kit.testing import eventually
from darbar_rules.game import Legal
from darbar_rules.games.court_piece.events import AskTrump, PlayCard

LEGAL = {"play": ["AS", "2C"], "name": [], "also": ["ask_trump"]}


async def reaches(table: TableSocket, version: int) -> None:
    await table.until(lambda now: now.version >= version and now.caught_up, seconds=10)


async def test_joining_brings_the_table_as_it_is(server: ScriptedServer, table: TableSocket) -> None:
    assert server.hellos == [{"type": "hello", "protocol": 1, "token": "access-1", "version": 0}]
    assert table.version == server.version
    assert table.seat == 0
    assert table.now.people == (0,)
    assert table.now.free == (2, 3)
    assert table.game.name == "court_piece"
    assert table.view is None
    assert table.remaining_seconds is not None


async def test_events_are_read_in_their_order_from_the_first_snapshot_on(
    server: ScriptedServer, table: TableSocket
) -> None:
    server.event("seat_taken", {"seat": 2, "name": "Bilal", "avatar": "kite"})
    server.event("seat_ready", {"seat": 2})
    await reaches(table, 7)
    stream = table.events()
    read = [await anext(stream) for _ in range(3)]
    assert isinstance(read[0], Snapshot)
    assert [frame.version for frame in read] == [5, 6, 7]
    assert table.now.seats[2].name == "Bilal"
    assert table.now.seats[2].ready


async def test_a_lost_event_is_fetched_on_a_new_socket(server: ScriptedServer, table: TableSocket) -> None:
    server.event("seat_ready", {"seat": 0}, lost=True)
    server.event("host_changed", {"seat": 2})
    await reaches(table, 7)
    assert [hello["version"] for hello in server.hellos] == [0, 5]
    assert table.now.seats[0].ready
    assert table.now.host == 2


async def test_a_heartbeat_that_is_ahead_shows_that_the_last_event_was_lost(
    server: ScriptedServer, table: TableSocket
) -> None:
    server.event("seat_ready", {"seat": 0}, lost=True)
    server.heartbeat()
    await reaches(table, 6)
    assert [hello["version"] for hello in server.hellos] == [0, 5]


async def test_a_heartbeat_that_is_not_ahead_changes_nothing(server: ScriptedServer, table: TableSocket) -> None:
    server.heartbeat()
    server.event("seat_ready", {"seat": 0})
    await reaches(table, 6)
    assert len(server.hellos) == 1


async def test_an_event_that_comes_twice_counts_once(server: ScriptedServer, table: TableSocket) -> None:
    server.event("seat_ready", {"seat": 0})
    server.tell(server.frames[6])
    server.event("seat_ready", {"seat": 1})
    await reaches(table, 7)
    stream = table.events()
    assert [(await anext(stream)).version for _ in range(3)] == [5, 6, 7]
    assert len(server.hellos) == 1


async def test_what_can_no_longer_be_sent_again_comes_as_a_snapshot(server: ScriptedServer, table: TableSocket) -> None:
    server.event("seat_ready", {"seat": 0}, lost=True)
    server.frames.clear()
    server.view = table_view(host=2)
    server.drop()
    await reaches(table, 6)
    stream = table.events()
    read = [await anext(stream), await anext(stream)]
    assert all(isinstance(frame, Snapshot) for frame in read)
    assert table.now.host == 2


async def test_a_lost_socket_is_opened_again_and_goes_on_where_it_was(
    server: ScriptedServer, table: TableSocket
) -> None:
    server.event("seat_ready", {"seat": 0})
    await reaches(table, 6)
    server.drop()
    await eventually(lambda: len(server.hellos) == 2)
    server.event("host_changed", {"seat": 2})
    await reaches(table, 7)
    assert server.hellos[-1]["version"] == 6


async def test_a_socket_that_is_cut_on_purpose_comes_back(server: ScriptedServer, table: TableSocket) -> None:
    table.cut()
    await eventually(lambda: len(server.hellos) == 2)
    server.event("seat_ready", {"seat": 0})
    await reaches(table, 6)


async def test_a_command_returns_the_version_at_which_it_stands(server: ScriptedServer, table: TableSocket) -> None:
    assert await table.ready() == 6
    (command,) = server.commands
    assert command["type"] == "ready"
    assert 16 <= len(command["id"]) <= 32


async def test_a_command_whose_answer_is_lost_is_sent_again_with_the_same_id(
    server: ScriptedServer, table: TableSocket
) -> None:
    def store_and_lose(scripted: ScriptedServer, command: dict[str, str]) -> None:
        scripted.event("seat_ready", {"seat": 0}, lost=True, id=command["id"])
        scripted.frames.clear()
        scripted.drop()

    def answer_the_repeat(scripted: ScriptedServer, command: dict[str, str]) -> None:
        scripted.tell({"type": "done", "id": command["id"], "version": scripted.done[command["id"]]})

    server.act = lambda scripted, command: (answer_the_repeat if command["id"] in scripted.done else store_and_lose)(
        scripted, command
    )
    assert await table.ready() == 6
    assert len(server.commands) == 2
    assert server.commands[0] == server.commands[1]


async def test_a_command_that_the_missed_events_answer_is_not_sent_again(
    server: ScriptedServer, table: TableSocket
) -> None:
    def store_and_lose(scripted: ScriptedServer, command: dict[str, str]) -> None:
        scripted.event("seat_ready", {"seat": 0}, lost=True, id=command["id"])
        scripted.drop()

    server.act = store_and_lose
    assert await table.ready() == 6
    assert len(server.commands) == 1


async def test_a_command_given_while_the_socket_is_away_is_sent_when_it_is_back(
    server: ScriptedServer, table: TableSocket
) -> None:
    server.closed_paths |= {DIRECT, ANY}
    server.drop()
    await eventually(lambda: len(server.opened) > 3)
    waiting = asyncio.ensure_future(table.ready())
    await asyncio.sleep(0)
    server.closed_paths.clear()
    assert await waiting == 6
    assert len(server.commands) == 1


async def test_a_refusal_to_be_tried_again_is_tried_again_with_the_same_id(
    server: ScriptedServer, table: TableSocket
) -> None:
    def busy_twice(scripted: ScriptedServer, command: dict[str, str]) -> None:
        if len(scripted.commands) < 3:
            scripted.tell({"type": "refused", "id": command["id"], "code": "busy", "message": "", "retry": True})
        else:
            scripted.event("seat_ready", {"seat": 0}, id=command["id"])

    server.act = busy_twice
    assert await table.ready() == 6
    assert len({command["id"] for command in server.commands}) == 1
    assert len(server.commands) == 3


async def test_a_refusal_is_raised(server: ScriptedServer, table: TableSocket) -> None:
    def refuse(scripted: ScriptedServer, command: dict[str, str]) -> None:
        scripted.tell(
            {
                "type": "refused",
                "id": command["id"],
                "code": "stale_turn",
                "message": "moved on",
                "details": {"turn": 4},
            }
        )

    server.act = refuse
    with pytest.raises(CommandRefused) as raised:
        await table.ready()
    assert (raised.value.code, raised.value.details) == ("stale_turn", {"turn": 4})
    assert len(server.commands) == 1


async def test_leaving_a_table_that_one_has_left_is_no_error(server: ScriptedServer, table: TableSocket) -> None:
    server.act = lambda scripted, command: scripted.tell(
        {"type": "refused", "id": command["id"], "code": "not_seated", "message": ""}
    )
    await table.leave()


async def test_a_command_that_is_never_answered_is_given_up(server: ScriptedServer) -> None:
    server.act = stay_silent
    backoff = Backoff(command_seconds=0.05)
    async with Darbar(server.url, backoff=backoff) as darbar:
        amina = await darbar.guest("Amina")
        table = await amina.join(await amina.create_table("court_piece"), fair=False)
        with pytest.raises(DarbarError) as raised:
            await table.ready()
    assert raised.value.code == Reason.NO_ANSWER


async def test_a_decision_is_sent_for_the_turn_that_is_due(server: ScriptedServer, table: TableSocket) -> None:
    server.event("round_dealt", {"round": 3, "turn": 17, "to_act": 0}, legal=LEGAL, remaining_ms=9000)
    await table.until(lambda now: now.legal)
    assert table.legal == Legal(play=("AS", "2C"), also=("ask_trump",))
    assert table.choices() == (PlayCard("AS"), PlayCard("2C"), AskTrump())
    assert table.remaining_seconds is not None
    assert table.remaining_seconds <= 9
    await table.decide(PlayCard("AS"))
    (command,) = server.commands
    command.pop("id")
    assert command == {"type": "play_card", "game": 1, "round": 3, "turn": 17, "card": "AS"}
    assert not table.choices()


async def test_off_turn_a_seat_may_decide_without_being_waited_for(server: ScriptedServer, table: TableSocket) -> None:
    server.event("round_dealt", {"round": 3, "turn": 17, "to_act": 0}, legal=LEGAL, remaining_ms=9000)
    await table.until(lambda now: now.on_turn)
    server.event("card_played", {"turn": 18, "to_act": 1}, legal={"also": ["ask_trump"]})
    await table.until(lambda now: not now.on_turn)
    assert table.choices() == (AskTrump(),)
    server.event("card_played", {"turn": 19, "to_act": 1})
    await table.until(lambda now: not now.choices())
    assert not table.on_turn


async def test_what_is_no_decision_of_the_game_is_not_sent(server: ScriptedServer, table: TableSocket) -> None:
    with pytest.raises(DarbarError) as raised:
        await table.decide("AS")
    assert raised.value.code == Reason.NO_DECISION_DUE
    assert not server.commands


async def test_sitting_down_is_known_from_the_event_that_carries_the_commands_id(
    server: ScriptedServer, amina: Player
) -> None:
    server.seat = None
    table = await amina.join(await amina.create_table("court_piece"), fair=False)
    server.act = lambda scripted, command: scripted.event(
        "seat_taken", {"seat": 2, "name": "Amina", "avatar": "kite"}, id=command["id"]
    )
    await table.sit()
    assert table.seat == 2
    server.event("seat_freed", {"seat": 2, "reason": "not_back", "quit": True})
    await table.until(lambda now: now.seat is None)


async def test_a_player_who_changes_places_knows_it(server: ScriptedServer, table: TableSocket) -> None:
    for seats, seat in (([1, 2], 0), ([3, 0], 3), ([3, 1], 1)):
        server.event("seats_swapped", {"seats": seats})
        await reaches(table, server.version)
        assert table.seat == seat


async def test_a_vote_is_asked_for_and_answered_by_its_number(server: ScriptedServer, table: TableSocket) -> None:
    await table.ask_vote("bot", 2)
    server.event(
        "vote_asked",
        {"seat": 0, "vote": 7, "about": "bot", "about_seat": 2, "waits_for": [1], "seconds": 1000.0},
    )
    await reaches(table, server.version)
    left_seconds = table.vote_remaining_seconds
    assert left_seconds is not None
    assert left_seconds > 900
    await table.answer_vote(agree=False)
    said = [{key: value for key, value in command.items() if key != "id"} for command in server.commands]
    assert said == [
        {"type": "ask_vote", "about": "bot", "seat": 2},
        {"type": "answer_vote", "vote": 7, "agree": False},
    ]


async def test_a_snapshot_says_how_long_a_vote_runs_on(server: ScriptedServer, table: TableSocket) -> None:
    vote = {"number": 4, "about": "end_game", "about_seat": None, "asked_by": 1, "waits_for": [0], "agreed": []}
    server.view = table_view(vote=vote)
    server.vote_remaining_ms = 900_000
    await table.refresh()
    left_seconds = table.vote_remaining_seconds
    assert left_seconds is not None
    assert 800 < left_seconds <= 900


async def test_a_refresh_asks_for_a_snapshot_on_the_same_socket(server: ScriptedServer, table: TableSocket) -> None:
    server.view = table_view(host=2)
    snapshot = await table.refresh()
    assert snapshot.table.host == 2
    assert [hello["version"] for hello in server.hellos] == [0, 0]
    assert len(server.opened) == 1


async def test_a_refresh_that_is_lost_with_its_socket_is_asked_again(
    server: ScriptedServer, table: TableSocket
) -> None:
    server.event("seat_ready", {"seat": 0})
    await reaches(table, 6)
    refreshing = asyncio.ensure_future(table.refresh())
    server.drop()
    assert (await refreshing).version == 6


async def test_the_owner_is_asked_first_then_whoever_passes_on(server: ScriptedServer, amina: Player) -> None:
    server.closed_paths.add(DIRECT)
    table = await amina.join(await amina.create_table("court_piece"), fair=False)
    assert server.opened == [DIRECT, ANY]
    server.drop()
    await eventually(lambda: len(server.hellos) == 2)
    assert server.opened[2:] == [ANY]
    await table.close()


async def test_when_no_way_is_open_the_lobby_is_asked_who_owns_the_table_now(
    server: ScriptedServer, table: TableSocket
) -> None:
    server.closed_paths |= {DIRECT, ANY}
    server.drop()
    await eventually(lambda: len(server.opened) > 4)
    server.closed_paths.clear()
    await eventually(lambda: len(server.hellos) == 2)
    assert server.count(f"/v1/tables/{table.table_id}") >= 1


async def test_a_table_that_closes_ends_the_events_in_peace(server: ScriptedServer, table: TableSocket) -> None:
    server.event("table_closed", {"reason": "empty"})
    server.closing("table_closed")
    kinds = [frame.kind async for frame in table.events() if isinstance(frame, EventFrame)]
    assert kinds == ["table_closed"]
    with pytest.raises(SocketEnded):
        await table.ready()


@pytest.mark.parametrize("code", ["table_private", "table_closed", "protocol_unknown"])
async def test_a_table_that_may_not_be_seen_can_not_be_joined(server: ScriptedServer, amina: Player, code: str) -> None:
    ref = await amina.create_table("court_piece")
    server.refused_hellos.append(code)
    with pytest.raises(SocketEnded) as raised:
        await amina.join(ref)
    assert (raised.value.code, raised.value.message) == (code, "because")
    assert len(server.hellos) == 1


async def test_being_shown_out_is_told_to_the_reader(server: ScriptedServer, table: TableSocket) -> None:
    server.closing("table_private")
    with pytest.raises(SocketEnded) as raised:
        [frame async for frame in table.events()]
    assert raised.value.code == "table_private"


async def test_a_process_that_does_not_know_the_table_yet_is_asked_again(server: ScriptedServer, amina: Player) -> None:
    server.refused_hellos.extend(["table_unknown", "not_owner", "unavailable"])
    table = await amina.join(await amina.create_table("court_piece"))
    assert table.caught_up
    assert len(server.hellos) == 4


async def test_a_table_that_nobody_knows_is_given_up(server: ScriptedServer, amina: Player) -> None:
    server.refused_hellos.extend(["table_unknown"] * 100)
    with pytest.raises(SocketEnded):
        await amina.join(await amina.create_table("court_piece"))
    assert len(server.hellos) < 10


async def test_a_table_that_nobody_knows_is_given_up_though_other_ways_are_blocked(
    server: ScriptedServer, amina: Player
) -> None:
    server.refused_hellos.extend(["table_unknown", "not_owner"] * 50)
    with pytest.raises(SocketEnded):
        await amina.join(await amina.create_table("court_piece"))
    assert len(server.hellos) < 15


async def test_a_table_out_of_reach_is_given_up_in_time(server: ScriptedServer) -> None:
    backoff = Backoff(socket_seconds=0.05, http_seconds=0.05, pause_seconds_min=0.001, pause_seconds_max=0.005)
    async with Darbar(server.url, backoff=backoff) as darbar:
        amina = await darbar.guest("Amina")
        table = await amina.join(await amina.create_table("court_piece"), fair=False)
        server.closed_paths |= {DIRECT, ANY}
        server.act = stay_silent
        waiting = asyncio.ensure_future(table.ready())
        await eventually(lambda: server.commands)
        server.drop()
        with pytest.raises(Unreachable):
            await waiting
        with pytest.raises(Unreachable):
            [frame async for frame in table.events()]


async def test_closing_a_socket_ends_its_events_and_its_commands(server: ScriptedServer, table: TableSocket) -> None:
    server.act = stay_silent
    waiting = asyncio.ensure_future(table.ready())
    await eventually(lambda: server.commands)
    await table.close()
    with pytest.raises(SocketEnded) as raised:
        await waiting
    assert raised.value.code == Reason.SOCKET_CLOSED
    assert [frame.version async for frame in table.events()] == [5]


async def test_a_reader_who_is_too_slow_is_told(server: ScriptedServer, amina: Player) -> None:
    table = await amina.join(await amina.create_table("court_piece"), fair=False, events_unread_max=3)
    for _ in range(5):
        server.event("seat_ready", {"seat": 0})
    await reaches(table, 10)
    stream = table.events()
    with pytest.raises(EventsMissed) as raised:
        await anext(stream)
    assert raised.value.details == {"count": 3}
    assert [(await anext(stream)).version for _ in range(3)] == [8, 9, 10]


async def test_a_token_that_the_table_refuses_is_renewed_for_the_next_hello(
    server: ScriptedServer, amina: Player
) -> None:
    ref = await amina.create_table("court_piece")
    server.refused_tokens.add("access-1")
    await amina.join(ref, fair=False)
    assert [hello["token"] for hello in server.hellos] == ["access-1", "access-2"]


async def test_a_fresh_token_is_sent_before_the_old_one_ends(server: ScriptedServer, darbar: Darbar) -> None:
    server.access_seconds = 1
    amina = await darbar.guest("Amina")
    await amina.join(await amina.create_table("court_piece"), fair=False)
    await eventually(lambda: server.fresh_tokens)
    assert server.fresh_tokens[0] == "access-2"
    assert len(server.hellos) == 1
