"""What a seat can know from its view: cards out, suits others lack, what lies in the trick. Open this about memory.

Cards are the numbers of `darbar_rules.cards`, two decks of them, sets of cards bit masks, suits 0..3. With the three of
spades as top trump it belongs to the trump suit here, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from darbar_bots.policy import ViewInvalid, naming_only_what_there_is
from darbar_bots.voids import voids_shown
from darbar_rules.cards import IDS_TWO_DECKS, SUITS, cards_of, mask_of
from darbar_rules.games.kings_and_rebels.events import Convert
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions, Setup, check, setup_of
from darbar_rules.games.kings_and_rebels.pack import POINTS, mask_of_hand
from darbar_rules.games.kings_and_rebels.view import KingsAndRebelsView
from darbar_rules.options import OptionInvalid

ORDERS_KEPT: Final = 1024


@dataclass(frozen=True, slots=True)
class Known:
    """A position as one seat knows it, while it is that seat's turn to play a card."""

    seat: int
    setup: Setup
    trump: int
    legal: int
    hand: int
    led: int | None
    best: int | None  # the card to beat
    winning: int | None
    points: int  # lying in the trick
    later: tuple[int, ...]  # who still plays to this trick after this seat
    counts: tuple[int, ...]
    unseen: int  # cards that others may hold
    voids: tuple[int, ...]  # by seat: a bit for each suit it is known not to hold
    leader: int  # of the Rebels
    rebels: tuple[int, ...]  # whom everybody knows
    converts: tuple[Convert, ...]  # that have yet to be played, as far as the seat may know them
    tricks_left: int  # this one included

    @property
    def suits(self) -> tuple[int, ...]:
        """The suit of each card."""
        return self.setup.suits[self.trump]

    @property
    def masks(self) -> tuple[int, ...]:
        """The cards of each suit."""
        return self.setup.masks[self.trump]

    def others(self) -> tuple[int, ...]:
        """The other seats in the order of play."""
        return tuple((self.seat + step) % self.setup.seats for step in range(1, self.setup.seats))

    def higher(self, card: int) -> int:
        """The cards of its suit that beat it when they come after it."""
        return higher_cards(self.setup, self.trump)[card]

    def beats(self, card: int, best: int) -> bool:
        if self.suits[card] == self.suits[best]:
            return bool(self.higher(best) >> card & 1)
        return self.suits[card] == self.trump


@naming_only_what_there_is()
def known_from(view: KingsAndRebelsView, *, attentive: bool = True) -> Known:
    """All that the view tells. A beginner is not `attentive`: finished tricks are forgotten.

    Raises ViewInvalid for cards, suits or seats that there are not.
    """
    if view.seat is None or not view.legal.play or view.trump is None or view.rebel_leader is None:
        raise ViewInvalid("it is not this seat's turn to play a card")
    setup = setup_from(view.options)
    if len(view.hand_counts) != setup.seats or not set(view.legal.play) <= set(view.hand):
        raise ViewInvalid("its parts contradict each other")
    trump = SUITS.index(view.trump)
    suits = setup.suits[trump]
    finished = [trick.cards for trick in view.tricks] if attentive else []
    played = [*finished, view.trick]
    hand = mask_of_hand(view.hand)
    seen = mask_of(IDS_TWO_DECKS[one.card] for trick in played for one in trick)
    lying = [IDS_TWO_DECKS[one.card] for one in view.trick]
    fates = {(fate.card, fate.ordinal) for fate in view.fates}
    return Known(
        seat=view.seat,
        setup=setup,
        trump=trump,
        legal=mask_of_hand(view.legal.play),
        hand=hand,
        led=suits[lying[0]] if lying else None,
        best=next((IDS_TWO_DECKS[one.card] for one in view.trick if one.seat == view.winning), None),
        winning=view.winning,
        points=sum(POINTS[card] for card in lying),
        later=tuple((view.seat + step) % setup.seats for step in range(1, setup.seats - len(lying))),
        counts=view.hand_counts,
        unseen=mask_of(setup.deck) & ~hand & ~seen,
        voids=voids_shown(played, suits, setup.seats),
        leader=view.rebel_leader,
        rebels=view.rebels,
        converts=tuple(one for one in view.converts if (one.card, one.ordinal) not in fates),
        tricks_left=hand.bit_count(),
    )


@naming_only_what_there_is()
def hand_of(view: KingsAndRebelsView) -> int:
    """The seat's cards. Raises ViewInvalid for one that there is not."""
    return mask_of_hand(view.hand)


def setup_from(options: KingsAndRebelsOptions) -> Setup:
    """What the options come to. Raises ViewInvalid for options that no table has."""
    try:
        check(options)
    except OptionInvalid as invalid:
        raise ViewInvalid(str(invalid)) from invalid
    return setup_of(options)


@lru_cache(maxsize=ORDERS_KEPT)
def higher_cards(setup: Setup, trump: int) -> tuple[int, ...]:
    """For each card those of its suit that beat it: of two equal ones the later one does so only by the option."""
    suits, ranks = setup.suits[trump], setup.ranks
    later = setup.options.later_equal_card_wins
    return tuple(
        mask_of(
            other
            for other in range(len(ranks))
            if other != card
            and suits[other] == suits[card]
            and (ranks[other] > ranks[card] or (later and ranks[other] == ranks[card]))
        )
        for card in range(len(ranks))
    )


def points_of(mask: int) -> int:
    return sum(POINTS[card] for card in cards_of(mask))
