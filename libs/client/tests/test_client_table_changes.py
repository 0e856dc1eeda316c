"""What events do to the table around the cards."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from client_doubles import table_view

from darbar_client.table_changes import after_event
from darbar_contracts.frames import EventFrame, SeatView, TableView

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
        ("seat_freed", {"seat": 0, "reason": "left", "quit": False}, SeatView()),
        ("bot_sent_away", {"seat": 0, "actor": 1}, SeatView()),
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


def test_a_new_bag_of_flags_has_its_number() -> None:
    assert then(now(), "bag_opened", bag=2, commitment="").bag == 2


def test_a_player_who_comes_back_takes_the_seat_from_the_bot() -> None:
    away = then(then(now(), "player_went_offline", seat=0), "bot_took_over", seat=0)
    assert then(away, "player_came_back", seat=0).seats[0] == PLAYER


def test_a_player_who_acts_takes_the_seat_from_the_bot() -> None:
    table = then(now(), "bot_took_over", seat=0)
    assert then(table, "card_played", seat=0, by="bot").seats[0].bot_plays
    assert not then(table, "card_played", seat=0, by="player").seats[0].bot_plays


def test_a_game_that_ends_makes_room_for_the_next() -> None:
    ended = then(now(round=9, attempt=1), "game_ended", game=1, places=[1, 2, 1, 2])
    assert (ended.game_number, ended.round, ended.attempt) == (2, 0, 0)


def test_an_event_of_an_unknown_kind_changes_nothing() -> None:
    assert then(now(), "trumpets_sounded", seat=0) == now()
