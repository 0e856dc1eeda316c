"""Which contract suits a hand, against what it brings a declarer on average. Open this about declarations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from darbar_bots.king.known import Known, form_from, hand_of
from darbar_bots.king.play import Position
from darbar_bots.policy import ViewInvalid
from darbar_rules.cards import SUIT_MASKS, SUITS, mask_of
from darbar_rules.games.king.contracts import HEART_SUIT, Contract
from darbar_rules.games.king.declaring import declaration_of
from darbar_rules.games.king.events import Decision, Declare
from darbar_rules.games.king.fallback import fallback_20, fallback_32
from darbar_rules.games.king.forms import Form20
from darbar_rules.games.king.options import SEATS
from darbar_rules.games.king.view import King20View, KingView


class Weights(NamedTuple):
    """What makes a hand good for a contract, in points over an average hand."""

    par: float
    kept: float  # for each point that keeping all cards would bring or cost
    winners: float  # for each card that is likely to win
    shortest: float  # for each card of the shortest suit but hearts, or but trumps
    length: float  # for each heart, or trump


# Fitted to what declarers scored in many deals of these bots among themselves.
WEIGHTS_20: Final[Mapping[str, Weights]] = {
    "trump": Weights(-285, 0.0, 37.4, -8.0, 47.5),
    "no_tricks": Weights(418, 2.45, 3.4, -0.3, -1.8),
    "no_hearts": Weights(152, 2.85, 22.7, 3.8, 25.8),
    "no_boys": Weights(293, 1.01, -12.2, -16.7, -7.3),
    "no_girls": Weights(220, 0.69, -16.1, -15.3, -2.1),
    "no_king_of_hearts": Weights(94, 0.12, -20.2, -16.9, 19.2),
    "no_last_two": Weights(64, 1.52, 1.1, 25.6, 8.4),
}
WEIGHTS_32: Final[Mapping[str, Weights]] = {
    "no_tricks": Weights(104, 1.88, -0.2, 4.5, 2.0),
    "no_hearts": Weights(46, 0.49, -8.3, -2.5, 9.5),
    "no_kings_or_jacks": Weights(80, 0.75, -4.4, -5.2, -1.4),
    "no_queens": Weights(82, 0.64, -6.8, -5.9, -2.5),
    "no_king_of_hearts": Weights(52, -0.15, -17.3, -12.6, 3.3),
    "no_last_two": Weights(29, -0.67, -20.8, -1.8, 0.8),
    "nothing": Weights(429, 0.13, -101.3, -78.1, 20.0),
    "take_tricks": Weights(-40, 0.0, 23.3, -2.2, -0.3),
    "take_hearts": Weights(-57, 0.0, 21.7, 5.0, 5.7),
    "take_kings_or_jacks": Weights(-13, 0.0, 9.1, -0.8, -1.8),
    "take_queens": Weights(-13, 0.0, 8.7, -1.9, -0.6),
    "take_king_of_hearts": Weights(-46, 0.0, 13.2, 10.3, 5.7),
    "take_last_two": Weights(-63, 0.0, 28.5, 6.8, 1.4),
    "take_everything": Weights(-213, 0.0, 102.5, 18.3, 2.0),
}


def best_contract(view: KingView) -> Declare:
    """What is furthest over its average with this hand; with a blind choice the first of the list.

    Everything has to be declared at some time, so what counts is not how much a contract brings, but how much more than
    with another hand.
    """
    _check(view)
    if not view.hand:
        return declaration_of(view.legal.name[0])
    return max((declaration_of(name) for name in view.legal.name), key=lambda declared: advantage(view, declared))


def first_contract(view: KingView) -> Decision:
    """What is declared for a seat whose time is up."""
    _check(view)
    return fallback_20(view) if isinstance(view, King20View) else fallback_32(view)


def advantage(view: KingView, declared: Declare) -> float:
    """The points that this hand is likely to bring with a contract, over what declarers get from it on average."""
    form = form_from(view)
    contract = form.contracts.get(declared.contract)
    weights = (WEIGHTS_20 if isinstance(form, Form20) else WEIGHTS_32).get(declared.contract)
    if contract is None or weights is None:
        raise ViewInvalid(f"no such contract: {declared.contract}")
    hand, trump = hand_of(view), None if declared.suit is None else SUITS.index(declared.suit)
    position = Position(_on_lead(view, contract, hand, trump))
    long_suit = HEART_SUIT if trump is None else trump
    lengths = [(hand & suit).bit_count() for suit in SUIT_MASKS]
    return (
        weights.par
        + weights.kept * position.keeping()
        + weights.winners * position.winners()
        + weights.shortest * min(length for suit, length in enumerate(lengths) if suit != long_suit)
        + weights.length * lengths[long_suit]
    )


def _check(view: KingView) -> None:
    if view.seat is None or not view.legal.name:
        raise ViewInvalid("it is not this seat's turn to declare")
    hand_of(view)


def _on_lead(view: KingView, contract: Contract, hand: int, trump: int | None) -> Known:
    """The beginning of the deal, if this contract were declared."""
    assert view.seat is not None
    return Known(
        seat=view.seat,
        legal=hand,
        hand=hand,
        contract=contract,
        trump=trump,
        led=None,
        best=None,
        winning=None,
        trick=0,
        later=tuple((view.seat + step) % SEATS for step in range(1, SEATS)),
        counts=view.hand_counts,
        unseen=mask_of(form_from(view).deck) & ~hand,
        voids=(0,) * SEATS,
        cannot=(0,) * SEATS,
        number=0,
    )
