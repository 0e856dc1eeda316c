"""Naming trump and convert cards, and whom they convert (KR-11 to KR-15b)."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.game import Refusal, RuleRefused, Turn
from darbar_rules.games.kings_and_rebels.events import Convert, ConvertsNamed, Fate, NameConverts, PlayCard
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions
from darbar_rules.games.kings_and_rebels.testing import Played, converts_of, last_tricks, naming, play, start
from darbar_rules.testing import sent

FOUR = KingsAndRebelsOptions(seats=4)
FIVE = KingsAndRebelsOptions()
TWO_DECKS = KingsAndRebelsOptions(seats=6, decks=2)
PUBLIC = KingsAndRebelsOptions(seats=4, convert_cards="public")


def refusal(table: Played, decision: Any, seat: int = 0) -> Refusal:
    with pytest.raises(RuleRefused) as refused:
        table.decide(seat, decision)
    return refused.value.code


def naming_of(converts: str, trump: str = "S") -> NameConverts:
    return NameConverts(trump, converts_of(converts))


@pytest.mark.ruling("KR-11")
def test_kr_11_trump_and_converts_are_one_command_and_only_the_trump_is_told() -> None:
    table = naming(FIVE).decide(0, naming_of("AH TC", "D"))
    event = table.events[-1]
    assert event == ConvertsNamed(0, "D", converts_of("AH TC"), turn=2, to_act=0)
    assert KINGS_AND_REBELS.turn(table.state) == Turn(1, 2, (0,))
    assert sent(KINGS_AND_REBELS, table.state, event).public == {"seat": 0, "trump": "D", "to_act": 0, "turn": 2}
    for seat in (1, 2, None):
        assert KINGS_AND_REBELS.view(table.state, seat).trump == "D"


@pytest.mark.ruling("KR-11")
def test_kr_11_one_thing_wrong_and_nothing_is_named() -> None:
    table = naming(FIVE)
    assert refusal(table, naming_of("AH 1C")) is Refusal.CARD_UNKNOWN
    assert refusal(table, naming_of("AH", "X")) is Refusal.SUIT_UNKNOWN
    assert refusal(table, naming_of("AH", "")) is Refusal.SUIT_UNKNOWN
    assert refusal(table, naming_of("AH"), seat=1) is Refusal.NOT_YOUR_TURN
    assert refusal(table, PlayCard("AH")) is Refusal.TRUMP_NOT_CHOSEN
    assert table.state.match.phase == "naming"
    assert refusal(table.decide(0, naming_of("AH")), naming_of("AH")) is Refusal.NOT_NOW


@pytest.mark.ruling("KR-12")
def test_kr_12_secret_only_the_leader_sees_the_list() -> None:
    table = naming(FOUR).decide(0, naming_of("AH TC"))
    assert KINGS_AND_REBELS.view(table.state, 0).converts == converts_of("AH TC")
    for seat in (1, 2, 3, None):
        assert KINGS_AND_REBELS.view(table.state, seat).converts == ()
    shown = sent(KINGS_AND_REBELS, table.state, table.events[-1])
    assert set(shown.secret) == {0}
    assert "converts" not in shown.public


@pytest.mark.ruling("KR-12")
def test_kr_12_public_everybody_sees_the_list() -> None:
    table = naming(PUBLIC).decide(0, naming_of("AH TC"))
    for seat in (0, 1, 2, 3, None):
        assert KINGS_AND_REBELS.view(table.state, seat).converts == converts_of("AH TC")
    shown = sent(KINGS_AND_REBELS, table.state, table.events[-1])
    assert shown.public["converts"] == [{"card": "AH", "ordinal": 1}, {"card": "TC", "ordinal": 1}]
    assert shown.secret == {}


@pytest.mark.ruling("KR-12")
def test_kr_12_in_both_ways_only_the_play_tells_who_is_a_rebel() -> None:
    for options in (FOUR, PUBLIC):
        table = start(options, "0: 2H AH 3H 4H", converts="AH")
        assert KINGS_AND_REBELS.view(table.state, 1).rebels == (0,)
        assert KINGS_AND_REBELS.view(table.then("0: 2H AH").state, None).rebels == (0, 1)


@pytest.mark.ruling("KR-13")
@pytest.mark.parametrize(
    ("options", "most"),
    [(FOUR, 2), (FIVE, 3), (TWO_DECKS, 4), (KingsAndRebelsOptions(seats=8, convert_cards_max=1), 1)],
)
def test_kr_13_one_convert_card_at_least_and_two_fewer_than_seats_at_most(
    options: KingsAndRebelsOptions, most: int
) -> None:
    table = naming(options)
    some = tuple(Convert(rank + "H") for rank in "AKQJT98")
    assert refusal(table, NameConverts("S", ())) is Refusal.CONVERT_COUNT_WRONG
    assert refusal(table, NameConverts("S", some[: most + 1])) is Refusal.CONVERT_COUNT_WRONG
    for count in range(1, most + 1):
        assert table.decide(0, NameConverts("S", some[:count])).state.deal.converts == some[:count]
    assert KINGS_AND_REBELS.view(table.state, 0).converts_max == most


@pytest.mark.ruling("KR-14")
def test_kr_14_one_deck_knows_only_first_plays() -> None:
    table = naming(FIVE)
    assert refusal(table, naming_of("AH:2")) is Refusal.CONVERT_UNKNOWN
    assert refusal(table, naming_of("AH:0")) is Refusal.CONVERT_UNKNOWN
    assert refusal(table, naming_of("2C")) is Refusal.CARD_UNKNOWN  # left out with five seats
    assert refusal(table, naming_of("AH#2")) is Refusal.CARD_UNKNOWN
    assert refusal(table, naming_of("AH AH")) is Refusal.CONVERT_NAMED_TWICE


@pytest.mark.ruling("KR-14")
def test_kr_14_two_decks_know_first_and_second_plays() -> None:
    table = naming(TWO_DECKS)
    both = table.decide(0, naming_of("AH:1 AH:2"))
    assert both.state.deal.converts == (Convert("AH", 1), Convert("AH", 2))
    assert refusal(table, naming_of("AH:2 AH:2")) is Refusal.CONVERT_NAMED_TWICE
    assert refusal(table, naming_of("AH:3")) is Refusal.CONVERT_UNKNOWN
    # Plays are counted, not copies.
    assert refusal(table, NameConverts("S", (Convert("AH#2"),))) is Refusal.CARD_UNKNOWN


@pytest.mark.ruling("KR-14")
@pytest.mark.parametrize("seats", [9, 11])
def test_kr_14_a_copy_that_is_left_alone_is_played_once(seats: int) -> None:
    table = naming(KingsAndRebelsOptions(seats=seats, decks=2))
    assert table.decide(0, naming_of("2H:1")).state.match.phase == "playing"
    assert refusal(table, naming_of("2H:2")) is Refusal.CONVERT_UNKNOWN
    assert refusal(table, naming_of("2D:1")) is Refusal.CARD_UNKNOWN


@pytest.mark.ruling("KR-14")
@pytest.mark.parametrize(
    "converts",
    ["AH", (None,), ("AH",), (Convert("AH", True),), (Convert("AH", 1.0),), None],  # type: ignore[arg-type]
)
def test_kr_14_what_is_no_convert_card_is_refused(converts: Any) -> None:
    assert refusal(naming(FIVE), NameConverts("S", converts)) is Refusal.CONVERT_UNKNOWN


@pytest.mark.ruling("KR-14")
def test_kr_14_the_names_offered_are_suits_numbers_and_plays() -> None:
    options = KingsAndRebelsOptions(seats=9, decks=2, convert_cards_max=3)
    names = KINGS_AND_REBELS.legal(naming(options).state, 0).name
    assert names[:7] == ("trump:C", "trump:D", "trump:H", "trump:S", "converts:1", "converts:2", "converts:3")
    assert names[7:9] == ("3C:1", "3C:2")
    assert "2H:1" in names
    assert "2H:2" not in names
    assert len(names) == 7 + 99
    namings = KINGS_AND_REBELS.choices(KINGS_AND_REBELS.legal(naming(options).state, 0))
    lists = [named.converts for named in namings if isinstance(named, NameConverts)]
    assert len(lists) == len(namings)
    assert {len(converts) for converts in lists} == {1, 2, 3}
    assert any({Convert(card, 1), Convert(card, 2)} <= set(converts) for converts in lists for card in ("3C", "2S"))


@pytest.mark.ruling("KR-15")
def test_kr_15_a_king_who_plays_a_convert_card_is_a_rebel_from_then_on() -> None:
    table = play(FOUR, "0: 2H AH", converts="AH KD", holding={2: "3H KD", 3: "4H"})
    assert table.converted == [(1, "AH", 1)]
    assert KINGS_AND_REBELS.turn(table.state).seats == (2,)
    assert table.state.deal.rebels == (0, 1)
    shown = sent(KINGS_AND_REBELS, table.state, table.events[-1])
    assert shown.public["converted"] == {"card": "AH", "ordinal": 1}
    assert shown.secret == {}


@pytest.mark.ruling("KR-15")
@pytest.mark.parametrize("public", [False, True])
def test_kr_15_a_rebel_who_plays_another_one_spends_it(public: bool) -> None:
    table = play(PUBLIC if public else FOUR, "0: 2H AH 3H 4H", "1: KD", converts="AH KD", holding={2: "3D"})
    assert table.converted == [(1, "AH", 1)]
    assert table.spent == [(1, "KD", 1)]
    assert table.state.deal.rebels == (0, 1)
    shown = sent(KINGS_AND_REBELS, table.state, table.events[-1])
    spent = {"spent": {"card": "KD", "ordinal": 1}}
    assert ("spent" in shown.public) == public
    assert shown.secret == ({} if public else {0: spent})
    fates = KINGS_AND_REBELS.view(table.state, 2).fates
    assert fates == (Fate("AH", 1, 1, True), Fate("KD", 1, 1, False))[: 1 + public]
    assert len(KINGS_AND_REBELS.view(table.state, 0).fates) == 2


@pytest.mark.ruling("KR-15")
def test_kr_15_a_leader_who_plays_his_own_spends_it() -> None:
    table = play(TWO_DECKS, "0: AH", converts="AH:1", holding={4: "AH#2", 1: "2H"})
    assert table.spent == [(0, "AH", 1)]
    assert table.converted == []
    assert sent(KINGS_AND_REBELS, table.state, table.events[-1]).secret == {0: {"spent": {"card": "AH", "ordinal": 1}}}
    # The other copy converts nobody.
    table = start(TWO_DECKS, "0: AH 2H 3H 4H AH#2 5H", converts="AH:1").then("0: AH 2H 3H 4H AH#2 5H")
    assert table.converted == []


@pytest.mark.ruling("KR-15")
def test_kr_15_the_leaders_play_counts_before_a_kings_second_one() -> None:
    table = play(TWO_DECKS, "0: AH 2H 3H 4H AH#2 5H", converts="AH:2")
    assert table.converted == [(4, "AH", 2)]
    assert table.spent == []


@pytest.mark.ruling("KR-15")
@pytest.mark.parametrize(("ordinal", "seat"), [(1, 2), (2, 5)])
def test_kr_15_both_copies_in_one_trick_count_in_the_order_of_play(ordinal: int, seat: int) -> None:
    # The first one played is the second deck's: copies do not matter, plays do.
    table = play(TWO_DECKS, "0: KH 2H AH#2 4H 5H AH", converts=f"AH:{ordinal}")
    assert table.converted == [(seat, "AH", ordinal)]
    both = play(TWO_DECKS, "0: KH 2H AH#2 4H 5H AH", converts="AH:1 AH:2")
    assert both.converted == [(2, "AH", 1), (5, "AH", 2)]


@pytest.mark.ruling("KR-15")
def test_kr_15_one_player_can_spend_the_second_of_both_copies() -> None:
    table = play(TWO_DECKS, "0: 2H AH 3H 4H 5H 6H", "1: AH#2", converts="AH:1 AH:2", holding={2: "7H"})
    assert table.converted == [(1, "AH", 1)]
    assert table.spent == [(1, "AH", 2)]


@pytest.mark.ruling("KR-15")
def test_kr_15_spent_cards_are_told_with_the_result() -> None:
    table = last_tricks(FOUR, "0: AH 2H KH 3H", converts="AH KH", bid=150)
    assert table.spent == [(0, "AH", 1)]
    assert table.ended.converts == (Fate("AH", 1, 0, False), Fate("KH", 1, 2, True))
    told = sent(KINGS_AND_REBELS, table.state, table.ended).public["converts"]
    assert told == [
        {"card": "AH", "ordinal": 1, "seat": 0, "joined": False},
        {"card": "KH", "ordinal": 1, "seat": 2, "joined": True},
    ]
    assert KINGS_AND_REBELS.view(table.state, 3).converts == converts_of("AH KH")


@pytest.mark.ruling("KR-15b")
@pytest.mark.parametrize(("captured", "success"), [((140, 70, 0, 0), True), ((130, 80, 0, 0), False)])
def test_kr_15b_a_leader_alone_plays_against_all_and_still_needs_the_bid(
    captured: tuple[int, ...], success: bool
) -> None:
    table = last_tricks(FOUR, "0: AH 2H TH 3H", converts="AH", bid=160, captured=captured)
    ended = table.ended
    assert ended.rebels == (0,)
    assert ended.success is success
    assert ended.winners == ((0,) if success else (1, 2, 3))
    assert ended.points == ((160, 0, 0, 0) if success else (0, 160, 160, 160))
