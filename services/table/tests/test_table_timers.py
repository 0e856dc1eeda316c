"""TableTimers of tables through outages of ours (TL-43): nobody pays for them with a turn or a seat."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from golden_log import AT, rows_of
from table_scripts import ANN, BOB, CYN, SETTINGS, TABLE_ID, Script
from vote_scripts import waiting

from darbar_table.domain import events, timers
from darbar_table.domain.commands import Command, Disconnected, OperatorAct, TimerRang
from darbar_table.domain.life import seats
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import KeptSeatTimer, Timer, TurnTimer, VoteTimer
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.loading import replayed
from darbar_table.engine.table_timers import TURN_SECONDS_MIN, UNHEARD_SECONDS, TableTimers
from darbar_table.engine.timer_wheel import TICK_SECONDS
from darbar_table.shards.outages import served_seconds
from darbar_table.shards.placement import shard_of
from darbar_table.store.codec import Codecs, EventCodec
from darbar_table.store.registry import Outage
from darbar_table.store.store import OpenTable

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TURN_SECONDS = 10


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


class Desk:
    """TableTimers over a time that the test moves, and what has rung."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.rung: list[tuple[float, Command]] = []
        self.timers = TableTimers(SETTINGS, lambda: self.time, submit=self._submit, guard=self._guard)

    def live(self, script: Script) -> LiveTable:
        table_id = UUID(TABLE_ID)
        codec = EventCodec(script.table.rules)
        return LiveTable(table_id, shard=shard_of(table_id), codec=codec, table=script.table, chain=bytes(32))

    def turn_to(self, time: float) -> None:
        while self.time < time:
            self.time = min(self.time + TICK_SECONDS, time)
            self.timers.turn()

    def _submit(self, live: LiveTable, command: Command) -> None:
        self.rung.append((self.time, command))

    @contextlib.contextmanager
    def _guard(self, live: LiveTable) -> Iterator[None]:
        yield


def playing() -> Script:
    script = Script().dealt()
    assert script.table.phase is Phase.PLAYING
    return script


def with_absent(script: Script, *absent: str) -> Script:
    for account_id in absent:
        script.tell(Disconnected(account_id=account_id))
    return script


def the_turn(script: Script) -> TurnTimer:
    [timer] = timers.due(script.table, SETTINGS)
    assert isinstance(timer, TurnTimer)
    return timer


@pytest.mark.ruling("TL-15")
def test_tl_15_a_turn_rings_after_the_tables_turn_time() -> None:
    desk, script = Desk(), playing()
    desk.timers.set(desk.live(script))
    desk.turn_to(1000 + TURN_SECONDS - 0.1)
    assert desk.rung == []
    desk.turn_to(1000 + TURN_SECONDS + 0.2)
    [(_, command)] = desk.rung
    assert command == TimerRang(the_turn(script))


@pytest.mark.ruling("TL-39")
def test_tl_39_a_vote_rings_after_its_time_beside_the_turns_clock() -> None:
    desk, script = Desk(), playing()
    live = desk.live(script)
    desk.timers.set(live)
    desk.time += 4
    live.table = script.asks(ANN, "end_game").table
    desk.timers.set(live)
    assert desk.timers.remaining_ms(live) == (TURN_SECONDS - 4) * 1000
    assert desk.timers.vote_remaining_ms(live) == SETTINGS.vote_seconds * 1000
    desk.turn_to(1004 + SETTINGS.vote_seconds + 0.1)
    assert [command for _, command in desk.rung][1:] == [TimerRang(VoteTimer(script.table.version))]
    live.table = script.silence().table
    desk.timers.set(live)
    assert desk.timers.vote_remaining_ms(live) is None


@pytest.mark.ruling("CP-16")
def test_cp_16_who_goes_on_with_the_time_that_was_left_changes_no_other_clock() -> None:
    desk, script = Desk(), playing().asks(ANN, "end_game")
    live, vote = desk.live(script), VoteTimer(script.table.version)
    desk.timers.set(live)
    desk.time += 2
    desk.timers.set(live, keeps_turn=True)
    turn = timers.TurnTimer(script.turn.round, script.turn.turn)
    assert live.timers == {turn: 1000 + TURN_SECONDS, vote: 1000 + SETTINGS.vote_seconds}


