"""From a shuffle to four hands, and when it is shuffled again. Open this about fair and one-sided deals (CP-2..7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from darbar_rules.cards import (
    CARDS_IN_DECK,
    CARDS_IN_SUIT,
    HONOUR_RANKS,
    IDS,
    SUIT_MASKS,
    TEXTS,
    mask_of_ranks,
    unpacked,
)
from darbar_rules.cards import mask_of_texts as mask_of
from darbar_rules.deal import Chance
from darbar_rules.games.court_piece.events import DealTry, Hands, OneSided, RoundDealt
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions
from darbar_rules.games.court_piece.state import State

CARDS_BEFORE_CALL: Final = 5
PACKETS_AFTER_CALL: Final = (4, 4)
TRIES_MAX: Final = 50  # a stage; the last one stands whatever it is
LONG_SUIT_MIN: Final = 7
TEAM_TRUMPS_MIN: Final = 10

HONOURS: Final = mask_of_ranks(HONOUR_RANKS)
ACES: Final = mask_of_ranks("A")


class Stage(NamedTuple):
    """What one stage of dealing came to."""

    tries: tuple[DealTry, ...]
    hands: Hands


def deal_round(state: State, chance: Chance) -> tuple[RoundDealt]:
    """The cards that everybody gets before the trump is chosen; with Kaat, all cards."""
    assert state.match.phase == "waiting", "the table deals only between rounds"
    caller = state.match.caller
    if caller is None:
        caller = first_caller(chance)
    tries, hands = first_stage(state.options, chance, caller=caller, filtered=chance.filtered)
    held = CARDS_IN_SUIT if state.options.trump == "kaat" else CARDS_BEFORE_CALL
    event = RoundDealt(
        round=state.match.round + 1,
        caller=caller,
        hands=tuple(hand[:held] for hand in hands),
        rest=tuple(hand[held:] for hand in hands),
        filtered=chance.filtered,
        tries=tries,
        to_act=caller,
        turn=0,
    )
    return (event,)


def deal_rest(state: State, chance: Chance, *, suit: int) -> Stage:
    """The four whole hands once the caller has named the trump; his first five cards are as they were."""
    caller, deal = state.match.caller, state.deal
    assert caller is not None
    first = Stage(deal.tries, unpacked(deal.hands))
    return second_stage(state.options, chance, first, caller=caller, suit=suit, filtered=deal.filtered)


def first_caller(chance: Chance) -> int:
    return chance.lot("first_caller", SEATS)


def one_sided(hands: Sequence[int], *, honour_threshold: int, trump: int | None = None) -> tuple[OneSided, ...]:
    """Which of the tests of CP-6 a deal fails; `hands` are thirteen cards each, as masks."""
    teams = (hands[0] | hands[2], hands[1] | hands[3])
    found: list[OneSided] = []
    if any((team & HONOURS).bit_count() >= honour_threshold for team in teams):
        found.append("honours")
    if any(team & ACES == ACES for team in teams):
        found.append("aces")
    if any((hand & suit).bit_count() >= LONG_SUIT_MIN for hand in hands for suit in SUIT_MASKS):
        found.append("long_suit")
    if trump is not None and any((team & SUIT_MASKS[trump]).bit_count() >= TEAM_TRUMPS_MIN for team in teams):
        found.append("trumps")
    return tuple(found)


def hands_from(deck: Sequence[int], *, caller: int, packets: Sequence[int]) -> Hands:
    """Deal a deck from its first card on: a packet to each seat in turn, the caller first, then the next packet."""
    hands: list[list[str]] = [[] for _ in range(SEATS)]
    top = 0
    for packet in packets:
        for step in range(SEATS):
            hands[(caller + step) % SEATS].extend(TEXTS[card] for card in deck[top : top + packet])
            top += packet
    return tuple(tuple(hand) for hand in hands)


def packets_of(options: CourtPieceOptions) -> tuple[int, ...]:
    """How many cards a seat gets at a time."""
    return (CARDS_IN_SUIT,) if options.trump == "kaat" else (CARDS_BEFORE_CALL, *PACKETS_AFTER_CALL)


def first_stage(options: CourtPieceOptions, chance: Chance, *, caller: int, filtered: bool) -> Stage:
    """Shuffle until the whole deal is fair as far as it can be judged without a trump."""
    tries: list[DealTry] = []
    while True:
        deck = chance.order("deal", len(tries), CARDS_IN_DECK)
        hands = hands_from(deck, caller=caller, packets=packets_of(options))
        found = one_sided([mask_of(hand) for hand in hands], honour_threshold=options.honour_threshold)
        tries.append(DealTry(1, len(tries), found))
        if not (found and filtered) or len(tries) == TRIES_MAX:
            return Stage(tuple(tries), hands)


def second_stage(
    options: CourtPieceOptions, chance: Chance, first: Stage, *, caller: int, suit: int, filtered: bool
) -> Stage:
    """Judge the deal with its trump, and shuffle the 47 cards that are not the caller's first five until it is fair.

    Shuffles are numbered on from the first stage. The first one judged is the one that stage ended with.
    """
    hands = first.hands
    number = first.tries[-1].attempt
    five = [IDS[text] for text in hands[caller][:CARDS_BEFORE_CALL]]
    tries: list[DealTry] = []
    while True:
        masks = [mask_of(hand) for hand in hands]
        found = one_sided(masks, honour_threshold=options.honour_threshold, trump=suit)
        tries.append(DealTry(2, number, found))
        if not (found and filtered) or len(tries) == TRIES_MAX:
            return Stage(tuple(tries), hands)
        number += 1
        others = [card for card in chance.order("deal", number, CARDS_IN_DECK) if card not in five]
        hands = hands_from(five + others, caller=caller, packets=packets_of(options))
