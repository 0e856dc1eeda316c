"""From a shuffle to four hands, and how anyone can check a deal afterwards. Open this about fair deals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from darbar_rules.cards import TEXTS, unpacked
from darbar_rules.deal import Chance
from darbar_rules.games.king.events import DealRecord, Declared, Event, Hands, RoundDealt
from darbar_rules.games.king.forms import Form
from darbar_rules.games.king.options import SEATS
from darbar_rules.games.king.state import State

FIRST_ROUND: Final = 1


def deal_round(state: State, chance: Chance) -> tuple[Event, ...]:
    """The cards of the next round; when its declarer has one contract left (the long game), that is declared too."""
    form, match = state.form, state.match
    assert match.phase == "waiting", "the table deals only between rounds"
    hands = hands_of(form, chance)
    first = form.first(hands, chance) if match.first is None else (match.first + 1) % SEATS
    leader = form.leader(first)
    fixed = form.fixed(match.round + 1)
    forced = form.forced(form.remaining(match.declared)[first])
    dealt = RoundDealt(
        round=match.round + 1,
        leader=leader,
        hands=hands,
        turn=0,
        declarer=first if fixed is None else None,
        contract=fixed,
        blind=form.is_blind,
        to_act=None if forced else first if fixed is None else leader,
    )
    if forced is None:
        return (dealt,)
    return dealt, Declared(first, forced, turn=1, to_act=leader, forced=True)


def hands_of(form: Form, chance: Chance) -> Hands:
    """A permutation of the deck, a quarter of it for each seat, seat 0 first."""
    order = chance.order("deal", 0, len(form.deck))
    held = len(order) // SEATS
    return tuple(
        tuple(TEXTS[form.deck[place]] for place in order[seat * held : (seat + 1) * held]) for seat in range(SEATS)
    )


def deal_record(state: State) -> DealRecord | None:
    """How this round's cards were dealt, to be shown when it is over or broken off; None before the first deal."""
    deal = state.deal
    if state.match.first is None:
        return None
    return DealRecord(deal.leader, unpacked(deal.hands), deal.declarer)


def differences(form: Form, record: DealRecord, chance: Chance, round: int) -> tuple[str, ...]:
    """Deal a round again from its seeds, and name what differs from the record; empty when the deal is proven.

    The record may come from somebody who cheats: whatever it holds, the answer is a list of differences.
    """
    if len(record.hands) != SEATS:
        return (f"hands: {len(record.hands)} of them",)
    return tuple(_differences(form, record, chance, round))


def _differences(form: Form, record: DealRecord, chance: Chance, round: int) -> Iterator[str]:
    declares = form.fixed(round) is None
    if declares != (record.declarer is not None):
        yield "declarer: every deal has one" if declares else "declarer: nobody declares"
        return
    first = record.leader if record.declarer is None else record.declarer
    if first not in range(SEATS):
        yield f"declarer or leader: there is no seat {first}"
    elif record.leader != form.leader(first):
        yield f"leader: with this declarer it is seat {form.leader(first)}"
    hands = hands_of(form, chance)
    if round == FIRST_ROUND and first != form.first(hands, chance):
        yield f"declarer or leader: the first one was seat {form.first(hands, chance)}"
    for seat, due in enumerate(hands):
        if record.hands[seat] != due:
            yield f"hands: seat {seat} was due {' '.join(due)}"
