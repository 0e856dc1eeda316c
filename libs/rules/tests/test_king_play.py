"""Turns, following suit and the duties of each contract (K20-2, K20-9 to K20-14, K32-1 to K32-8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from darbar_rules.cards import texts_of
from darbar_rules.game import AnyGame, Legal, Refusal, RuleRefused, Turn
from darbar_rules.games.king.contracts import DECK_32
from darbar_rules.games.king.events import CardPlayed, Declare, PlayCard
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingShortOptions
from darbar_rules.games.king.testing import NO_CHANCE, Played, last_tricks, play, start
from darbar_rules.testing import at_least, chance_of, evolved, random_game

K20 = King20Options()
SHORT = KingShortOptions()
LONG = KingLongOptions()
FREE = KingShortOptions(positive_restrictions=False)
N, E, S, W = 0, 1, 2, 3
NEGATIVES = ("no_tricks", "no_hearts", "no_boys", "no_girls", "no_king_of_hearts", "no_last_two")
ALL_32 = KING_SHORT.new(SHORT, 4).form.names
HEARTS_BANNED_32 = ("no_hearts", "no_king_of_hearts", "nothing")
POSITIVE_BANNED_32 = ("take_hearts", "take_king_of_hearts", "take_everything")
GAMES = pytest.mark.parametrize(("game", "options"), [(KING_20, K20), (KING_SHORT, SHORT), (KING_LONG, LONG)])


def refusal(table: Played, seat: int, decision: Any) -> Refusal:
    with pytest.raises(RuleRefused) as refused:
        table.game.decide(table.state, seat, decision, NO_CHANCE)
    return refused.value.code


def legal_after(options: Any, contract: str, trick: str, hand: str) -> tuple[str, ...]:
    """What the next seat may play to this trick with this hand; "" before the first card of it: seat 0 leads."""
    seat = (int(trick[0]) + len(trick.split()) - 1) % 4
    return play(options, contract, trick, holding={seat: hand}).legal


def within_tricks(game: AnyGame, options: Any, *, rounds_max: int) -> Iterator[CardPlayed]:
    """Cards that are not the last ones of their tricks."""
    for step in random_game(game, options, 2, rounds_max=rounds_max):
        yield from (event for event in step.events if isinstance(event, CardPlayed) and event.trick is None)


@pytest.mark.ruling("K20-2")
def test_k20_2_play_goes_anticlockwise_to_the_next_seat_in_all_twenty_hands() -> None:
    assert KING_20.direction == "anticlockwise"
    assert KING_20.seat_counts(K20) == (4,)
    assert KING_20.partners(K20, 4) == ()
    for event in at_least(500, within_tricks(KING_20, K20, rounds_max=20)):
        assert event.to_act == (event.seat + 1) % 4


@pytest.mark.ruling("K32-1")
@pytest.mark.parametrize(("game", "options"), [(KING_SHORT, SHORT), (KING_LONG, LONG)])
def test_k32_1_eight_cards_each_and_no_trump_in_any_deal(game: AnyGame, options: Any) -> None:
    assert game.seat_counts(options) == (4,)
    steps = list(random_game(game, options, 1))
    for step in at_least(14, (step for step in steps if step.seat is None)):
        hands = step.events[0].hands
        assert [len(hand) for hand in hands] == [8, 8, 8, 8]
        assert sorted(card for hand in hands for card in hand) == sorted(texts_of(DECK_32))
    assert {game.view(step.after, None).trump for step in steps} == {None}


@pytest.mark.ruling("K32-1")
@pytest.mark.parametrize("contract", ALL_32)
def test_k32_1_follow_suit_if_able(contract: str) -> None:
    assert legal_after(SHORT, contract, "0: TD", "7D AD 9S AC") == ("7D", "AD")
    table = play(SHORT, contract, "0: TD", holding={E: "7D 9S"})
    assert refusal(table, E, PlayCard("9S")) is Refusal.MUST_FOLLOW_SUIT


@pytest.mark.ruling("K32-2")
@pytest.mark.parametrize(("game", "options"), [(KING_SHORT, SHORT), (KING_LONG, LONG)])
def test_k32_2_play_goes_clockwise(game: AnyGame, options: Any) -> None:
    assert game.direction == "clockwise"
    for event in at_least(3 * 12, within_tricks(game, options, rounds_max=3)):
        assert event.to_act == (event.seat + 1) % 4


@pytest.mark.ruling("K20-9")
@pytest.mark.parametrize("contract", ["trump:H", *NEGATIVES])
def test_k20_9_the_declarer_leads_and_then_the_winner_of_each_trick(contract: str) -> None:
    name, _, suit = contract.partition(":")
    state = KING_20.new(K20, 4)
    state = evolved(KING_20, state, KING_20.deal(state, chance_of(5, round=1)))
    declarer = state.match.first
    (event,) = KING_20.decide(state, declarer, Declare(name, suit or None), NO_CHANCE)
    assert event.to_act == declarer
    table = play(K20, contract, "2: 3C AC 4C 5C", "3: 2D 9D", holding={W: "2H", N: "9S"})
    assert table.winners == [W]


@pytest.mark.ruling("K20-9")
@pytest.mark.parametrize("seed", range(3))
def test_k20_9_in_random_games_leaders_are_declarers_and_winners(seed: int) -> None:
    steps = random_game(KING_20, K20, seed)
    for step in at_least(20, (step for step in steps if KING_20.turn(step.after).seats == ())):
        tricks = step.after.middle.tricks
        assert [trick.leader for trick in tricks] == [step.after.match.first, *(t.winner for t in tricks[:-1])]


@pytest.mark.ruling("K20-10")
@pytest.mark.parametrize(
    ("trick", "hand", "legal"),
    [
        ("0: 5C", "2C KC AS", ("2C", "KC")),  # follows, and need not beat
        ("0: 5C", "2S KS AH", ("2S", "KS")),  # void: must trump
        ("0: 5C", "2D KD AH", ("2D", "KD", "AH")),  # void, no trump either
        ("0: 5C 9S", "2S KS AH", ("2S", "KS")),  # need not overtrump
        ("0: 5S", "2S KS AH", ("2S", "KS")),  # a trump was led
        ("0: 5S", "2D AH", ("2D", "AH")),
        ("0:", "2S KS AH", ("AH", "2S", "KS")),  # a trump may be led at any time
    ],
)
def test_k20_10_in_a_trump_contract(trick: str, hand: str, legal: tuple[str, ...]) -> None:
    assert legal_after(K20, "trump:S", trick, hand) == legal


@pytest.mark.ruling("K20-10")
@pytest.mark.parametrize(
    ("trick", "hand", "legal"),
    [
        ("0: 5C 9S", "2S TS KS AH", ("TS", "KS")),
        ("0: 5C 9S", "2S 8S AH", ("2S", "8S")),  # no higher one: any trump
        ("0: 5C 6C", "2S TS AH", ("2S", "TS")),  # nobody has trumped yet
        ("0: 5S 9S", "2S TS AH", ("2S", "TS")),  # following a trump lead is free
        ("0: 5C 9S", "2D AH", ("2D", "AH")),
        ("0: 5C 9S", "2C TS", ("2C",)),  # following suit comes first
    ],
)
def test_k20_10_with_the_option_a_void_seat_goes_over_the_highest_trump(
    trick: str, hand: str, legal: tuple[str, ...]
) -> None:
    assert legal_after(King20Options(must_overtrump=True), "trump:S", trick, hand) == legal


@pytest.mark.ruling("K20-10")
@pytest.mark.parametrize(
    ("trick", "winner"),
    [("0: AC KC QC 2S", W), ("0: AC 3S 2S KC", E), ("0: 2S AC KS 3S", S), ("0: 2C 3D AD 4C", W), ("1: 2C AH AD 3H", E)],
)
def test_k20_10_the_highest_trump_wins_else_the_highest_card_of_the_suit_led(trick: str, winner: int) -> None:
    assert play(K20, "trump:S", trick).winners == [winner]


@pytest.mark.ruling("K20-11")
@pytest.mark.parametrize(
    ("contract", "hand", "legal"),
    [
        ("no_boys", "KS JD 4H", ("JD", "KS")),
        ("no_boys", "QS TD 4H", ("TD", "4H", "QS")),
        ("no_girls", "QS QH 4H", ("QH", "QS")),
        ("no_girls", "KS AH 4D", ("4D", "AH", "KS")),
        ("no_hearts", "2H AH KS", ("2H", "AH")),
        ("no_hearts", "2D KS", ("2D", "KS")),
        ("no_king_of_hearts", "KH AH 2S", ("KH",)),
        ("no_king_of_hearts", "QH AH 2S", ("QH", "AH", "2S")),
        ("no_tricks", "KH QH JS", ("QH", "KH", "JS")),
        ("no_last_two", "KH QH JS", ("QH", "KH", "JS")),
    ],
)
def test_k20_11_who_cannot_follow_throws_a_penalty_card_if_there_is_one(
    contract: str, hand: str, legal: tuple[str, ...]
) -> None:
    assert legal_after(K20, contract, "0: 5C", hand) == legal


@pytest.mark.ruling("K20-11")
@pytest.mark.parametrize(
    ("contract", "hand", "legal"),
    [
        ("no_king_of_hearts", "QH AH 2S", ("QH", "AH")),
        ("no_king_of_hearts", "KH AH 2S", ("KH", "AH")),  # any heart will do
        ("no_king_of_hearts", "QD 2S", ("QD", "2S")),
        ("no_girls", "QS AH 4D", ("QS",)),  # no other contract changes
    ],
)
def test_k20_11_with_the_option_any_heart_is_thrown_in_king_of_hearts(
    contract: str, hand: str, legal: tuple[str, ...]
) -> None:
    assert legal_after(King20Options(heart_forced_in_king_of_hearts=True), contract, "0: 5C", hand) == legal


@pytest.mark.ruling("K20-12")
def test_k20_12_a_follower_need_not_slip_a_penalty_card_under_a_higher_one() -> None:
    assert legal_after(K20, "no_girls", "0: AS", "QS 3S") == ("3S", "QS")
    assert legal_after(K20, "no_boys", "0: AS", "KS JS 3S") == ("3S", "JS", "KS")


@pytest.mark.ruling("K20-12")
@pytest.mark.parametrize(
    ("contract", "trick", "hand", "legal"),
    [
        ("no_girls", "0: AS", "QS 3S", ("QS",)),
        ("no_girls", "0: JS", "QS 3S", ("3S", "QS")),  # not below the best card
        ("no_girls", "0: JS KS", "QS 3S", ("QS",)),  # below the highest so far
        ("no_girls", "0: JS KD", "QS 3S", ("3S", "QS")),  # a card of another suit is not the highest
        ("no_boys", "0: AS", "KS JS 3S", ("JS", "KS")),
        ("no_boys", "0: QS", "KS JS 3S", ("JS",)),
        ("no_boys", "0: TS", "KS JS 3S", ("3S", "JS", "KS")),
        ("no_hearts", "0: AH", "KH 3H", ("3H", "KH")),  # only in Boys and Girls
        ("no_king_of_hearts", "0: AH", "KH 3H", ("3H", "KH")),
    ],
)
def test_k20_12_with_the_option_penalty_cards_are_slipped_under(
    contract: str, trick: str, hand: str, legal: tuple[str, ...]
) -> None:
    assert legal_after(King20Options(must_underplay=True), contract, trick, hand) == legal


@pytest.mark.ruling("K20-13")
@pytest.mark.parametrize("contract", ["no_hearts", "no_king_of_hearts"])
def test_k20_13_hearts_may_not_be_led_until_one_was_discarded(contract: str) -> None:
    two = ("0: 2C 3C 4C 5C", "3: 2D 3D 4D 6D")
    table = play(K20, contract, *two, holding={S: "2H 7C"})
    assert table.legal == ("7C",)
    assert table.game.view(table.state, N).hearts_banned
    assert refusal(table, S, PlayCard("2H")) is Refusal.MAY_NOT_LEAD_HEARTS
    third = play(K20, contract, *two, "2: 7D 5H AD 9D", holding={N: "AH 7C", S: "2S"})
    assert third.winners == [W, S, N]
    assert third.legal == ("7C", "AH")
    assert not third.game.view(third.state, N).hearts_banned


@pytest.mark.ruling("K20-13")
def test_k20_13_a_heart_that_follows_a_heart_lifts_nothing() -> None:
    table = play(K20, "no_hearts", "0: 3H AH 4H 5H", holding={E: "2H 3S"})
    assert table.legal == ("3S",)


@pytest.mark.ruling("K20-13")
@pytest.mark.parametrize("option", ["discard", "played", "never"])
def test_k20_13_a_hand_of_hearts_only_may_lead_one(option: Any) -> None:
    options = King20Options(hearts_broken_by=option)
    thirteen = " ".join(rank + "H" for rank in "23456789TJQKA")
    table = start(options, "no_hearts", "0: ", holding={N: thirteen})
    assert len(table.legal) == 13


@pytest.mark.ruling("K20-13")
@pytest.mark.parametrize(
    ("option", "led_out_of_need", "discarded"),
    [("discard", True, False), ("played", False, False), ("never", True, True)],
)
def test_k20_13_what_lifts_the_ban_is_an_option(option: Any, led_out_of_need: bool, discarded: bool) -> None:
    options = King20Options(hearts_broken_by=option)
    holding = {E: "2H 3S", N: "9S", S: "9S", W: "9S"}
    led = play(options, "no_hearts", "0: 3H AH 4H 5H", holding={E: "2H 3S", S: "9S", W: "9S"})
    assert led.winners == [E]
    assert led.game.view(led.state, None).hearts_banned is led_out_of_need
    assert led.legal == (("3S",) if led_out_of_need else ("2H", "3S"))
    thrown = play(options, "no_hearts", "0: 3C AC 4H 5C", holding=holding)
    assert thrown.game.view(thrown.state, None).hearts_banned is discarded
    assert thrown.legal == (("3S",) if discarded else ("2H", "3S"))


@pytest.mark.ruling("K20-13")
@pytest.mark.parametrize("contract", ["trump:S", "no_tricks", "no_boys", "no_girls", "no_last_two"])
def test_k20_13_in_the_other_contracts_hearts_are_led_freely(contract: str) -> None:
    table = start(K20, contract, "0: ", holding={N: "2H 3S"})
    assert table.legal == ("2H", "3S")
    assert not table.game.view(table.state, N).hearts_banned


@pytest.mark.ruling("K20-13")
def test_k20_13_the_next_hand_begins_with_the_ban() -> None:
    steps = list(random_game(KING_20, K20, 1))
    for step in at_least(20, (step for step in steps if step.seat is None)):
        assert not step.after.middle.hearts_broken
    assert any(step.after.middle.hearts_broken for step in steps)


@pytest.mark.ruling("K20-14")
@pytest.mark.parametrize(
    ("contract", "hand", "legal"),
    [("no_hearts", "2H KS", ("2H",)), ("no_girls", "QS 2H", ("QS",)), ("no_king_of_hearts", "KH 2S", ("KH",))],
)
def test_k20_14_penalty_cards_are_thrown_in_the_first_trick_as_in_any_other(
    contract: str, hand: str, legal: tuple[str, ...]
) -> None:
    first = legal_after(K20, contract, "0: 5C", hand)
    later = play(K20, contract, "0: 5C", holding={E: hand}, tricks_before=4)
    assert first == later.legal == legal


@pytest.mark.ruling("K20-14")
def test_k20_14_a_penalty_card_may_be_led_and_played_in_the_first_trick() -> None:
    assert play(K20, "no_girls", "0: QS KS 2S 3S").points == (0, -100, 0, 0)


@pytest.mark.ruling("K32-5")
@pytest.mark.parametrize("contract", HEARTS_BANNED_32)
def test_k32_5_hearts_are_led_by_a_hand_of_hearts_only_and_that_never_changes(contract: str) -> None:
    table = play(SHORT, contract, "0: 7C AC 8H 9C", holding={E: "7H TS", N: "7S", S: "8S", W: "9S"})
    assert table.legal == ("TS",)
    assert refusal(table, E, PlayCard("7H")) is Refusal.MAY_NOT_LEAD_HEARTS
    assert table.game.view(table.state, None).hearts_banned
    only = start(SHORT, contract, "0: ", holding={N: "7H AH"})
    assert only.legal == ("7H", "AH")


@pytest.mark.ruling("K32-5")
@pytest.mark.parametrize("contract", [name for name in ALL_32 if name not in HEARTS_BANNED_32 + POSITIVE_BANNED_32])
def test_k32_5_in_the_other_deals_hearts_are_led_freely(contract: str) -> None:
    assert start(SHORT, contract, "0: ", holding={N: "7H TS"}).legal == ("7H", "TS")


@pytest.mark.ruling("K32-6")
@pytest.mark.parametrize("contract", ["no_king_of_hearts", "nothing"])
@pytest.mark.parametrize(
    ("trick", "hand", "legal"),
    [
        ("0: 7H", "KH AH 9C", ("KH",)),
        ("0: AH", "KH 8H 9C", ("KH",)),
        ("0: 7C", "KH AD", ("KH",)),
        ("0: 7C", "QH AD", ("AD", "QH")),
        ("0: 7C", "KH 9C", ("9C",)),
        ("0:", "KH 7S", ("7S",)),
        ("0:", "KH 7H", ("KH",)),
    ],
)
def test_k32_6_the_king_of_hearts_is_played_as_soon_as_it_may_be(
    contract: str, trick: str, hand: str, legal: tuple[str, ...]
) -> None:
    assert legal_after(SHORT, contract, trick, hand) == legal


@pytest.mark.ruling("K32-6")
def test_k32_6_a_refused_card_says_that_the_king_is_due() -> None:
    led = play(SHORT, "nothing", "0: 7H", holding={E: "KH AH 9C"})
    assert refusal(led, E, PlayCard("AH")) is Refusal.MUST_PLAY_KING_OF_HEARTS
    assert refusal(led, E, PlayCard("9C")) is Refusal.MUST_FOLLOW_SUIT
    void = play(SHORT, "nothing", "0: 7C", holding={E: "KH AD"})
    assert refusal(void, E, PlayCard("AD")) is Refusal.MUST_PLAY_KING_OF_HEARTS
    leads = start(SHORT, "nothing", "0: ", holding={N: "KH 7H"})
    assert refusal(leads, N, PlayCard("7H")) is Refusal.MUST_PLAY_KING_OF_HEARTS


@pytest.mark.ruling("K32-6")
@pytest.mark.parametrize("contract", [name for name in ALL_32 if "king_of_hearts" not in name and "thing" not in name])
def test_k32_6_in_the_other_deals_the_king_of_hearts_is_a_card_like_any(contract: str) -> None:
    assert legal_after(SHORT, contract, "0: 7C", "KH AD") == ("AD", "KH")
    assert legal_after(SHORT, contract, "0: 7H", "KH AH 9C") == ("KH", "AH")


@pytest.mark.ruling("K32-6")
def test_k32_6_when_nobody_is_ever_void_hearts_first_come_in_trick_seven() -> None:
    tricks = (
        "0: 7C 8C 9C TC",
        "3: AC JC QC KC",
        "3: 7D 8D 9D TD",
        "2: AD JD QD KD",
        "2: 7S 8S 9S TS",
        "1: AS JS QS KS",
    )
    table = play(SHORT, "no_king_of_hearts", *tricks, holding={N: "7H 8H", E: "9H TH", S: "JH QH", W: "KH AH"})
    assert table.legal == ("9H", "TH")
    assert table.then("1: 9H JH").legal == ("KH",)


@pytest.mark.ruling("K32-7")
@pytest.mark.parametrize(
    ("contract", "hand"),
    [("no_hearts", "8H AS"), ("no_kings_or_jacks", "KD AS"), ("no_queens", "QD AS"), ("nothing", "QD AS")],
)
def test_k32_7_who_cannot_follow_throws_what_he_likes(contract: str, hand: str) -> None:
    assert set(legal_after(SHORT, contract, "0: 7C", hand)) == set(hand.split())


@pytest.mark.ruling("K32-8")
def test_k32_8_the_limits_bind_in_positive_deals_too() -> None:
    for contract in POSITIVE_BANNED_32:
        assert start(SHORT, contract, "0: ", holding={N: "7H TS"}).legal == ("TS",)
    for contract in ("take_king_of_hearts", "take_everything"):
        assert legal_after(SHORT, contract, "0: 7C", "KH AD") == ("KH",)
        assert legal_after(SHORT, contract, "0: AH", "KH 8H") == ("KH",)
    assert legal_after(SHORT, "take_hearts", "0: AH", "KH 8H") == ("8H", "KH")


@pytest.mark.ruling("K32-8")
@pytest.mark.parametrize("options", [FREE, KingLongOptions(positive_restrictions=False)], ids=["short", "long"])
def test_k32_8_with_the_option_off_they_bind_in_negative_deals_only(options: Any) -> None:
    for contract in POSITIVE_BANNED_32:
        assert start(options, contract, "0: ", holding={N: "7H TS"}).legal == ("7H", "TS")
        assert legal_after(options, contract, "0: 7C", "KH AD") == ("AD", "KH")
    for contract in HEARTS_BANNED_32:
        assert start(options, contract, "0: ", holding={N: "7H TS"}).legal == ("TS",)
    assert legal_after(options, "nothing", "0: 7C", "KH AD") == ("KH",)


@pytest.mark.ruling("GEN-1")
@pytest.mark.parametrize(
    ("seat", "decision", "code"),
    [
        (E, PlayCard("AH"), Refusal.MUST_FOLLOW_SUIT),
        (E, PlayCard("2C"), Refusal.CARD_NOT_HELD),
        (E, PlayCard("KH"), Refusal.CARD_NOT_HELD),
        (E, PlayCard("1C"), Refusal.CARD_UNKNOWN),
        (E, PlayCard("AH#2"), Refusal.CARD_UNKNOWN),
        (N, PlayCard("4D"), Refusal.NOT_YOUR_TURN),
        (7, PlayCard("4D"), Refusal.NOT_YOUR_TURN),
        (E, Declare("no_girls"), Refusal.NOT_NOW),
        (E, "AS", Refusal.DECISION_UNKNOWN),
        (E, None, Refusal.DECISION_UNKNOWN),
    ],
)
def test_gen_1_what_is_not_legal_in_king_changes_nothing_and_gets_a_reason(
    seat: int, decision: Any, code: Refusal
) -> None:
    table = play(K20, "no_girls", "0: KD", holding={N: "4D", E: "5D AH"})
    before = table.state
    assert refusal(table, seat, decision) is code
    assert table.state == before
    assert table.legal == ("5D",)


@pytest.mark.ruling("GEN-1")
@pytest.mark.parametrize(
    ("options", "contract", "hand", "card", "code"),
    [
        (K20, "trump:S", "2S AH", "AH", Refusal.MUST_PLAY_TRUMP),
        (King20Options(must_overtrump=True), "trump:S", "2S TS", "2S", Refusal.MUST_OVERTRUMP),
        (King20Options(must_overtrump=True), "trump:S", "AH TS", "AH", Refusal.MUST_PLAY_TRUMP),
        (K20, "no_girls", "QS AH", "AH", Refusal.MUST_PLAY_PENALTY_CARD),
        (K20, "no_king_of_hearts", "KH AH", "AH", Refusal.MUST_PLAY_KING_OF_HEARTS),
        (King20Options(must_underplay=True), "no_girls", "QC 3C", "3C", Refusal.MUST_UNDERPLAY),
    ],
)
def test_gen_1_a_refused_card_of_king_comes_with_the_reason_and_the_legal_cards(
    options: Any, contract: str, hand: str, card: str, code: Refusal
) -> None:
    second = "9S" if contract == "trump:S" else "2D"
    table = play(options, contract, f"0: KC {second}", holding={S: hand})
    with pytest.raises(RuleRefused) as refused:
        table.game.decide(table.state, S, PlayCard(card), NO_CHANCE)
    assert refused.value.code is code
    assert refused.value.details == {"legal": table.legal}


@pytest.mark.ruling("GEN-3")
@pytest.mark.parametrize(
    ("trick", "winner"), [("0: 9C AC TC 8C", E), ("3: 9C AD KC 7C", E), ("1: 7H AS AC AD", E), ("2: TD 9D JD QH", N)]
)
def test_gen_3_without_a_trump_the_highest_card_of_the_suit_led_wins(trick: str, winner: int) -> None:
    assert play(K20, "no_tricks", trick).winners == [winner]
    assert play(SHORT, "take_tricks", trick).winners == [winner]


@pytest.mark.ruling("GEN-5")
def test_gen_5_a_late_seat_of_king_plays_its_lowest_legal_card_clubs_first() -> None:
    table = play(K20, "no_girls", "0: 5C", holding={E: "QS QD 2H"})
    assert KING_20.fallback(KING_20.view(table.state, E)) == PlayCard("QD")
    lead = start(LONG, "no_tricks", "0: ", holding={N: "9S 9C TD"})
    assert KING_LONG.fallback(KING_LONG.view(lead.state, N)) == PlayCard("9C")


@GAMES
def test_a_king_table_that_has_not_dealt_waits_for_the_deal(game: AnyGame, options: Any) -> None:
    state = game.new(options, 4)
    assert game.turn(state) == Turn(round=0, turn=0, seats=(), game_over=False)
    assert game.result(state) is None
    assert game.deal_record(state) is None
    assert game.view(state, None).phase == "waiting"
    assert refusal(Played(game, state), N, PlayCard("AS")) is Refusal.NOT_NOW
    dealt = evolved(game, state, game.deal(state, chance_of(1, round=1)))
    with pytest.raises(AssertionError):
        game.deal(dealt, NO_CHANCE)
    with pytest.raises(AssertionError):
        game.new(options, 5)


@GAMES
def test_what_king_is_called_and_how_it_is_paid(game: AnyGame, options: Any) -> None:
    assert game.stake_unit == "game"
    assert game.same_clock_after == frozenset()
    assert game.decisions["play_card"] is PlayCard
    assert set(game.events) - {"declared"} == {"round_dealt", "card_played", "round_ended"}


def test_when_a_deal_is_over_nobody_decides_anything() -> None:
    over = last_tricks(K20, "no_tricks", "0: 3S 2C 2D 2H")
    for seat in range(4):
        assert over.game.legal(over.state, seat) == Legal()
        assert refusal(over, seat, PlayCard("AS")) is Refusal.NOT_NOW
        assert refusal(over, seat, Declare("no_girls")) is Refusal.NOT_NOW


def test_a_king_seat_sees_what_the_table_shows() -> None:
    table = play(K20, "no_boys", "0: QH 3H KH 4H", "2: QC 5C", holding={N: "9D", S: "8S"})
    view = KING_20.view(table.state, N)
    assert (view.seat, view.phase, view.round, view.turn, view.to_act) == (N, "playing", 1, 7, N)
    assert (view.declarer, view.contract, view.trump, view.leader, view.winning) == (N, "no_boys", None, S, S)
    assert (view.hand, view.hand_counts, view.legal) == (("9D",), (1, 0, 1, 0), Legal(play=("9D",)))
    assert [(card.seat, card.card) for card in view.trick] == [(S, "QC"), (W, "5C")]
    assert [(trick.leader, trick.winner) for trick in view.tricks] == [(N, S)]
    assert [(card.seat, card.card) for card in view.tricks[0].cards] == [(N, "QH"), (E, "3H"), (S, "KH"), (W, "4H")]
    assert (view.counts, view.points, view.totals) == ((0, 0, 1, 0), (0, 0, -60, 0), (0, 0, 0, 0))
    spectator = KING_20.view(table.state, None)
    assert (spectator.hand, spectator.legal, spectator.seat) == ((), Legal(), None)
    assert KING_20.view(start(K20, "no_boys", "0: ").state, N).winning is None
