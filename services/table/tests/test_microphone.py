"""Who may record, and how often: pure (TL-46, TL-47)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from table_scripts import ANN, BOB, CYN, Script

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_table.domain import microphone
from darbar_table.domain.microphone import FREE, GRANTS_A_ROUND_MAX, Microphone
from darbar_table.domain.state import Phase, Table

NOW = datetime(2026, 11, 30, tzinfo=UTC)
HELD_SECONDS = 10.0


def dealt() -> Table:
    return Script().dealt().table


def asked(held: Microphone, table: Table, who: str, grant_id: str = "g1") -> Microphone:
    return microphone.granted(held, table, who, grant_id=grant_id, now=NOW, seconds=HELD_SECONDS)


@pytest.mark.ruling("TL-47")
def test_one_records_at_a_time_and_asking_again_changes_nothing_tl_47() -> None:
    table = dealt()
    held = asked(FREE, table, ANN.account_id)
    assert asked(held, table, ANN.account_id, "g2") is held
    with pytest.raises(Refused, match=Reason.MICROPHONE_TAKEN) as refusal:
        asked(held, table, BOB.account_id)
    assert refusal.value.details == {"seat": table.seat_of(ANN.account_id)}


@pytest.mark.ruling("TL-47")
def test_cancelling_and_silence_use_up_the_rounds_note_tl_47() -> None:
    table = dealt()
    held = asked(FREE, table, ANN.account_id)
    late = NOW + timedelta(seconds=HELD_SECONDS)
    assert microphone.ran_out(held, now=late - timedelta(milliseconds=1)) is held
    for after in (microphone.cancelled(held, ANN.account_id), microphone.ran_out(held, now=late)):
        assert after.grant is None
        with pytest.raises(Refused, match=Reason.NOTE_USED):
            asked(after, table, ANN.account_id)
        assert asked(after, table, BOB.account_id).grant is not None


@pytest.mark.ruling("TL-47")
def test_the_first_byte_holds_the_microphone_for_longer_and_the_last_frees_it_tl_47() -> None:
    table = dealt()
    held = microphone.began(asked(FREE, table, ANN.account_id), table, "g1", now=NOW, seconds=15)
    assert held.grant is not None
    assert held.grant.until == NOW + timedelta(seconds=15)
    sent = microphone.ended(held, table, "g1", now=NOW)
    assert sent.grant is None
    assert sent.sent is not None
    assert sent.sent.listeners == tuple(one for one in table.accounts if one is not None)
    assert microphone.ended(sent, table, "g1", now=NOW + timedelta(seconds=1)) is sent
    with pytest.raises(Refused, match=Reason.NOTE_USED):
        asked(sent, table, ANN.account_id)


def test_what_became_no_note_may_be_tried_again_a_few_times() -> None:
    table, held = dealt(), FREE
    for number in range(GRANTS_A_ROUND_MAX):
        held = asked(held, table, ANN.account_id, f"g{number}")
        if number:
            held = microphone.ended(held, table, f"g{number}", now=NOW)
        held = microphone.became_nothing(held, f"g{number}")
    with pytest.raises(Refused, match=Reason.NOTE_USED):
        asked(held, table, ANN.account_id, "one more")
    assert asked(held, table, BOB.account_id).grant is not None


@pytest.mark.parametrize("grant_id", ["g2", ""])
def test_another_grant_moves_nothing(grant_id: str) -> None:
    table = dealt()
    held = asked(FREE, table, ANN.account_id)
    with pytest.raises(Refused, match=Reason.MICROPHONE_NOT_HELD):
        microphone.began(held, table, grant_id, now=NOW, seconds=15)
    with pytest.raises(Refused, match=Reason.MICROPHONE_NOT_HELD):
        microphone.ended(held, table, grant_id, now=NOW)
    with pytest.raises(Refused, match=Reason.MICROPHONE_NOT_HELD):
        microphone.cancelled(held, BOB.account_id)
    assert microphone.became_nothing(held, grant_id) is held


@pytest.mark.ruling("TL-46")
def test_every_round_has_a_note_of_each_player_tl_46() -> None:
    script = Script().dealt()
    used = microphone.cancelled(asked(FREE, script.table, ANN.account_id), ANN.account_id)
    while script.table.round == 1 or script.phase is not Phase.PLAYING:
        script.step()
    held = asked(used, script.table, ANN.account_id)
    assert held.grant is not None
    assert [turn[2] for turn in held.granted] == [2]
    assert held.used == ()


@pytest.mark.ruling("TL-46")
def test_nobody_records_without_a_seat_or_before_two_people_play_tl_46() -> None:
    table = dealt()
    with pytest.raises(Refused, match=Reason.NOT_SEATED):
        asked(FREE, table, "somebody")
    alone = Script().starts_now(ANN).zero().wallet().table
    assert alone.started
    for early in (alone, Script().table):
        with pytest.raises(Refused, match=Reason.NOTES_NOT_HERE):
            asked(FREE, early, ANN.account_id)


def test_who_has_left_meanwhile_has_no_microphone() -> None:
    held = asked(FREE, dealt(), CYN.account_id)
    without_cyn = Script().table
    with pytest.raises(Refused, match=Reason.MICROPHONE_NOT_HELD):
        microphone.began(held, without_cyn, "g1", now=NOW, seconds=15)
