"""A host without company is let go to another table, at once and without a quit; with company nobody is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, Script

from darbar_contracts import frames
from darbar_table.domain import events
from darbar_table.domain.commands import LeaveAlone
from darbar_table.domain.state import Phase


@pytest.mark.ruling("TL-7")
def test_a_host_who_sits_alone_is_let_go_and_the_table_closes() -> None:
    script = Script()
    draft = script.tell(LeaveAlone(ANN.account_id))
    assert draft.events == [
        events.SeatFreed(seat=0, account_id=ANN.account_id, reason="left", quit=False),
        events.TableClosed(reason="empty"),
    ]
    assert script.table.phase is Phase.CLOSED


def start(script: Script) -> None:
    script.act(ANN, frames.StartNow(id=script.new_id()))


def bots_once(script: Script) -> None:
    start(script)
    script.act(ANN, frames.SendBotAway(id=script.new_id(), seat=1))


@pytest.mark.ruling("TL-7")
@pytest.mark.parametrize(
    "happened",
    [lambda script: script.sit(BOB), start, bots_once, lambda script: script.sit(BOB, CYN, DAN).zero()],
    ids=["company", "bots in a count-in", "bots and a free seat", "a round"],
)
def test_with_company_nobody_is_sent_away(happened: Callable[[Script], object]) -> None:
    script = Script()
    happened(script)
    before = script.table
    for account_id in (ANN.account_id, EVE.account_id):
        assert script.tell(LeaveAlone(account_id)).events == []
    assert script.table == before


def test_a_stranger_frees_nobodys_seat() -> None:
    script = Script()
    assert script.tell(LeaveAlone(EVE.account_id)).events == []
    assert script.table.seat_of(ANN.account_id) == 0
