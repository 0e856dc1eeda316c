"""Rounds written down as text, and lively random ones, for tests of the rulings. Open this to play a worked example.

A trick is written "0: KH 9H 2S 3H": seat 0 leads the king. An auction is "0:150 1:P 2:155": who says what. Convert
cards are "AH:1 TC:2". A script holds only the cards that it plays: of a card that is named or doubled, hold every copy.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from darbar_rules.cards import IDS
from darbar_rules.deal import Chance
from darbar_rules.games.kings_and_rebels.events import (
    Bid,
    BidMade,
    CardPlayed,
    Convert,
    ConvertsNamed,
    Event,
    Hands,
    NameConverts,
    PassBid,
    PlayCard,
    RoundDealt,
    RoundEnded,
)
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions, Setup
from darbar_rules.games.kings_and_rebels.state import Match, Middle, State
from darbar_rules.testing import Step, chance_of, evolved, random_decision
from darbar_rules.tricks import Trick

GAME: Final = KINGS_AND_REBELS
NO_CHANCE: Final = Chance(b"", table_id="script", game=1, round=1)
PASS: Final = "P"
# In lively rounds somebody passes off turn, and two cards or more are named, so often.
PASS_OFF_TURN_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Played:
    """Where a script led to."""

    state: State
    events: tuple[Event, ...] = ()

    @property
    def legal(self) -> tuple[str, ...]:
        """The cards that the seat on turn may play."""
        (seat,) = GAME.turn(self.state).seats
        return GAME.legal(self.state, seat).play

    @property
    def ended(self) -> RoundEnded:
        assert self.state.match.ended is not None
        return self.state.match.ended

    @property
    def winners(self) -> list[int]:
        return [event.trick.winner for event in self.events if isinstance(event, CardPlayed) and event.trick]

    @property
    def converted(self) -> list[tuple[int, str, int]]:
        """Who joined the Rebels with which play."""
        played = [event for event in self.events if isinstance(event, CardPlayed)]
        return [(one.seat, one.converted.card, one.converted.ordinal) for one in played if one.converted]

    @property
    def spent(self) -> list[tuple[int, str, int]]:
        played = [event for event in self.events if isinstance(event, CardPlayed)]
        return [(one.seat, one.spent.card, one.spent.ordinal) for one in played if one.spent]

    def decide(self, seat: int, decision: Any, chance: Chance = NO_CHANCE) -> Played:
        followed = GAME.decide(self.state, seat, decision, chance)
        return Played(evolved(GAME, self.state, followed), (*self.events, *followed))

    def then(self, *tricks: str) -> Played:
        """Play on; each trick must be led by the seat that the script says."""
        table = self
        for trick in tricks:
            leader, _, cards = trick.partition(":")
            assert table.state.play.leader == int(leader), f"{trick!r} is led by seat {table.state.play.leader}"
            for card in cards.split():
                (seat,) = GAME.turn(table.state).seats
                table = table.decide(seat, PlayCard(card))
        return table

    def says(self, auction: str, chance: Chance = NO_CHANCE) -> Played:
        """An auction goes on, in turn or not."""
        table = self
        for said in auction.split():
            seat, _, word = said.partition(":")
            table = table.decide(int(seat), PassBid() if word == PASS else Bid(int(word)), chance)
        return table


def bidding(
    options: KingsAndRebelsOptions, *, dealer: int | None = None, attempt: int = 0, match: Match | None = None
) -> Played:
    """A round that has been dealt, by the last seat unless it is said; nobody holds a card."""
    state: State = GAME.new(options, options.seats)
    before = state.match if match is None else match
    by = options.seats - 1 if dealer is None else dealer
    dealt = RoundDealt(
        before.round + 1,
        by,
        ((),) * options.seats,
        turn=0,
        to_act=(by + 1) % options.seats,
        attempt=attempt,
        must_bid=attempt == 2,
    )
    return Played(GAME.evolve(state._replace(match=before), dealt), (dealt,))


def naming(options: KingsAndRebelsOptions, *, hand: str = "", leader: int = 0, bid: int = 150) -> Played:
    """A round whose leader has to name trump and convert cards."""
    hands = tuple(tuple(hand.split()) if seat == leader else () for seat in range(options.seats))
    return _led(options, hands, leader=leader, bid=bid)


def start(
    options: KingsAndRebelsOptions,
    *tricks: str,
    trump: str = "S",
    converts: str = "",
    bid: int = 150,
    holding: Mapping[int, str] | None = None,
) -> Played:
    """A round in which each seat holds what it plays in these tricks, and what `holding` adds; the first one is led by
    the Rebel Leader, as always."""
    leader = int(tricks[0][0])
    table = _led(options, _hands(tricks, holding or {}, options.seats), leader=leader, bid=bid)
    named = ConvertsNamed(leader, trump, converts_of(converts), turn=table.state.play.turn + 1, to_act=leader)
    return Played(GAME.evolve(table.state, named), (*table.events, named))


def play(
    options: KingsAndRebelsOptions,
    *tricks: str,
    trump: str = "S",
    converts: str = "",
    bid: int = 150,
    holding: Mapping[int, str] | None = None,
) -> Played:
    """A round from its first trick through these."""
    return start(options, *tricks, trump=trump, converts=converts, bid=bid, holding=holding).then(*tricks)


def last_tricks(
    options: KingsAndRebelsOptions,
    *tricks: str,
    trump: str = "S",
    converts: str = "",
    bid: int = 150,
    captured: Sequence[int] = (),
    match: Match | None = None,
) -> Played:
    """The end of a round in whose earlier tricks the seats have captured these points."""
    table = start(options, *tricks, trump=trump, converts=converts, bid=bid)
    state = table.state
    leader = state.play.leader
    empty = (Trick(leader, b"", leader),) * (state.setup.held - len(tricks))
    middle = Middle(tuple(captured) or state.middle.captured, empty)
    before = state.match if match is None else match._replace(phase="playing")
    return Played(state._replace(middle=middle, match=before), table.events).then(*tricks)


def converts_of(text: str) -> tuple[Convert, ...]:
    """Convert cards from "AH:1 TC:2"."""
    parts = [one.partition(":") for one in text.split()]
    return tuple(Convert(card, int(ordinal or 1)) for card, _, ordinal in parts)


def lively_game(options: KingsAndRebelsOptions, seed: int, *, rounds_max: int = 1) -> Iterator[Step]:
    """A random game in which seats also pass off turn, and leaders name any number of cards, their own too."""
    dice = random.Random(f"lively {seed}")
    state = GAME.new(options, options.seats)
    for number in range(1, rounds_max + 1):
        if GAME.turn(state).game_over:
            return
        chance = chance_of(seed, round=number)
        events = GAME.deal(state, chance)
        after = evolved(GAME, state, events)
        yield Step(state, None, None, chance, events, after)
        state = after
        while GAME.turn(state).seats:
            seat, decision = _lively_decision(state, dice)
            events = GAME.decide(state, seat, decision, chance)
            after = evolved(GAME, state, events)
            yield Step(state, seat, decision, chance, events, after)
            state = after


def _lively_decision(state: State, dice: random.Random) -> tuple[int, Any]:
    (seat,) = GAME.turn(state).seats
    if state.match.phase == "naming":
        count = dice.randint(1, state.setup.converts_max)
        converts = dice.sample(every_convert(state.setup), count)
        return seat, NameConverts(dice.choice("CDHS"), tuple(converts))
    if state.match.phase == "bidding":
        if dice.random() < PASS_OFF_TURN_SHARE:
            others = [other for other in range(state.setup.seats) if GAME.legal(state, other).also]
            return (dice.choice(others), PassBid()) if others else (seat, random_decision(GAME, state, seat, dice))
        return seat, random_decision(GAME, state, seat, dice, power_share=0.6)
    return seat, random_decision(GAME, state, seat, dice)


def every_convert(setup: Setup) -> list[Convert]:
    """Every convert card that could be named."""
    return [Convert(text, ordinal) for text, face in IDS.items() for ordinal in range(1, setup.copies[face] + 1)]


def _led(options: KingsAndRebelsOptions, hands: Hands, *, leader: int, bid: int) -> Played:
    state: State = GAME.new(options, options.seats)
    dealer = (leader - 1) % options.seats
    events: tuple[Event, ...] = (
        RoundDealt(1, dealer, hands, turn=0, to_act=leader),
        BidMade(leader, bid, turn=1, to_act=leader, leader=leader),
    )
    return Played(evolved(GAME, state, events), events)


def _hands(tricks: Sequence[str], holding: Mapping[int, str], seats: int) -> Hands:
    hands: list[tuple[str, ...]] = [tuple(holding.get(seat, "").split()) for seat in range(seats)]
    for trick in tricks:
        leader, _, cards = trick.partition(":")
        for place, card in enumerate(cards.split()):
            hands[(int(leader) + place) % seats] += (card,)
    return tuple(hands)
