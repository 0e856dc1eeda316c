"""The trump suit and the convert cards that a leader may name. Open this about naming (KR-11 to KR-14)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from darbar_rules.cards import CARDS_IN_DECK, IDS, SUITS, TEXTS
from darbar_rules.game import Legal, Refusal, RuleRefused, check_turn
from darbar_rules.games.kings_and_rebels.events import Convert, ConvertsNamed, Event, NameConverts
from darbar_rules.games.kings_and_rebels.options import TABLES_KEPT, Setup
from darbar_rules.games.kings_and_rebels.state import State

TRUMP_MARK: Final = "trump:"
COUNT_MARK: Final = "converts:"


@lru_cache(maxsize=TABLES_KEPT)
def legal_names(setup: Setup) -> Legal:
    """Suits as "trump:S", how many convert cards as "converts:3", and each of them as "AH:2", its second play."""
    return Legal(
        name=(
            *(TRUMP_MARK + suit for suit in SUITS),
            *(f"{COUNT_MARK}{count}" for count in range(1, setup.converts_max + 1)),
            *(
                f"{TEXTS[face]}:{ordinal}"
                for face in range(CARDS_IN_DECK)
                for ordinal in range(1, setup.copies[face] + 1)
            ),
        )
    )


@lru_cache(maxsize=TABLES_KEPT)
def namings(names: tuple[str, ...]) -> tuple[NameConverts, ...]:
    """Some of the decisions that such names stand for: each suit with each single card and each number of cards."""
    suits = [name.removeprefix(TRUMP_MARK) for name in names if name.startswith(TRUMP_MARK)]
    counts = [int(name.removeprefix(COUNT_MARK)) for name in names if name.startswith(COUNT_MARK)]
    converts = [_convert(name) for name in names[len(suits) + len(counts) :]]
    single = [NameConverts(suit, (convert,)) for suit in suits for convert in converts]
    several = [
        NameConverts(suit, _spread(converts, count, start=start * count))
        for start, suit in enumerate(suits)
        for count in counts
        if count > 1
    ]
    return (*single, *several)


def name_converts(state: State, seat: int, decision: NameConverts) -> tuple[Event, ...]:
    """All or nothing: one thing wrong, and nothing of it is named (KR-11)."""
    check_turn(state.play.to_act, seat)
    if state.match.phase != "naming":
        raise RuleRefused(Refusal.NOT_NOW)
    if decision.trump not in tuple(SUITS):
        raise RuleRefused(Refusal.SUIT_UNKNOWN, suit=decision.trump)
    converts = decision.converts
    if not isinstance(converts, tuple):
        raise RuleRefused(Refusal.CONVERT_UNKNOWN)
    if not 1 <= len(converts) <= state.setup.converts_max:
        raise RuleRefused(Refusal.CONVERT_COUNT_WRONG, most=state.setup.converts_max)
    for convert in converts:
        _check(state.setup, convert)
    if len(set(converts)) < len(converts):
        raise RuleRefused(Refusal.CONVERT_NAMED_TWICE)
    return (ConvertsNamed(seat, decision.trump, converts, turn=state.play.turn + 1, to_act=seat),)


def _check(setup: Setup, convert: Any) -> None:
    """A card in use, and a play of it that will come (KR-14)."""
    if not isinstance(convert, Convert) or type(convert.ordinal) is not int:
        raise RuleRefused(Refusal.CONVERT_UNKNOWN)
    face = IDS.get(convert.card)
    if face is None or not setup.copies[face]:
        raise RuleRefused(Refusal.CARD_UNKNOWN, card=convert.card)
    if not 1 <= convert.ordinal <= setup.copies[face]:
        raise RuleRefused(Refusal.CONVERT_UNKNOWN, card=convert.card, plays=setup.copies[face])


def _convert(name: str) -> Convert:
    card, _, ordinal = name.partition(":")
    return Convert(card, int(ordinal))


def _spread(converts: list[Convert], count: int, *, start: int) -> tuple[Convert, ...]:
    """So many different ones: two that stand side by side, the others from all over the list."""
    step = len(converts) // count
    places = [start + place * step for place in range(count)]
    places[-1] = places[0] + 1
    return tuple(converts[place % len(converts)] for place in places)
