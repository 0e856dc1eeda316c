"""What a new owner makes of a stored log: the same table, and since when its clocks have been running (TL-43)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from engine_desk import Desk
from golden_log import SCRIPTS, rows_of
from table_scripts import ANN, BOB, CYN, DAN, SETTINGS, TABLE_ID, Script

from darbar_table.domain.state import Phase
from darbar_table.domain.timers import KeptSeatTimer, Timer, TurnTimer, VoteTimer
from darbar_table.engine.loading import replayed
from darbar_table.handlers.log_reader import fingerprint
from darbar_table.store.codec import Codecs
from darbar_table.store.store import OpenTable

FIRST = datetime(2026, 11, 29, 12, tzinfo=UTC)


def at(version: int) -> datetime:
    """Each event of a log here is stored a second after the one before."""
    return FIRST + timedelta(seconds=version)


def began(script: Script) -> dict[Timer, datetime]:
    """Since when the clocks of a table run that is loaded from this script's log."""
    rows = [row._replace(at=at(row.version)) for row in rows_of(script)]
    stored = OpenTable(UUID(TABLE_ID), script.table.rules.name, len(rows))
    loaded = replayed(stored, rows, Codecs(), SETTINGS)
    assert fingerprint(loaded.live.table) == fingerprint(script.table)
    assert loaded.live.chain == rows[-1].chain
    return loaded.began


@pytest.mark.ruling("TL-43")
def test_tl_43_a_kept_seat_has_been_kept_since_its_player_went_whatever_happened_after() -> None:
    script = Script().sit(BOB).offline(BOB)
    went = script.table.version
    script.sit(CYN).leaves(CYN)
    assert began(script) == {KeptSeatTimer(2): at(went)}


@pytest.mark.ruling("TL-43")
def test_tl_43_each_kept_seat_has_its_own_beginning_and_a_return_ends_it() -> None:
    script = Script().sit(BOB).offline(BOB).offline(ANN)
    assert began(script) == {KeptSeatTimer(2): at(3), KeptSeatTimer(1): at(4)}
    script.back(BOB).offline(BOB)
    assert began(script) == {KeptSeatTimer(1): at(4), KeptSeatTimer(2): at(6)}


@pytest.mark.ruling("TL-32")
def test_tl_32_a_seat_lost_in_a_round_has_been_kept_since_the_wait_began() -> None:
    script = Script().dealt().offline(DAN).play_round().wallet()
    assert script.phase is Phase.WAITING
    assert began(script) == {KeptSeatTimer(script.table.seats[3].since, in_game=True): at(script.table.version)}


@pytest.mark.ruling("TL-43")
def test_tl_43_a_turn_has_been_running_since_the_last_card_and_not_since_somebody_went() -> None:
    script = Script().dealt()
    script.plays(script.turn.seats[0])
    script.plays(script.turn.seats[0])
    played = script.table.version
    script.offline(DAN)
    assert began(script) == {TurnTimer(script.turn.round, script.turn.turn): at(played)}


@pytest.mark.ruling("TL-39")
@pytest.mark.ruling("TL-43")
def test_tl_43_a_vote_has_been_running_since_it_was_asked_through_cards_and_answers() -> None:
    script = Script().dealt().asks(ANN, "end_game")
    asked = script.table.version
    script.plays(script.turn.seats[0])
    played = script.table.version
    script.agrees(BOB).offline(DAN)
    turn = TurnTimer(script.turn.round, script.turn.turn)
    assert began(script) == {VoteTimer(asked): at(asked), turn: at(played)}


@pytest.mark.ruling("TL-39")
@pytest.mark.ruling("TL-43")
def test_tl_43_a_vote_runs_on_through_the_end_of_a_round() -> None:
    script = Script().dealt().asks(ANN, "end_game")
    asked = script.table.version
    while script.phase is not Phase.COUNTING_IN:
        script.step()
    assert began(script)[VoteTimer(asked)] == at(asked)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_loaded_table_knows_the_ids_that_its_owner_knew(name: str) -> None:
    script = SCRIPTS[name]()
    rows = rows_of(script)
    owners = Desk(Script()).live
    for before, event, after in script.log:
        owners.remember_id(event, before, after)
    loaded = replayed(OpenTable(UUID(TABLE_ID), script.table.rules.name, len(rows)), rows, Codecs(), SETTINGS)
    assert {account: (ids.seat, ids.remembered) for account, ids in loaded.live.ids.items()} == {
        account: (ids.seat, ids.remembered) for account, ids in owners.ids.items()
    }
