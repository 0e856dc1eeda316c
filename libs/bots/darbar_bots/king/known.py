"""What a seat can know from its view: cards out, and what others can not hold. Open this about memory.

Cards are the numbers of `darbar_rules.cards`, sets of cards bit masks, suits 0..3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from darbar_bots.policy import ViewInvalid, naming_only_what_there_is
from darbar_bots.voids import voids_shown
from darbar_rules.cards import IDS, SUIT_MASKS, SUIT_OF, SUITS, mask_of, mask_of_texts
from darbar_rules.games.king.contracts import KING_OF_HEARTS, Contract
from darbar_rules.games.king.forms import Form, form_of
from darbar_rules.games.king.options import SEATS
from darbar_rules.games.king.view import King20View, KingLongView, KingShortView, KingView
from darbar_rules.tricks import SeenCard


@dataclass(frozen=True, slots=True)
class Known:
    """A position as one seat knows it, while it is that seat's turn to play a card."""

    seat: int
    legal: int
    hand: int
    contract: Contract
    trump: int | None
    led: int | None
    best: int | None  # the card to beat
    winning: int | None
    trick: int  # cards lying
    later: tuple[int, ...]  # who still plays to this trick after this seat
    counts: tuple[int, ...]
    unseen: int  # cards that others may hold
    voids: tuple[int, ...]  # by seat: a bit for each suit it is known not to hold
    cannot: tuple[int, ...]  # by seat: cards it is known not to hold, as a mask
    number: int  # of this trick, from 0

    @property
    def tricks_left(self) -> int:
        """This one included."""
        return len(self.contract.trick_points) - self.number

    def others(self) -> tuple[int, ...]:
        """The other seats in the order of play."""
        return tuple((self.seat + step) % SEATS for step in range(1, SEATS))


@naming_only_what_there_is()
def known_from(view: KingView, *, attentive: bool = True) -> Known:
    """All that the view tells. A beginner is not `attentive`: finished tricks are forgotten.

    Raises ViewInvalid for cards, suits, seats or contracts that there are not.
    """
    if view.seat is None or not view.legal.play or view.contract is None:
        raise ViewInvalid("it is not this seat's turn to play a card")
    if len(view.hand_counts) != SEATS or not set(view.legal.play) <= set(view.hand):
        raise ViewInvalid("its parts contradict each other")
    form = form_from(view)
    finished = [trick.cards for trick in view.tricks] if attentive else []
    played = [*finished, view.trick]
    hand = mask_of_texts(view.hand)
    contract = form.contracts[view.contract]
    voids = voids_shown(played, SUIT_OF, SEATS)
    return Known(
        seat=view.seat,
        legal=mask_of_texts(view.legal.play),
        hand=hand,
        contract=contract,
        trump=None if view.trump is None else SUITS.index(view.trump),
        led=SUIT_OF[IDS[view.trick[0].card]] if view.trick else None,
        best=next((IDS[seen.card] for seen in view.trick if seen.seat == view.winning), None),
        winning=view.winning,
        trick=mask_of_texts(seen.card for seen in view.trick),
        later=tuple((view.seat + step) % SEATS for step in range(1, SEATS - len(view.trick))),
        counts=view.hand_counts,
        unseen=mask_of(form.deck) & ~hand & ~mask_of_texts(seen.card for trick in played for seen in trick),
        voids=voids,
        cannot=_cannot(played, voids, contract),
        number=len(view.tricks),
    )


@naming_only_what_there_is()
def hand_of(view: KingView) -> int:
    """The seat's cards. Raises ViewInvalid for one that there is not."""
    return mask_of_texts(view.hand)


def form_from(view: KingView) -> Form:
    """Which of the three games the table plays, and with which options."""
    if isinstance(view, King20View | KingShortView | KingLongView):
        return form_of(view.options)
    raise ViewInvalid("a view of no King game")


def _cannot(played: Iterable[Sequence[SeenCard]], voids: Sequence[int], contract: Contract) -> tuple[int, ...]:
    """Who had to throw a card that counts, or the king of hearts, and threw another one, has none of them."""
    due = contract.due_when_void or (KING_OF_HEARTS if contract.king_of_hearts_first else 0)
    cannot = [sum(SUIT_MASKS[suit] for suit in range(len(SUITS)) if voids[seat] >> suit & 1) for seat in range(SEATS)]
    for trick in played:
        for seen in trick:
            card = IDS[seen.card]
            if SUIT_OF[card] != SUIT_OF[IDS[trick[0].card]] and not due >> card & 1:
                cannot[seen.seat] |= due
    return tuple(cannot)
