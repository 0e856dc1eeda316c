"""From a shuffle to the hands, and how anyone can check a deal afterwards. Open this about fair deals (KR-2, KR-10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from darbar_rules.cards import TEXTS, unpacked
from darbar_rules.deal import Chance
from darbar_rules.games.kings_and_rebels.events import DealRecord, Hands, RoundDealt
from darbar_rules.games.kings_and_rebels.options import KingsAndRebelsOptions, Setup, setup_of
from darbar_rules.games.kings_and_rebels.state import State

FIRST_ROUND: Final = 1
# After so many deals that everybody passed, the first bidder has to bid: there is no further one (KR-10).
PASSED_OUT_MAX: Final = 2


def deal_round(state: State, chance: Chance) -> tuple[RoundDealt]:
    """The cards of the next round; the deal moves on by a seat each round (KR-5)."""
    assert state.match.phase == "waiting", "the table deals only between rounds"
    seats = state.setup.seats
    dealer = first_dealer(state.setup, chance) if state.match.dealer is None else (state.match.dealer + 1) % seats
    return (_dealt(state.setup, chance, number=state.match.round + 1, dealer=dealer, attempt=0, turn=0),)


def deal_again(state: State, chance: Chance, *, turn: int) -> RoundDealt:
    """Other cards for the same round, by the next dealer, when everybody has passed."""
    match = state.match
    assert match.dealer is not None
    dealer = (match.dealer + 1) % state.setup.seats
    return _dealt(state.setup, chance, number=match.round, dealer=dealer, attempt=state.deal.attempt + 1, turn=turn)


def first_dealer(setup: Setup, chance: Chance) -> int:
    return chance.lot("first_dealer", setup.seats)


def hands_of(setup: Setup, chance: Chance, *, attempt: int) -> Hands:
    """A permutation of the cards in use, an equal part of it for each seat, seat 0 first."""
    order = chance.order("deal", attempt, len(setup.deck))
    held = setup.held
    return tuple(
        tuple(TEXTS[setup.deck[place]] for place in order[seat * held : (seat + 1) * held])
        for seat in range(setup.seats)
    )


def deal_record(state: State) -> DealRecord | None:
    """How this round's cards were dealt, to be shown when it is over or broken off; None before the first deal."""
    if state.match.dealer is None:
        return None
    return DealRecord(state.match.dealer, state.deal.attempt, unpacked(state.deal.hands))


def differences(options: KingsAndRebelsOptions, record: DealRecord, chance: Chance, round: int) -> tuple[str, ...]:
    """Deal again from the seeds, and name what differs from the record; empty when the deal is proven.

    The record may come from somebody who cheats: whatever it holds, the answer is a list of differences.
    """
    setup = setup_of(options)
    if len(record.hands) != setup.seats:
        return (f"hands: {len(record.hands)} of them",)
    if record.attempt not in range(PASSED_OUT_MAX + 1):
        return (f"attempt: there is no deal {record.attempt}",)
    return tuple(_differences(setup, record, chance, round))


def _differences(setup: Setup, record: DealRecord, chance: Chance, round: int) -> Iterator[str]:
    if record.attempt and setup.options.last_seat_must_bid:
        yield "attempt: no deal can be passed out"
    if record.dealer not in range(setup.seats):
        yield f"dealer: there is no seat {record.dealer}"
    elif round == FIRST_ROUND:
        due = (first_dealer(setup, chance) + record.attempt) % setup.seats
        if record.dealer != due:
            yield f"dealer: it was seat {due}"
    for seat, hand in enumerate(hands_of(setup, chance, attempt=record.attempt)):
        if record.hands[seat] != hand:
            yield f"hands: seat {seat} was due {' '.join(hand)}"


def _dealt(setup: Setup, chance: Chance, *, number: int, dealer: int, attempt: int, turn: int) -> RoundDealt:
    return RoundDealt(
        round=number,
        dealer=dealer,
        hands=hands_of(setup, chance, attempt=attempt),
        turn=turn,
        to_act=(dealer + 1) % setup.seats,
        attempt=attempt,
        must_bid=attempt == PASSED_OUT_MAX,
    )