@pytest.mark.ruling("TL-5")
@pytest.mark.ruling("TL-38")
def test_tl_5_a_kept_seat_that_is_swapped_is_kept_for_the_time_that_was_left() -> None:
    desk, script = Desk(), with_absent(Script().sit(BOB, CYN), "bob")
    live = desk.live(script)
    desk.timers.set(live)
    desk.time += 30
    live.table = script.asks(ANN, "partner", 1).agrees(CYN).table
    desk.timers.set(live)
    assert live.timers == {KeptSeatTimer(2): 1000 + SETTINGS.keep_before_game_seconds}


@pytest.mark.ruling("TL-43")
def test_tl_43_an_outage_is_added_to_the_time_of_a_vote() -> None:
    desk, script = Desk(), Script().sit(BOB).asks(ANN, "bot", 1)
    live, vote = desk.live(script), VoteTimer(script.table.version)
    today = datetime.now(UTC)
    outage = [Outage(today - seconds(100), today - seconds(5))]
    desk.timers.set_loaded(live, {vote: today - seconds(110)}, outage)
    assert live.timers[vote] == pytest.approx(1000 + SETTINGS.vote_seconds - 15, abs=1)


def test_a_clock_of_both_states_runs_on_and_another_begins() -> None:
    desk, script = Desk(), with_absent(Script().sit(BOB), "bob")
    live = desk.live(script)
    desk.timers.set(live)
    desk.time += 30
    live.table = with_absent(script, "ann").table
    desk.timers.set(live)
    keep = SETTINGS.keep_before_game_seconds
    assert live.timers == {KeptSeatTimer(1): 1030 + keep, KeptSeatTimer(2): 1000 + keep}


@pytest.mark.ruling("TL-38")
def test_tl_38_a_kept_seat_rings_for_the_one_who_sat_there() -> None:
    desk, script = Desk(), with_absent(Script().sit(BOB), "bob")
    desk.timers.set(desk.live(script))
    desk.turn_to(1000 + SETTINGS.keep_before_game_seconds + 1)
    assert [command for _, command in desk.rung] == [TimerRang(KeptSeatTimer(2))]


@pytest.mark.ruling("TL-38")
@pytest.mark.ruling("TL-39")
def test_tl_38_a_seat_that_a_game_kept_is_kept_for_a_minute_once_the_game_was_ended_early() -> None:
    """The ten minutes are the game's: a table that plays nothing would be blocked for what is left of them."""
    desk, script = Desk(), waiting().asks(ANN, "end_game").agrees(CYN).offline(CYN)
    live, [seat] = desk.live(script), seats.away(script.table)
    desk.timers.set(live)
    [kept] = [timer for timer in live.timers if isinstance(timer, KeptSeatTimer)]
    assert live.timers[kept] == 1000 + SETTINGS.keep_in_game_seconds
    desk.time += 100
    live.table = script.agrees(BOB).table
    desk.timers.set(live)
    assert (live.table.started, live.table.phase) == (False, Phase.WAITING)
    [(timer, deadline)] = live.timers.items()
    assert deadline == 1100 + SETTINGS.keep_before_game_seconds
    # The other clock, rung late, frees nobody.
    assert not script.rings(kept).events
    script.rings(timer)
    assert (script.table.seats[seat].free, script.last(events.SeatFreed).quit) == (True, False)


@pytest.mark.ruling("TL-43")
def test_tl_43_after_a_silence_whoever_is_on_turn_has_time_to_act() -> None:
    desk, script = Desk(), playing()
    live = desk.live(script)
    desk.timers.set(live)
    desk.time += TURN_SECONDS - 0.5
    desk.timers.after_silence([live])
    assert live.timers == {the_turn(script): desk.time + TURN_SECONDS_MIN}
    assert desk.timers.remaining_ms(live) == TURN_SECONDS_MIN * 1000


@pytest.mark.ruling("TL-43")
def test_tl_43_a_turn_with_more_time_left_is_not_cut_short_by_a_silence() -> None:
    desk, script = Desk(), playing()
    live = desk.live(script)
    desk.timers.set(live)
    desk.timers.after_silence([live])
    assert live.timers == {the_turn(script): 1000 + TURN_SECONDS + UNHEARD_SECONDS}


@pytest.mark.ruling("TL-43")
def test_tl_43_a_kept_seat_is_kept_longer_by_what_went_before_a_silence() -> None:
    desk, script = Desk(), with_absent(Script().sit(BOB), "bob")
    live = desk.live(script)
    desk.timers.set(live)
    desk.timers.after_silence([live])
    assert live.timers == {KeptSeatTimer(2): 1000 + SETTINGS.keep_before_game_seconds + UNHEARD_SECONDS}


