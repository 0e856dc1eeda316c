"""Which seat's frame holds what: the command's id, what may be decided, what is secret; and what no frame holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from table_scripts import ANN, BOB, CYN, DAN, TABLE_ID, Script

from darbar_contracts import frames
from darbar_rules.games.king.game import KING_SHORT
from darbar_table.domain import events
from darbar_table.domain.seat_view import seat_frames, snapshot, table_view
from darbar_table.domain.state import Phase

VIEWERS = (0, 1, 2, 3, None)


def shown(script: Script, kind: type[events.Event], *, remaining_ms: int | None = None) -> dict[Any, dict[str, Any]]:
    """The frame of the newest event of a kind, as each seat and a spectator receive it."""
    before, event, after = next(step for step in reversed(script.log) if isinstance(step[1], kind))
    made = seat_frames(before, event, after, remaining_ms, last=after is script.table)
    return {seat: msgspec.json.decode(made.for_seat(seat)) for seat in VIEWERS}


def holders(seen: dict[Any, dict[str, Any]], field: str) -> list[int | None]:
    """Who receives a field."""
    return [seat for seat, frame in seen.items() if field in frame]


def test_the_id_of_a_command_is_in_the_frame_of_who_sent_it_and_in_no_other() -> None:
    script = Script().dealt()
    seat = script.turn.seats[0]
    script.plays(seat)
    assert holders(shown(script, events.Played), "id") == [seat]
    sat = Script().sit(BOB)
    assert holders(shown(sat, events.SeatTaken), "id") == [2]
    assert shown(sat, events.SeatTaken)[2]["id"] == sat.last(events.SeatTaken).id


def test_the_id_of_sending_a_bot_away_goes_to_who_did_it_not_to_the_bots_seat() -> None:
    script = Script().sit(BOB).starts_now(ANN)
    script.act(BOB, frames.SendBotAway(id="a-command-of-bob", seat=1))
    seen = shown(script, events.BotSentAway)
    assert (holders(seen, "id"), seen[2]["id"]) == ([2], "a-command-of-bob")
    assert seen[None]["public"] == {"seat": 1, "actor": 2}


def test_what_nobody_commanded_has_no_id_and_says_who_decided() -> None:
    script = Script().dealt().time_up()
    seen = shown(script, events.Played)
    assert holders(seen, "id") == []
    assert {frame["public"]["by"] for frame in seen.values()} == {"clock"}
    script.plays(script.turn.seats[0])
    assert "by" not in shown(script, events.Played)[None]["public"]


def test_only_a_player_on_turn_is_told_what_may_be_decided_and_only_by_the_last_event() -> None:
    script = Script().dealt()
    assert holders(shown(script, events.Played), "legal") == [script.turn.seats[0]]
    assert holders(shown(script, events.RoundStarted), "legal") == []
    for _ in range(4):
        script.plays(script.turn.seats[0])
        assert holders(shown(script, events.Played), "legal") == list(script.turn.seats)
    script.play_round()
    assert holders(shown(script, events.SettleAsked), "legal") == []


def test_a_bot_on_turn_is_told_nothing() -> None:
    script = Script().starts_now(ANN).zero().wallet()
    while script.table.seats[script.turn.seats[0]].bot is None:
        script.plays(script.turn.seats[0])
    assert holders(shown(script, events.Played), "legal") == []


@pytest.mark.ruling("GEN-7")
def test_gen_7_each_seat_is_dealt_its_own_cards_and_a_spectator_none() -> None:
    script = Script(rules=KING_SHORT).dealt()
    before, event, after = next(step for step in script.log if isinstance(step[1], events.Played))
    made = seat_frames(before, event, after, None)
    seen = {seat: msgspec.json.decode(made.for_seat(seat)) for seat in VIEWERS}
    assert holders(seen, "secret") == [0, 1, 2, 3]
    hands = [frozenset(seen[seat]["secret"]["hand"]) for seat in range(4)]
    assert len(frozenset[Any]().union(*hands)) == sum(map(len, hands)) > 0


def test_a_frame_says_its_version_its_kind_and_what_is_left_of_the_time() -> None:
    script = Script().sit(BOB)
    seen = shown(script, events.SeatTaken, remaining_ms=1234)
    assert {(frame["version"], frame["kind"], frame["remaining_ms"]) for frame in seen.values()} == {
        (2, "seat_taken", 1234)
    }
    assert holders(shown(script, events.SeatTaken), "remaining_ms") == []


def test_a_snapshot_says_all_that_everybody_may_know_of_the_table() -> None:
    script = Script().sit(BOB).leaves(ANN).starts_now(BOB)
    bots = [seat.bot for seat in script.table.seats]
    bot = {"kind": "bot", "avatar": None, "away": False, "bot_plays": False, "ready": False, "committed": False}
    bot["expects"] = None
    assert msgspec.json.decode(snapshot(script.table, 2, 7000)) == {
        "type": "snapshot",
        "version": script.table.version,
        "seat": 2,
        "table": {
            "table_id": TABLE_ID,
            "terms": msgspec.to_builtins(script.table.terms),
            "phase": "counting_in",
            "host": 2,
            "game_number": 1,
            "round": 1,
            "attempt": 1,
            "bag": 1,
            "seats": [
                {**bot, "name": bots[0]},
                {**bot, "name": bots[1]},
                {**bot, "kind": "player", "name": "Bob", "avatar": "owl"},
                {**bot, "name": bots[3]},
            ],
            "started": False,
            "vote": None,
        },
        "remaining_ms": 7000,
    }
    waiting = table_view(Script().table)
    assert ([seat.kind for seat in waiting.seats], waiting.bag) == (["player", "free", "free", "free"], None)


@pytest.mark.ruling("TL-27")
def test_tl_27_a_free_seat_says_whether_a_bot_may_just_come() -> None:
    script = Script().sit(BOB).starts_now(ANN)
    script.act(ANN, frames.SendBotAway(id="x", seat=1))
    script.leaves(BOB)
    seats = [(seat.kind, seat.expects) for seat in table_view(script.table).seats]
    assert seats == [("player", None), ("free", "player"), ("free", "anybody"), ("bot", None)]


@pytest.mark.ruling("TL-44")
def test_tl_44_everybody_sees_who_has_answered_a_vote_and_how_long_it_runs_on() -> None:
    script = Script().dealt().asks(ANN, "end_game").agrees(CYN)
    for seat in VIEWERS:
        frame = msgspec.json.decode(snapshot(script.table, seat, 7000, 19_000))
        assert frame["vote_remaining_ms"] == 19_000
        assert frame["table"]["vote"] == {
            "number": script.last(events.VoteAsked).vote,
            "about": "end_game",
            "about_seat": None,
            "asked_by": 0,
            "waits_for": [2, 3],
            "agreed": [1],
        }
    asked, answered = shown(script, events.VoteAsked), shown(script, events.VoteAnswered)
    assert holders(asked, "id") == [0]
    assert holders(answered, "id") == [1]
    assert {seat: frame["public"]["waits_for"] for seat, frame in asked.items()} == {
        seat: [1, 2, 3] for seat in VIEWERS
    }


def test_a_snapshot_and_the_frame_before_it_say_the_same_of_what_may_be_decided() -> None:
    script = Script().dealt()
    while script.phase is Phase.PLAYING:
        (seat,) = script.turn.seats
        may = msgspec.json.decode(snapshot(script.table, seat, None))["legal"]
        assert may == shown(script, events.Played)[seat]["legal"]
        assert [word for words in may.values() for word in words]
        script.plays(seat)


def test_a_snapshot_is_what_a_seat_may_know_now() -> None:
    script = Script(rules=KING_SHORT).sit(BOB, CYN, DAN)
    script.act(BOB, frames.Ready(id="x"))
    script.act(CYN, frames.SeedCommit(id="y", sha256="0" * 64))
    seats = table_view(script.table).seats
    assert [seat.ready for seat in seats] == [False, True, False, False]
    assert [seat.committed for seat in seats] == [False, False, True, False]
    assert "game" not in msgspec.json.decode(snapshot(script.table, 0, None))
    script.zero()
    script.tell_seeds_are_late().wallet()
    assert script.phase is Phase.PLAYING
    taken = {seat: msgspec.json.decode(snapshot(script.table, seat, None)) for seat in VIEWERS}
    assert holders(taken, "legal") == list(script.turn.seats)
    assert [taken[seat]["seat"] for seat in VIEWERS] == list(VIEWERS)
    hands = [taken[seat]["game"]["hand"] for seat in VIEWERS]
    assert (hands[4], len({str(hand) for hand in hands})) == ([], 5)


def test_away_is_seen_by_everyone_for_each_way_to_be_away() -> None:
    script = Script().dealt().offline(ANN).leaves(BOB)
    assert [seat.away for seat in table_view(script.table).seats] == [True, False, True, False]


def test_the_seeds_of_a_running_round_are_in_no_frame_and_no_snapshot() -> None:
    script = Script().dealt().play_round()
    seeds = [event.server_seed for event in script.all(events.CountInStarted)]
    seeds += [event.seed for event in script.all(events.BagOpened)]
    shown_at = next(i for i, (_, event, _) in enumerate(script.log) if isinstance(event, events.SeedsShown))
    looked_at = 0
    for before, event, after in script.log[1:shown_at]:
        for seat in VIEWERS:
            frame = seat_frames(before, event, after, None).for_seat(seat) + snapshot(after, seat, None)
            assert not [seed for seed in seeds if seed.encode() in frame]
            looked_at += 1
    assert looked_at > 5 * 52
    assert len(seeds) == 2
