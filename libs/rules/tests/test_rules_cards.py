"""Cards, ranks and which card takes a trick."""

from __future__ import annotations

from itertools import pairwise

import pytest

from darbar_rules import cards
from darbar_rules.cards import IDS, IDS_TWO_DECKS, RANKS, SUITS, TEXTS, beats, mask_of_texts


def test_a_card_is_its_suit_times_thirteen_plus_its_rank() -> None:
    assert [IDS[text] for text in ("2C", "AC", "2D", "2H", "2S", "TS", "AS")] == [0, 12, 13, 26, 39, 47, 51]
    for card, text in enumerate(TEXTS[:52]):
        assert text == RANKS[cards.RANK_OF[card]] + SUITS[cards.SUIT_OF[card]]
        assert IDS[text] == card
        assert cards.BITS[card] == 1 << card


def test_the_second_deck_has_the_same_cards_with_a_mark() -> None:
    assert IDS_TWO_DECKS["AH#2"] == IDS["AH"] + 52
    assert "AH#2" not in IDS
    assert len(IDS) == 52
    assert len(IDS_TWO_DECKS) == len(TEXTS) == 104
    assert cards.SUIT_OF[IDS_TWO_DECKS["AH#2"]] == SUITS.index("H")
    assert cards.RANK_OF[IDS_TWO_DECKS["AH#2"]] == cards.ACE


def test_a_hand_reads_suit_by_suit_from_the_lowest_up() -> None:
    hand = mask_of_texts(["AS", "2S", "TC", "9H", "9D", "JC"])
    assert cards.texts_of(hand) == ("TC", "JC", "9D", "9H", "2S", "AS")
    assert cards.texts_of(0) == ()
    assert cards.texts_of(cards.WHOLE_DECK) == TEXTS[:52]


def test_the_suit_masks_share_out_the_deck() -> None:
    assert sum(cards.SUIT_MASKS) == cards.WHOLE_DECK
    assert cards.texts_of(cards.SUIT_MASKS[3]) == tuple(rank + "S" for rank in RANKS)
    assert set(cards.texts_of(cards.mask_of_ranks("AK"))) == {"AC", "KC", "AD", "KD", "AH", "KH", "AS", "KS"}


@pytest.mark.ruling("GEN-5")
@pytest.mark.parametrize(
    ("hand", "lowest"),
    [("3S 2C 2D", "2C"), ("3C 2S", "2S"), ("TD TH TS", "TD"), ("AS", "AS"), ("KS KH AC", "KH"), ("3H 3S", "3H")],
)
def test_gen_5_the_lowest_card_is_of_the_lowest_rank_then_clubs_first(hand: str, lowest: str) -> None:
    assert TEXTS[cards.lowest(mask_of_texts(hand.split()))] == lowest


@pytest.mark.parametrize(
    ("hand", "suit"),
    [("2C 3C 4D", "C"), ("2C 3C 4D 5D KS", "C"), ("2H 3S 4S 5H KD", "H"), ("2S 3S 4S 5H KD", "S"), ("AD KH QS", "D")],
)
def test_the_longest_suit_is_the_first_of_equally_long_ones(hand: str, suit: str) -> None:
    assert SUITS[cards.longest_suit(mask_of_texts(hand.split()))] == suit


@pytest.mark.ruling("GEN-3")
@pytest.mark.parametrize(
    ("card", "best", "trump", "wins"),
    [
        ("AH", "KH", None, True),
        ("KH", "AH", None, False),
        ("AS", "2H", None, False),
        ("2S", "AH", "S", True),
        ("2S", "3S", "S", False),
        ("3S", "2S", "S", True),
        ("AH", "2S", "S", False),
        ("AD", "2H", "S", False),
    ],
)
def test_gen_3_a_trick_goes_to_the_highest_trump_else_to_the_highest_of_the_led_suit(
    card: str, best: str, trump: str | None, wins: bool
) -> None:
    suit = None if trump is None else SUITS.index(trump)
    assert beats(IDS[card], IDS[best], suit) is wins


@pytest.mark.ruling("GEN-3")
def test_gen_3_ranks_go_from_the_ace_down_to_the_two() -> None:
    descending = [f"{rank}D" for rank in "AKQJT98765432"]
    for higher, lower in pairwise(descending):
        assert beats(IDS[higher], IDS[lower], None)
        assert not beats(IDS[lower], IDS[higher], SUITS.index("D"))


@pytest.mark.ruling("GEN-3")
def test_gen_3_of_two_equal_cards_the_earlier_one_wins() -> None:
    assert not beats(IDS["AH"], IDS["AH"], None)
    assert not beats(IDS["AH"], IDS["AH"], SUITS.index("H"))
