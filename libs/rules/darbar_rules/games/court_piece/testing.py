"""Rounds written down as text, for tests of the rulings. Open this to play out a worked example.

A trick is written "0: KH 9S ask 2S 3H": seat 0 leads the king, seat 1 plays 9S, seat 2 asks for the trump and plays 2S.
A card that the rules play by themselves has a star: "2S*".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from darbar_rules.cards import RANKS, SUITS
from darbar_rules.deal import Chance
from darbar_rules.games.court_piece.events import (
    AskTrump,
    Decision,
    Event,
    PlayCard,
    RoundDealt,
    ShowTrump,
    TrumpChosen,
)
from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import SEATS, CourtPieceOptions
from darbar_rules.games.court_piece.state import TRICKS_IN_ROUND, Match, Middle, State, Trick, packed_trick

NO_CHANCE: Final = Chance(b"", table_id="script", game=1, round=1)
AUTOMATIC: Final = "*"
_POWERS: Final[Mapping[str, Decision]] = {"ask": AskTrump(), "show": ShowTrump()}


@dataclass(frozen=True, slots=True)
class Played:
    """Where a script led to."""

    state: State
    events: tuple[Event, ...]

    def then(self, *tricks: str) -> Played:
        """Play on; each trick must be led by the seat that the script says."""
        state, events = self.state, self.events
        for trick in tricks:
            leader, _, played = trick.partition(":")
            assert state.play.leader == int(leader), f"{trick!r} is led by seat {state.play.leader}"
            for token in played.split():
                if token.endswith(AUTOMATIC):
                    continue
                state, events = _decided(state, events, _POWERS.get(token) or PlayCard(token))
        return Played(state, events)


def start(
    options: CourtPieceOptions,
    *tricks: str,
    caller: int = 0,
    trump: str | None = None,
    holding: Mapping[int, str] | None = None,
    totals: tuple[int, int] = (0, 0),
) -> Played:
    """The beginning of a round in which each seat holds what it plays in these tricks, and what `holding` adds.

    `trump` is the caller's choice: a card of his that lies face down (hidden), or a suit (open).
    """
    hands = _hands(tricks, holding or {})
    if options.trump == "hidden" and trump is not None and trump not in hands[caller]:
        hands[caller] = (*hands[caller], trump)
    state = State(options, Match(totals=totals))
    whole = tuple(hands)
    dealt = RoundDealt(1, caller, whole, ((),) * SEATS, False, (), to_act=caller, turn=0)
    events: tuple[Event, ...] = (dealt,)
    if options.trump != "kaat":
        assert trump is not None
        card = trump if options.trump == "hidden" else None
        events += (TrumpChosen(caller, trump[-1], whole, (), to_act=caller, turn=1, card=card),)
    for event in events:
        state = COURT_PIECE.evolve(state, event)
    return Played(state, events)


def play(
    options: CourtPieceOptions,
    *tricks: str,
    caller: int = 0,
    trump: str | None = None,
    holding: Mapping[int, str] | None = None,
    totals: tuple[int, int] = (0, 0),
) -> Played:
    """A round from its beginning through these tricks."""
    return start(options, *tricks, caller=caller, trump=trump, holding=holding, totals=totals).then(*tricks)


def last_trick(
    options: CourtPieceOptions,
    trick: str,
    *,
    caller: int = 0,
    trump: str | None = None,
    collected: tuple[int, int] = (0, 0),
    totals: tuple[int, int] = (0, 0),
) -> Played:
    """A round's thirteenth trick; all others that nobody has collected lie in the middle."""
    table = start(options, trick, caller=caller, trump=trump, totals=totals)
    leader = int(trick[0])
    before = packed_trick(Trick(leader, b"", leader, 0, trump_from=SEATS)) * (TRICKS_IN_ROUND - 1)
    state = table.state._replace(
        middle=Middle(
            pile=TRICKS_IN_ROUND - 1 - sum(collected),
            collected=collected,
            tricks_finished=TRICKS_IN_ROUND - 1,
            packed_tricks=before,
        ),
        play=table.state.play._replace(leader=leader, winning=leader, to_act=leader),
    )
    return Played(state, table.events).then(trick)


def tricks_won_by(
    winners: Sequence[int], *, caller: int, trump: str, last_rank: str = "2", high_first: bool = False
) -> tuple[str, ...]:
    """A whole round, card by card, in which these thirteen seats win the tricks.

    Everybody can follow in the first twelve: three to each suit, of four neighbouring ranks each, won by the highest;
    the highest four ranks come last, or first. In the thirteenth everybody has a card of `last_rank` left, its winner
    that of the trump suit.
    """
    ranks = RANKS.replace(last_rank, "")
    groups = [ranks[0:4], ranks[4:8], ranks[8:12]]
    if high_first:
        groups.reverse()
    tricks: list[str] = []
    leader = caller
    for number, winner in enumerate(winners[:12]):
        suit, left = SUITS[number % 4], list(groups[number // 4])
        highest = left.pop()
        cards = [(highest if seat == winner else left.pop()) + suit for seat in _from(leader)]
        tricks.append(f"{leader}: {' '.join(cards)}")
        leader = winner
    others = iter([suit for suit in SUITS if suit != trump])
    last = [last_rank + (trump if seat == winners[12] else next(others)) for seat in _from(leader)]
    return (*tricks, f"{leader}: {' '.join(last)}")


def _hands(tricks: Sequence[str], holding: Mapping[int, str]) -> list[tuple[str, ...]]:
    hands: list[tuple[str, ...]] = [tuple(holding.get(seat, "").split()) for seat in range(SEATS)]
    for trick in tricks:
        leader, _, played = trick.partition(":")
        cards = [token.rstrip(AUTOMATIC) for token in played.split() if token not in _POWERS]
        for seat, card in zip(_from(int(leader)), cards, strict=False):
            hands[seat] = (*hands[seat], card)
    return hands


def _decided(state: State, events: tuple[Event, ...], decision: Decision) -> tuple[State, tuple[Event, ...]]:
    (seat,) = COURT_PIECE.turn(state).seats
    followed = COURT_PIECE.decide(state, seat, decision, NO_CHANCE)
    for event in followed:
        state = COURT_PIECE.evolve(state, event)
    return state, events + followed


def _from(leader: int) -> list[int]:
    return [(leader + step) % SEATS for step in range(SEATS)]
