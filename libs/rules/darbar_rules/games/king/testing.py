"""Deals written down as text, for tests of the rulings. Open this to play out a worked example.

A trick is written "0: KH 9H 2S 3H": seat 0 leads the king. A contract is written as `Legal.name` says it: "no_girls",
"trump:S".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from darbar_rules.deal import Chance
from darbar_rules.game import AnyGame
from darbar_rules.games.king.declaring import declaration_of
from darbar_rules.games.king.events import CardPlayed, Declared, Event, PlayCard, RoundDealt, RoundEnded
from darbar_rules.games.king.forms import Declaration
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import SEATS, King20Options, KingLongOptions, KingOptions, KingShortOptions
from darbar_rules.games.king.state import Match, Middle, State, contract_of
from darbar_rules.tricks import Trick

NO_CHANCE: Final = Chance(b"", table_id="script", game=1, round=1)
GAMES: Final[Mapping[type[KingOptions], AnyGame]] = {
    King20Options: KING_20,
    KingShortOptions: KING_SHORT,
    KingLongOptions: KING_LONG,
}


@dataclass(frozen=True, slots=True)
class Played:
    """Where a script led to."""

    game: AnyGame
    state: State
    events: tuple[Event, ...] = ()

    @property
    def legal(self) -> tuple[str, ...]:
        """The cards that the seat on turn may play."""
        (seat,) = self.game.turn(self.state).seats
        return self.game.legal(self.state, seat).play

    @property
    def ended(self) -> RoundEnded | None:
        return self.state.match.ended

    @property
    def points(self) -> tuple[int, ...]:
        return self.state.middle.points

    @property
    def counts(self) -> tuple[int, ...]:
        return self.state.middle.counts

    @property
    def winners(self) -> list[int]:
        return [event.trick.winner for event in self.events if isinstance(event, CardPlayed) and event.trick]

    def then(self, *tricks: str) -> Played:
        """Play on; each trick must be led by the seat that the script says."""
        state, events = self.state, self.events
        for trick in tricks:
            leader, _, cards = trick.partition(":")
            assert state.play.leader == int(leader), f"{trick!r} is led by seat {state.play.leader}"
            for card in cards.split():
                (seat,) = self.game.turn(state).seats
                followed = self.game.decide(state, seat, PlayCard(card), NO_CHANCE)
                for event in followed:
                    state = self.game.evolve(state, event)
                events += followed
        return Played(self.game, state, events)


def start(
    options: KingOptions,
    contract: str,
    *tricks: str,
    holding: Mapping[int, str] | None = None,
    match: Match | None = None,
    tricks_before: int = 0,
) -> Played:
    """A declared deal in which each seat holds what it plays in these tricks, and what `holding` adds.

    The first of the tricks is led by whom it says, the declarer; `tricks_before` have been taken by nobody.
    """
    game = GAMES[type(options)]
    hands, leader = _hands(tricks, holding or {}), int(tricks[0][0]) if tricks else 0
    state: State = game.new(options, SEATS)._replace(match=match or Match())
    said, number = declaration_of(contract), state.match.round + 1
    events: tuple[Event, ...] = (RoundDealt(number, leader, hands, turn=0, contract=said.contract, to_act=leader),)
    if "declare" in game.decisions:
        dealt = RoundDealt(number, leader, hands, turn=0, declarer=leader, to_act=leader)
        events = (dealt, Declared(leader, said.contract, turn=1, to_act=leader, suit=said.suit))
    for event in events:
        state = game.evolve(state, event)
    empty = (Trick(leader, b"", leader),) * tricks_before
    return Played(game, state._replace(middle=Middle(tricks=empty)), events)


def play(
    options: KingOptions,
    contract: str,
    *tricks: str,
    holding: Mapping[int, str] | None = None,
    match: Match | None = None,
    tricks_before: int = 0,
) -> Played:
    """A deal from its beginning through these tricks."""
    table = start(options, contract, *tricks, holding=holding, match=match, tricks_before=tricks_before)
    return table.then(*tricks)


def last_tricks(
    options: KingOptions,
    contract: str,
    *tricks: str,
    holding: Mapping[int, str] | None = None,
    match: Match | None = None,
) -> Played:
    """The end of a deal whose earlier tricks nobody has taken."""
    table = start(options, contract)
    before = len(contract_of(table.state).trick_points) - len(tricks)
    return play(options, contract, *tricks, holding=holding, match=match, tricks_before=before)


def declaring(
    options: KingOptions, *declared: tuple[int, str], seat: int = 0, hand: str = "", blind: bool = False
) -> Played:
    """A deal in which a seat has to declare, after these seats have declared these contracts."""
    game = GAMES[type(options)]
    done = tuple(Declaration(one, declaration_of(name).contract) for one, name in declared)
    match = Match(round=len(done), first=(seat - 1) % SEATS, declared=done)
    state: State = game.new(options, SEATS)._replace(match=match)
    hands = tuple(tuple(hand.split()) if one == seat else () for one in range(SEATS))
    dealt = RoundDealt(match.round + 1, seat, hands, turn=0, declarer=seat, blind=blind, to_act=seat)
    return Played(game, game.evolve(state, dealt), (dealt,))


def _hands(tricks: Sequence[str], holding: Mapping[int, str]) -> tuple[tuple[str, ...], ...]:
    hands: list[tuple[str, ...]] = [tuple(holding.get(seat, "").split()) for seat in range(SEATS)]
    for trick in tricks:
        leader, _, cards = trick.partition(":")
        for place, card in enumerate(cards.split()):
            hands[(int(leader) + place) % SEATS] += (card,)
    return tuple(hands)
