"""What a host may still change before the first count-in (TL-1)."""

from __future__ import annotations

from typing import Any

import pytest
from table_scripts import ANN, BOB, COURT_PIECE, CYN, DAN, EVE, Script

from darbar_contracts import frames, tables
from darbar_kit.errors import Refused
from darbar_rules.games import ALL
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain import events
from darbar_table.domain.milestones import milestone_of
from darbar_table.domain.seat_view import table_view, to_public
from darbar_table.domain.state import Phase


def opened(**options: Any) -> Script:
    return Script(rules=KINGS_AND_REBELS, **options)


def change(script: Script, **options: object) -> Script:
    script.act(ANN, frames.ChangeOptions(id=script.new_id(), options=options))
    return script


@pytest.mark.ruling("TL-1")
def test_tl_1_the_host_changes_seats_decks_and_the_minimum_bid_and_everybody_sees_it() -> None:
    script = change(opened().sit(BOB), seats=9, decks=2, minimum_bid=250)
    terms = script.table.terms
    assert (terms.seats, len(script.table.seats), script.table.people) == (9, 9, (0, 1))
    assert [terms.options[name] for name in ("seats", "decks", "minimum_bid")] == [9, 2, 250]
    assert script.table.options == KINGS_AND_REBELS.options_type(seats=9, decks=2, minimum_bid=250)
    before, changed, _ = script.log[-1]
    assert to_public(before, changed).public == {"seat": 0, "terms": terms}
    assert table_view(script.table).terms == terms


@pytest.mark.ruling("TL-1")
def test_tl_1_the_game_that_follows_is_played_with_what_was_changed_last() -> None:
    script = change(change(opened(), seats=6), seats=4, minimum_bid=100).sit(BOB, CYN, DAN).zero().wallet()
    assert script.phase is Phase.PLAYING
    assert len(script.table.state.setup.deck) == 52
    assert script.table.state.setup.minimum == 100


@pytest.mark.ruling("TL-1")
def test_tl_1_with_fewer_seats_a_table_can_be_full_and_is_counted_in() -> None:
    script = change(opened().sit(BOB, CYN, DAN), seats=4)
    assert script.phase is Phase.COUNTING_IN


@pytest.mark.ruling("TL-1")
def test_tl_1_a_seat_in_which_somebody_sits_stays() -> None:
    script = opened(seats=6).sit(BOB)
    script.act(CYN, frames.Sit(id=script.new_id(), seat=4))
    with pytest.raises(Refused, match="option_invalid") as raised:
        change(script, seats=4)
    assert raised.value.details == {"fields": {"seats": "must be at least 5: somebody sits there."}}
    assert change(script, seats=5).table.people == (0, 1, 4)


@pytest.mark.ruling("TL-1")
def test_tl_1_bots_in_seats_that_are_no_more_go_first() -> None:
    script = opened().sit(BOB).offline(BOB).starts_now(ANN)
    assert [seat.bot is not None for seat in script.table.seats] == [False, False, True, True, True]
    change(script, seats=4)
    assert script.kinds()[-2:] == ["bot_sent_away", "options_changed"]
    sent_away = script.last(events.BotSentAway)
    assert (sent_away.seat, sent_away.actor, sent_away.id) == (4, 0, None)
    assert (len(script.table.seats), script.table.full) == (4, True)


@pytest.mark.ruling("TL-1")
@pytest.mark.ruling("TL-26")
def test_tl_1_tl_26_a_vote_for_a_bot_in_a_seat_that_is_no_more_ends() -> None:
    script = opened(seats=6).sit(BOB)
    script.act(BOB, frames.AskVote(id=script.new_id(), about="bot", seat=5))
    assert change(script, seats=7).table.vote is not None
    assert change(script, seats=5).table.vote is None
    ended = script.last(events.VoteEnded)
    assert (ended.agreed, ended.reason) == (False, "overtaken")


@pytest.mark.ruling("TL-1")
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"seats": 3}, "options.seats"),
        ({"seats": 9}, "options.seats"),
        ({"seats": "6"}, "options"),
        ({"minimum_bid": 151}, "options.minimum_bid"),
        ({"rounds": 3}, "options.rounds"),
        ({"jokers": True}, "options.jokers"),
    ],
)
def test_tl_1_what_is_not_offered_or_can_t_be_changed_is_refused(options: dict[str, Any], field: str) -> None:
    script = opened()
    before = script.table
    with pytest.raises(Refused, match="option_invalid") as raised:
        change(script, **options)
    fields = raised.value.details["fields"]
    assert isinstance(fields, dict)
    assert list(fields) == [field]
    assert script.table == before


@pytest.mark.ruling("TL-1")
def test_tl_1_only_the_host_changes_options() -> None:
    script = opened().sit(BOB)
    with pytest.raises(Refused, match="not_host"):
        script.act(BOB, frames.ChangeOptions(id=script.new_id(), options={"seats": 4}))
    with pytest.raises(Refused, match="not_seated"):
        script.act(EVE, frames.ChangeOptions(id=script.new_id(), options={"seats": 4}))


@pytest.mark.ruling("TL-1")
def test_tl_1_after_the_first_count_in_has_begun_nothing_can_be_changed_any_more() -> None:
    script = opened(seats=4).sit(BOB, CYN, DAN)
    for leaver in (DAN, CYN):
        with pytest.raises(Refused, match="not_now"):
            change(script, seats=5)
        script.leaves(leaver)
    assert script.table.people == (0, 1)


@pytest.mark.ruling("TL-1")
def test_tl_1_what_is_so_already_is_done_without_an_event() -> None:
    script = opened()
    version = script.table.version
    assert change(change(script, seats=5), decks=1).table.version == version
    assert change(script).table.version == version


@pytest.mark.ruling("TL-1")
def test_tl_1_a_game_without_options_that_can_be_changed_refuses_all_of_them() -> None:
    assert [game for game in ALL if any(option.changeable for option in game.options)] == [KINGS_AND_REBELS]
    script = Script(rules=COURT_PIECE)
    for option in COURT_PIECE.options:
        with pytest.raises(Refused, match="option_invalid"):
            change(script, **{option.name: option.values[1]})


@pytest.mark.ruling("TL-1")
@pytest.mark.ruling("TL-16")
def test_tl_16_changing_options_is_an_own_action() -> None:
    script = opened().sit(BOB).offline(ANN)
    assert not change(script, seats=6).table.seats[0].away


@pytest.mark.ruling("TL-1")
def test_tl_1_other_services_are_told_the_new_terms_and_how_many_seats_are_free() -> None:
    script = change(opened().sit(BOB), seats=7)
    _, event, after = script.log[-1]
    told = milestone_of(event, after, at=script.now, generation=1)
    assert told is not None
    assert (told.event, told.free_seats) == (tables.TermsChanged(script.table.terms), 5)
