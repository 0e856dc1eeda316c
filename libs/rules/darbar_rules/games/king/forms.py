"""In what the three games differ: deck, number of deals, who declares what and who leads. Open this to compare them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Final, NamedTuple

from darbar_rules.deal import Chance
from darbar_rules.games.king.contracts import (
    DECK_32,
    DECK_52,
    TRUMP,
    Contract,
    contracts_20,
    contracts_32,
    deck_of,
)
from darbar_rules.games.king.events import Hands
from darbar_rules.games.king.options import SEATS, King20Options, KingLongOptions, KingOptions, KingShortOptions

FIRST_DECLARER_CARD: Final = "2D"
TRUMPS_A_SEAT: Final = 2
NEGATIVES_A_SEAT: Final = 3
USES_OF_A_NEGATIVE: Final = 2
FORMS_KEPT: Final = 128
DECLARED_KEPT_MAX: Final = 1_024


class Declaration(NamedTuple):
    seat: int
    contract: str


@dataclass(frozen=True)
class Form(ABC):
    """One of the three games as a table plays it: the options say everything, all else follows from them."""

    options: KingOptions

    deck: ClassVar[tuple[int, ...]]
    deals: ClassVar[int]

    @cached_property
    def contracts(self) -> Mapping[str, Contract]:
        """Everything that can be played, in the order of its list."""
        return {contract.name: contract for contract in self._contracts()}

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.contracts)

    @abstractmethod
    def _contracts(self) -> tuple[Contract, ...]: ...

    @abstractmethod
    def first(self, hands: Hands, chance: Chance) -> int:
        """Who declares the first deal, or leads it where nobody declares; later deals go round from there."""

    @abstractmethod
    def remaining(self, declared: tuple[Declaration, ...]) -> tuple[tuple[str, ...], ...]:
        """By seat: the contracts that it could declare now; nothing where nobody declares."""

    def leader(self, first: int) -> int:
        """Who leads the first trick of a deal."""
        return first

    def fixed(self, round: int) -> str | None:
        """The contract of a deal that nobody declares."""
        return None

    def forced(self, remaining: tuple[str, ...]) -> str | None:
        """What is declared without asking."""
        return None

    @property
    def is_blind(self) -> bool:
        """Whether the declarer chooses before anybody looks at the cards."""
        return False


@dataclass(frozen=True)
class Form20(Form):
    """52 cards, 20 hands: each player declares two trumps and three negatives, each negative comes twice at most."""

    options: King20Options

    deck: ClassVar[tuple[int, ...]] = deck_of(DECK_52)
    deals: ClassVar[int] = 20

    def _contracts(self) -> tuple[Contract, ...]:
        return contracts_20(self.options)

    def first(self, hands: Hands, chance: Chance) -> int:
        return next(seat for seat, hand in enumerate(hands) if FIRST_DECLARER_CARD in hand)

    def remaining(self, declared: tuple[Declaration, ...]) -> tuple[tuple[str, ...], ...]:
        return _remaining_20(self.names, declared)


@dataclass(frozen=True)
class FormShort(Form):
    """32 cards, 14 deals in the order of the list; a lot says who leads the first."""

    options: KingShortOptions

    deck: ClassVar[tuple[int, ...]] = deck_of(DECK_32)
    deals: ClassVar[int] = 14

    def _contracts(self) -> tuple[Contract, ...]:
        return contracts_32(self.options)

    def first(self, hands: Hands, chance: Chance) -> int:
        return chance.lot("first_leader", SEATS)

    def fixed(self, round: int) -> str | None:
        return self.names[round - 1]

    def remaining(self, declared: tuple[Declaration, ...]) -> tuple[tuple[str, ...], ...]:
        return ((),) * SEATS


@dataclass(frozen=True)
class FormLong(Form):
    """32 cards, 56 deals: each player declares each of the fourteen contracts once; a lot says who begins."""

    options: KingLongOptions

    deck: ClassVar[tuple[int, ...]] = deck_of(DECK_32)
    deals: ClassVar[int] = 56

    def _contracts(self) -> tuple[Contract, ...]:
        return contracts_32(self.options)

    def first(self, hands: Hands, chance: Chance) -> int:
        return chance.lot("first_declarer", SEATS)

    def leader(self, first: int) -> int:
        return first if self.options.first_leader == "chooser" else (first + 1) % SEATS

    def remaining(self, declared: tuple[Declaration, ...]) -> tuple[tuple[str, ...], ...]:
        return _remaining_long(self.names, declared)

    def forced(self, remaining: tuple[str, ...]) -> str | None:
        return remaining[0] if len(remaining) == 1 else None

    @property
    def is_blind(self) -> bool:
        return self.options.blind_choice


# What is declared changes once a round, and is looked at with each card.
@lru_cache(maxsize=DECLARED_KEPT_MAX)
def _remaining_20(names: tuple[str, ...], declared: tuple[Declaration, ...]) -> tuple[tuple[str, ...], ...]:
    uses = [declaration.contract for declaration in declared]
    free = tuple(name for name in names if name != TRUMP and uses.count(name) < USES_OF_A_NEGATIVE)
    trumps, negatives = declared_by_seat(declared)
    return tuple(
        (TRUMP,) * (trumps[seat] < TRUMPS_A_SEAT) + (free if negatives[seat] < NEGATIVES_A_SEAT else ())
        for seat in range(SEATS)
    )


@lru_cache(maxsize=DECLARED_KEPT_MAX)
def _remaining_long(names: tuple[str, ...], declared: tuple[Declaration, ...]) -> tuple[tuple[str, ...], ...]:
    done: tuple[set[str], ...] = tuple(set() for _ in range(SEATS))
    for seat, contract in declared:
        done[seat].add(contract)
    return tuple(tuple([name for name in names if name not in declared_once]) for declared_once in done)


@lru_cache(maxsize=DECLARED_KEPT_MAX)
def declared_by_seat(declared: tuple[Declaration, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many trump contracts, and how many negative ones, each seat has declared."""
    trumps, negatives = [0] * SEATS, [0] * SEATS
    for seat, contract in declared:
        if contract == TRUMP:
            trumps[seat] += 1
        else:
            negatives[seat] += 1
    return tuple(trumps), tuple(negatives)


@lru_cache(maxsize=FORMS_KEPT)
def form_of(options: KingOptions) -> Form:
    """The game of these options; the same object for equal ones."""
    match options:
        case King20Options():
            return Form20(options)
        case KingShortOptions():
            return FormShort(options)
        case KingLongOptions():
            return FormLong(options)
