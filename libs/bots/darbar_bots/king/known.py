"""What a seat can know from its view: cards out, and what others can not hold. Open this about memory.

Cards are the numbers of `darbar_rules.cards`, sets of cards bit masks, suits 0..3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from darbar_bots.policy import ViewInvalid
from darbar_rules.cards import IDS, SUIT_MASKS, SUIT_OF, SUITS, mask_of_texts
from darbar_rules.games.king.contracts import DECK_32, DECK_52, KING_OF_HEARTS, Contract, contracts_20, contracts_32
from darbar_rules.games.king.options import SEATS, King20Options, KingOptions
from darbar_rules.games.king.view import King20View, KingLongView, KingShortView, KingView, SeenCard


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
    lacks: tuple[int, ...]  # by seat: a bit for each suit it is known not to hold
    cannot: tuple[int, ...]  # by seat: cards it is known not to hold, as a mask
    number: int  # of this trick, from 0

    @property
    def tricks_left(self) -> int:
        """This one included."""
        return len(self.contract.trick_points) - self.number

    def others(self) -> tuple[int, ...]:
        """The other seats in the order of play."""
        return tuple((self.seat + step) % SEATS for step in range(1, SEATS))


def known_from(view: KingView, *, attentive: bool = True) -> Known:
    """All that the view tells. A beginner is not `attentive`: finished tricks are forgotten.

    Raises ViewInvalid for cards, suits, seats or contracts that there are not.
    """
    try:
        return _known_from(view, attentive=attentive)
    except (KeyError, IndexError, ValueError) as missing:
        raise ViewInvalid(f"no such card, suit, seat or contract: {missing}") from missing


def hand_of(view: KingView) -> int:
    """The seat's cards. Raises ViewInvalid for one that there is not."""
    try:
        return mask_of_texts(view.hand)
    except KeyError as missing:
        raise ViewInvalid(f"no such card: {missing}") from missing


def options_of(view: KingView) -> KingOptions:
    """The options of the table, whichever of the three games it plays."""
    if isinstance(view, King20View | KingShortView | KingLongView):
        return view.options
    raise ViewInvalid("a view of no King game")


@lru_cache(maxsize=128)
def contracts_of(options: KingOptions) -> dict[str, Contract]:
    """Every contract of a table with these options, by its name."""
    made = contracts_20(options) if isinstance(options, King20Options) else contracts_32(options)
    return {contract.name: contract for contract in made}


def deck_of(options: KingOptions) -> int:
    return DECK_52 if isinstance(options, King20Options) else DECK_32


def cards_of(mask: int) -> Iterator[int]:
    """The cards of a hand, from the lowest number up."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _known_from(view: KingView, *, attentive: bool) -> Known:
    if view.seat is None or not view.legal.play or view.contract is None:
        raise ViewInvalid("it is not this seat's turn to play a card")
    if len(view.hand_counts) != SEATS or not set(view.legal.play) <= set(view.hand):
        raise ViewInvalid("its parts contradict each other")
    options = options_of(view)
    finished = [trick.cards for trick in view.tricks] if attentive else []
    played = [*finished, view.trick]
    hand = mask_of_texts(view.hand)
    contract = contracts_of(options)[view.contract]
    lacks = _lacks(played)
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
        unseen=deck_of(options) & ~hand & ~mask_of_texts(seen.card for trick in played for seen in trick),
        lacks=lacks,
        cannot=_cannot(played, lacks, contract),
        number=len(view.tricks),
    )


def _lacks(played: Iterable[Sequence[SeenCard]]) -> tuple[int, ...]:
    """Who did not follow a suit has no more of it."""
    lacks = [0] * SEATS
    for trick in played:
        if trick:
            led = SUIT_OF[IDS[trick[0].card]]
            for seen in trick:
                if SUIT_OF[IDS[seen.card]] != led:
                    lacks[seen.seat] |= 1 << led
    return tuple(lacks)


def _cannot(played: Iterable[Sequence[SeenCard]], lacks: Sequence[int], contract: Contract) -> tuple[int, ...]:
    """Who had to throw a card that counts, or the king of hearts, and threw another one, has none of them."""
    due = contract.thrown_first or (KING_OF_HEARTS if contract.king_of_hearts_first else 0)
    cannot = [sum(SUIT_MASKS[suit] for suit in range(len(SUITS)) if lacks[seat] >> suit & 1) for seat in range(SEATS)]
    for trick in played:
        for seen in trick:
            card = IDS[seen.card]
            if SUIT_OF[card] != SUIT_OF[IDS[trick[0].card]] and not due >> card & 1:
                cannot[seen.seat] |= due
    return tuple(cannot)
