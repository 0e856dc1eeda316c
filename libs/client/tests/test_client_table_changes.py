"""What events do to the table around the cards."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from client_doubles import table_view

from darbar_client.table_changes import after_event
from darbar_contracts.frames import FREE_SEAT, EventFrame, SeatView, TableView, VoteView

PLAYER = SeatView(kind="player", name="Amina")


def now(**changes: Any) -> TableView:
    return msgspec.convert(table_view(**changes), TableView)


def then(table: TableView, kind: str, **public: Any) -> TableView:
    return after_event(table, EventFrame(version=6, kind=kind, public=public))


@pytest.mark.parametrize(
    ("kind", "public", "seat"),
    [
        ("seat_taken", {"seat": 0, "name": "Bilal", "avatar": "kite"}, SeatView("player", "Bilal", "kite")),
        ("bot_seated", {"seat": 0, "name": "Omar"}, SeatView("bot", "Omar")),
        ("seat_freed", {"seat": 0, "reason": "left", "quit": False}, SeatView(expects="anybody")),
        ("bot_sent_away", {"seat": 0, "actor": 1}, SeatView(expects="player")),
        ("seat_ready", {"seat": 0}, msgspec.structs.replace(PLAYER, ready=True)),
        ("seed_committed", {"seat": 0, "sha256": ""}, msgspec.structs.replace(PLAYER, committed=True)),
        ("player_went_offline", {"seat": 0}, msgspec.structs.replace(PLAYER, away=True)),
        ("leave_asked", {"seat": 0}, msgspec.structs.replace(PLAYER, away=True)),
        ("bot_took_over", {"seat": 0}, msgspec.structs.replace(PLAYER, bot_plays=True)),
    ],
)
def test_an_event_changes_its_seat(kind: str, public: dict[str, Any], seat: SeatView) -> None:
    assert then(now(), kind, **public).seats[0] == seat


@pytest.mark.parametrize(
    ("kind", "phase"),
    [
        ("count_in_stopped", "waiting"),
        ("seeds_asked", "opening_seeds"),
        ("stakes_asked", "staking"),
        ("stakes_refused", "waiting"),
        ("round_started", "playing"),
        ("seeds_shown", "waiting"),
        ("settle_asked", "settling"),
        ("settled", "waiting"),
        ("refund_asked", "refunding"),
        ("refunded", "waiting"),
        ("table_closed", "closed"),
    ],
)
def test_an_event_changes_the_phase(kind: str, phase: str) -> None:
    assert then(now(phase="x"), kind).phase == phase


def test_a_count_in_forgets_who_was_ready() -> None:
    table = then(then(now(), "seat_ready", seat=0), "seed_committed", seat=0, sha256="")
    counted = then(table, "count_in_started", game=2, round=3, attempt=4)
    assert (counted.phase, counted.game_number, counted.round, counted.attempt) == ("counting_in", 2, 3, 4)
    assert counted.seats[0] == PLAYER


def test_changed_options_bring_their_seats() -> None:
    terms = msgspec.to_builtins(now().terms)
    more = then(now(), "options_changed", seat=0, terms=terms | {"seats": 6})
    assert (more.terms.seats, more.seats) == (6, (*now().seats, FREE_SEAT, FREE_SEAT))
    fewer = then(more, "options_changed", seat=0, terms=terms | {"seats": 2})
    assert (fewer.terms.seats, fewer.seats) == (2, now().seats[:2])


def test_a_new_bag_of_flags_has_its_number() -> None:
    assert then(now(), "bag_opened", bag=2, commitment="").bag == 2


def test_a_player_who_comes_back_takes_the_seat_from_the_bot() -> None:
    away = then(then(now(), "player_went_offline", seat=0), "bot_took_over", seat=0)
    assert then(away, "player_came_back", seat=0).seats[0] == PLAYER


@pytest.mark.parametrize("by", ["bot", "player"])
def test_who_acts_is_back_when_the_table_says_so(by: str) -> None:
    table = then(now(), "bot_took_over", seat=0)
    assert then(table, "card_played", seat=0, by=by) == table


def test_a_game_that_ends_makes_room_for_the_next() -> None:
    ended = then(now(round=9, attempt=1), "game_ended", game=1, places=[1, 2, 1, 2])
    assert (ended.game_number, ended.round, ended.attempt) == (2, 0, 0)


def test_a_seat_that_is_freed_in_a_game_expects_a_player_until_the_game_is_over() -> None:
    started = then(now(), "game_started", game=1, rules_version=1)
    freed = then(started, "seat_freed", seat=0, reason="left", quit=False)
    assert (freed.started, freed.seats[0]) == (True, SeatView(expects="player"))
    over = then(freed, "game_ended", game=1, places=[], reason="ended_early")
    assert (over.started, over.seats[0]) == (False, SeatView(expects="anybody"))


def test_a_vote_is_asked_answered_and_over() -> None:
    asked = then(now(), "vote_asked", seat=0, vote=6, about="bot", about_seat=2, waits_for=[1, 3], seconds=20.0)
    assert asked.vote == VoteView(6, "bot", 2, asked_by=0, waits_for=(1, 3))
    answered = then(asked, "vote_answered", seat=3, vote=6, agree=True)
    assert answered.vote == VoteView(6, "bot", 2, asked_by=0, waits_for=(1,), agreed=(3,))
    assert then(answered, "vote_answered", seat=1, vote=6, agree=False) == answered
    over = then(answered, "vote_ended", vote=6, about="bot", about_seat=2, agreed=False, reason="refused")
    assert over == now()


def test_whoever_arrives_is_asked_and_whoever_leaves_is_not() -> None:
    asked = then(now(), "vote_asked", seat=0, vote=6, about="end_game", about_seat=None, waits_for=[1], seconds=20.0)
    arrived = then(asked, "seat_taken", seat=3, name="Bilal", avatar="kite")
    assert arrived.vote is not None
    assert arrived.vote.waits_for == (1, 3)
    left = then(then(arrived, "leave_asked", seat=1), "seat_freed", seat=3, reason="left", quit=False)
    assert left.vote is not None
    assert left.vote.waits_for == ()


@pytest.mark.parametrize(
    ("about", "agreed", "phase"),
    [("end_game", True, "waiting"), ("end_game", False, "counting_in"), ("bot", True, "counting_in")],
)
def test_a_game_that_is_ended_has_no_count_in(about: str, agreed: bool, phase: str) -> None:
    over = then(now(phase="counting_in"), "vote_ended", vote=6, about=about, about_seat=None, agreed=agreed, reason="")
    assert over.phase == phase


def test_two_seats_change_places_and_a_count_in_begins_again() -> None:
    table = then(now(phase="counting_in"), "seat_ready", seat=0)
    swapped = then(table, "seats_swapped", seats=[0, 2])
    assert (swapped.phase, swapped.seats[2], swapped.seats[0].kind) == ("waiting", PLAYER, "free")


def test_an_event_of_an_unknown_kind_changes_nothing() -> None:
    assert then(now(), "trumpets_sounded", seat=0) == now()
