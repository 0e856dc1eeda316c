"""King's stake unit is the whole game: one stake, one settlement, and what leaving in between means."""

from __future__ import annotations

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, PEOPLE, Script

from darbar_contracts import frames
from darbar_rules.games.king.game import KING_SHORT
from darbar_table.domain import events
from darbar_table.domain.state import Phase


def first_round() -> Script:
    """Four people, the first deal of a short King."""
    return Script(rules=KING_SHORT).sit(BOB, CYN, DAN).zero().wallet()


def phase_of(script: Script) -> Phase:
    return script.table.phase


def last_settle(script: Script) -> events.SettleAsked:
    return next(event for _, event, _ in reversed(script.log) if isinstance(event, events.SettleAsked))


@pytest.mark.ruling("TL-21")
def test_tl_21_one_stake_and_one_settlement_a_game() -> None:
    script = first_round().play_game()
    kinds = script.kinds()
    assert kinds.count("stakes_asked") == kinds.count("settle_asked") == kinds.count("game_ended") == 1
    assert kinds.count("round_started") == kinds.count("seeds_shown") == 14
    settle = last_settle(script)
    assert settle.unit == "g1"
    assert sum(settle.shares) + settle.rounding_coins == 400


@pytest.mark.ruling("TL-37")
def test_tl_37_leaving_inside_a_staked_game_is_a_quit_and_the_newcomer_pays_nothing() -> None:
    script = first_round().play_round()
    assert phase_of(script) is Phase.COUNTING_IN
    script.act(DAN, frames.Leave(id="x"))
    freed = next(event for _, event, _ in reversed(script.log) if isinstance(event, events.SeatFreed))
    assert freed.quit is True
    assert script.table.staked
    script.act(EVE, frames.Sit(id="y"))
    script.zero()
    assert script.kinds().count("stakes_asked") == 1
    assert phase_of(script) is Phase.PLAYING


@pytest.mark.ruling("TL-24")
def test_tl_24_a_table_that_closes_inside_a_staked_game_forfeits_the_pot() -> None:
    script = first_round().play_round()
    for person in PEOPLE:
        script.act(person, frames.Leave(id=f"leave of {person.name}"))
    settle = last_settle(script)
    assert (settle.forfeit_coins, sum(settle.shares), settle.pays_again) == (100, 0, ())
    assert settle.bets_back == (1, 2, 3)
    assert phase_of(script) is Phase.SETTLING
    script.wallet()
    assert script.kinds()[-1] == "table_closed"


@pytest.mark.ruling("TL-10")
def test_tl_10_only_where_the_host_deals_is_there_a_deal() -> None:
    script = Script(rules=KING_SHORT).sit(BOB, CYN, DAN)
    with pytest.raises(Exception, match="not_now"):
        script.act(ANN, frames.Deal(id="x"))
