"""Which contracts a seat may declare, and what follows. Open this about declarations (K20-4 to K20-8, K32-14)."""

from __future__ import annotations

from typing import Final

from darbar_rules.cards import SUITS
from darbar_rules.game import Refusal, RuleRefused
from darbar_rules.games.king.contracts import TRUMP
from darbar_rules.games.king.events import Declare, Declared, Event
from darbar_rules.games.king.state import State

TRUMP_MARK: Final = TRUMP + ":"


def remaining(state: State) -> tuple[tuple[str, ...], ...]:
    """By seat: the contracts that it could declare as the game stands."""
    return state.form.remaining(state.match.declared)


def names_left(state: State, seat: int) -> tuple[str, ...]:
    """The contracts of a seat as `Legal.name` says them: trump once for each suit."""
    return tuple(
        named
        for name in remaining(state)[seat]
        for named in ([TRUMP_MARK + suit for suit in SUITS] if name == TRUMP else [name])
    )


def declaration_of(name: str) -> Declare:
    """The decision that a name of `Legal.name` stands for."""
    if name.startswith(TRUMP_MARK):
        return Declare(TRUMP, name.removeprefix(TRUMP_MARK))
    return Declare(name)


def declare(state: State, seat: int, decision: Declare) -> tuple[Event, ...]:
    """A contract that is left to this seat; the suit counts for a trump contract alone."""
    if state.match.phase != "declaring":
        raise RuleRefused(Refusal.NOT_NOW)
    contract = decision.contract
    if contract not in state.form.contracts:
        raise RuleRefused(Refusal.CONTRACT_UNKNOWN, contract=contract)
    if contract not in remaining(state)[seat]:
        raise RuleRefused(Refusal.CONTRACT_NOT_LEFT, legal=names_left(state, seat))
    suit = decision.suit if contract == TRUMP else None
    if contract == TRUMP and suit not in tuple(SUITS):
        raise RuleRefused(Refusal.SUIT_UNKNOWN, suit=suit)
    return (Declared(seat, contract, turn=state.play.turn + 1, to_act=state.deal.leader, suit=suit),)