@pytest.mark.ruling("TL-43")
def test_tl_43_who_lost_the_connection_in_a_silence_counts_as_present_for_a_while() -> None:
    desk, script = Desk(), Script()
    live = desk.live(script)
    desk.timers.expect(live, ANN.account_id, seconds=5)
    desk.time += 4.9
    desk.timers.after_silence([live])
    desk.turn_to(desk.time + SETTINGS.present_after_load_seconds - 1)
    assert desk.rung == []
    desk.turn_to(desk.time + 2)
    assert [command for _, command in desk.rung] == [Disconnected(account_id="ann")]


@pytest.mark.ruling("TL-42")
def test_tl_42_who_comes_back_within_the_grace_was_never_gone() -> None:
    class Socket:
        account_id = "ann"
        seat: int | None = 0

        def send(self, frame: bytes) -> None: ...

        def close(self, code: str, message: str, *, path: str | None = None) -> None: ...

    desk, script = Desk(), Script()
    live = desk.live(script)
    desk.timers.expect(live, "ann", seconds=5)
    live.sockets.append(Socket())
    desk.turn_to(1010)
    assert desk.rung == []


@pytest.mark.ruling("TL-43")
def test_tl_43_the_time_left_of_a_kept_seat_goes_on_through_six_changes_of_owner() -> None:
    """Before each owner nobody could answer for five seconds; each serves for nine of the sixty."""
    script = with_absent(Script().sit(BOB), "bob")
    keep = KeptSeatTimer(2)
    for change in range(1, 7):
        today = datetime.now(UTC)
        ends = [today - seconds(14 * later) for later in range(change)]
        desk = Desk()
        live = desk.live(script)
        began: dict[Timer, datetime] = {keep: today - seconds(14 * change)}
        desk.timers.set_loaded(live, began, [Outage(end - seconds(5), end) for end in ends])
        assert live.timers[keep] - desk.time == pytest.approx(60 - 9 * change, abs=0.5)
        desk.turn_to(desk.time + 60 - 9 * change - 1)
        assert desk.rung == []
        desk.turn_to(desk.time + 2)
        assert [command for _, command in desk.rung] == [TimerRang(KeptSeatTimer(2))]


@pytest.mark.ruling("TL-43")
def test_tl_43_a_loaded_table_has_what_was_left_of_its_clocks() -> None:
    desk, script = Desk(), with_absent(Script().sit(BOB), "bob")
    live = desk.live(script)
    today = datetime.now(UTC)
    began: dict[Timer, datetime] = {KeptSeatTimer(2): today - seconds(50)}
    desk.timers.set_loaded(live, began, [Outage(today - seconds(30), today)])
    assert live.timers[KeptSeatTimer(2)] == pytest.approx(1000 + 60 - 20, abs=1)


@pytest.mark.ruling("TL-43")
def test_tl_43_a_loaded_turn_has_five_seconds_at_least() -> None:
    desk, script = Desk(), playing()
    live = desk.live(script)
    desk.timers.set_loaded(live, {the_turn(script): datetime.now(UTC) - seconds(100)}, [])
    assert live.timers == {the_turn(script): 1000 + TURN_SECONDS_MIN}


@pytest.mark.parametrize(
    ("outages", "served"),
    [
        ([], 100.0),
        ([(20, 30)], 90.0),
        ([(-50, 10)], 90.0),
        ([(90, 500)], 90.0),
        ([(10, 20), (40, 50)], 80.0),
        ([(-10, 500)], 0.0),
        ([(-50, -10)], 100.0),
    ],
)
def test_served_seconds_leave_out_what_overlaps(outages: list[tuple[int, int]], served: float) -> None:
    known = [Outage(NOW + seconds(began), NOW + seconds(ended)) for began, ended in outages]
    assert served_seconds(NOW, NOW + seconds(100), known) == served


@pytest.mark.ruling("TL-43")
@pytest.mark.parametrize("is_dealt", [False, True], ids=["a kept seat", "a turn"])
def test_tl_43_the_time_for_which_a_table_was_stopped_is_nobodys(is_dealt: bool) -> None:
    script = Script().dealt().time_up() if is_dealt else Script().offline(ANN)
    script.tell(OperatorAct(action="resume", operator="root", why="mended"))
    rows = [row._replace(at=AT + seconds(row.version)) for row in rows_of(script)]
    table = OpenTable(UUID(TABLE_ID), script.table.rules.name, len(rows))
    began = replayed(table, rows, Codecs(), SETTINGS).began
    assert began == dict.fromkeys(script.due(), rows[-1].at)
    assert began
