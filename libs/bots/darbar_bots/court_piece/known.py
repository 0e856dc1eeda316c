"""What a seat can know from its view: cards out, suits that others lack, the state of the pile. Open this about memory.

Cards are the numbers of `darbar_rules.cards`, sets of cards bit masks, suits 0..3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from darbar_bots.policy import ViewInvalid, naming_only_what_there_is
from darbar_rules.cards import ACE, IDS, RANK_OF, SUIT_MASKS, SUIT_OF, SUITS, WHOLE_DECK, mask_of_texts
from darbar_rules.games.court_piece.options import SEATS
from darbar_rules.games.court_piece.state import TRICKS_IN_ROUND
from darbar_rules.games.court_piece.view import CourtPieceView, SeenCard


@dataclass(frozen=True, slots=True)
class Known:
    """A position as one seat knows it, while it is that seat's turn to play a card."""

    seat: int
    legal: int
    hand: int
    hidden_card: int | None  # the own face-down card
    trump: int | None  # the suit that has power
    hidden_trump: int | None  # the suit that will have it, for the caller who chose it
    caller: int | None
    mode: str
    led: int | None
    best: int | None  # the card to beat
    winning: int | None
    later: tuple[int, ...]  # who still plays to this trick after this seat
    counts: tuple[int, ...]
    unseen: int  # cards that others may hold
    voids: tuple[int, ...]  # by seat: a bit for each suit it is known not to hold
    tricks_left: int  # this one included
    pile: int
    pile_needed: int
    streak: int | None
    collected: tuple[int, int]
    ace_takes_no_pile: bool

    @property
    def partner(self) -> int:
        return (self.seat + 2) % SEATS

    @property
    def ours(self) -> int:
        """Tricks that this seat's team has."""
        return self.collected[self.seat % 2]

    @property
    def theirs(self) -> int:
        return self.collected[1 - self.seat % 2]

    @property
    def may_cut(self) -> bool:
        """Whether a card that does not follow suit becomes the trump suit (CP-25)."""
        return (
            self.mode == "kaat"
            and self.trump is None
            and self.led is not None
            and not self.legal & SUIT_MASKS[self.led]
        )

    def may_pick_up(self, card: int) -> bool:
        """Whether a trick won with this card may be the second of two (CP-10)."""
        return not (self.ace_takes_no_pile and RANK_OF[card] == ACE)

    def with_us(self, seat: int) -> bool:
        return (seat - self.seat) % 2 == 0

    def once_shown(self, suit: int) -> Known:
        """The same position once this suit has trump power; the own face-down card is back in hand."""
        returned = 0 if self.hidden_card is None else 1 << self.hidden_card
        return replace(self, trump=suit, hidden_trump=None, hidden_card=None, hand=self.hand | returned)

    def others(self) -> tuple[int, ...]:
        """The other seats in the order of play."""
        return tuple((self.seat + step) % SEATS for step in range(1, SEATS))


@naming_only_what_there_is()
def known_from(view: CourtPieceView, *, attentive: bool = True) -> Known:
    """All that the view tells. A beginner is not `attentive`: finished tricks are forgotten, and who won the last one.

    Raises ViewInvalid for cards, suits or seats that there are not.
    """
    if view.seat is None or not view.legal.play:
        raise ViewInvalid("it is not this seat's turn to play a card")
    if len(view.hand_counts) != SEATS or not set(view.legal.play) <= set(view.hand):
        raise ViewInvalid("its parts contradict each other")
    finished = [trick.cards for trick in view.tricks] if attentive else []
    played = [*finished, view.trick]
    hand = mask_of_texts(view.hand)
    hidden_card = None if view.indicator is None else IDS[view.indicator]
    own = hand if hidden_card is None else hand | 1 << hidden_card
    suit = None if view.trump is None else SUITS.index(view.trump)
    return Known(
        seat=view.seat,
        legal=mask_of_texts(view.legal.play),
        hand=hand,
        hidden_card=hidden_card,
        trump=suit if view.trump_shown else None,
        hidden_trump=None if view.trump_shown else suit,
        caller=view.caller,
        mode=view.options.trump,
        led=_suit_led(view.trick),
        best=_best(view),
        winning=view.winning,
        later=tuple((view.seat + step) % SEATS for step in range(1, SEATS - len(view.trick))),
        counts=view.hand_counts,
        unseen=WHOLE_DECK & ~own & ~_mask_seen(played),
        voids=_voids_shown(played, caller=view.caller if view.options.trump == "hidden" else None, trump=suit),
        tricks_left=TRICKS_IN_ROUND - len(view.tricks),
        pile=view.pile,
        pile_needed=view.pile_needed,
        streak=view.streak if attentive else None,
        collected=view.collected,
        ace_takes_no_pile=view.options.ace_cannot_win_pile,
    )


@naming_only_what_there_is()
def hand_of(view: CourtPieceView) -> int:
    """The seat's cards. Raises ViewInvalid for one that there is not."""
    return mask_of_texts(view.hand)


def _suit_led(trick: Sequence[SeenCard]) -> int | None:
    if not trick or trick[0].card is None:
        return None
    return SUIT_OF[IDS[trick[0].card]]


def _best(view: CourtPieceView) -> int | None:
    for seen in view.trick:
        if seen.seat == view.winning and seen.card is not None:
            return IDS[seen.card]
    return None


def _mask_seen(played: Iterable[Sequence[SeenCard]]) -> int:
    return mask_of_texts(seen.card for trick in played for seen in trick if seen.card is not None)


def _voids_shown(played: Iterable[Sequence[SeenCard]], *, caller: int | None, trump: int | None) -> tuple[int, ...]:
    """Who did not follow a suit has no more of it."""
    voids = [0] * SEATS
    for trick in played:
        led = _suit_led(trick)
        for seen in trick:
            if led is not None and (seen.card is None or SUIT_OF[IDS[seen.card]] != led):
                voids[seen.seat] |= 1 << led
    if caller is not None and trump is not None:
        # He did not follow because his last trump lay face down; it is in his hand by now.
        voids[caller] &= ~(1 << trump)
    return tuple(voids)
