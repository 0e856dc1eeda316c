"""In what the three games differ: deck, number of deals, who declares what and who leads. Open this to compare them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

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


class Declaration(NamedTuple):
    seat: int
    contract: str
    suit: str | None = None


class Form(ABC):
    """One of the three games."""

    deck: tuple[int, ...]
    deals: int

    @abstractmethod
    def contracts(self, options: Any) -> tuple[Contract, ...]:
        """Everything that can be played, in the order of its list."""

    @abstractmethod
    def first(self, hands: Hands, chance: Chance) -> int:
        """Who declares the first deal, or leads it where nobody declares; later deals go round from there."""

    @abstractmethod
    def remaining(self, declared: Sequence[Declaration]) -> tuple[tuple[str, ...], ...]:
        """By seat: the contracts that it could declare now; nothing where nobody declares."""

    def leader(self, options: Any, first: int) -> int:
        """Who leads the first trick of a deal."""
        return first

    def fixed(self, round: int) -> str | None:
        """The contract of a deal that nobody declares."""
        return None

    def forced(self, remaining: tuple[str, ...]) -> str | None:
        """What is declared without asking."""
        return None

    def is_blind(self, options: Any) -> bool:
        """Whether the declarer chooses before anybody looks at the cards."""
        return False


@dataclass(frozen=True, slots=True)
class Terms:
    """What a table plays: a game, and its contracts as the options make them."""

    form: Form
    options: KingOptions
    contracts: Mapping[str, Contract] = field(repr=False)


def terms_of(form: Form, options: KingOptions) -> Terms:
    return Terms(form, options, {contract.name: contract for contract in form.contracts(options)})


class Form20(Form):
    """52 cards, 20 hands: each player declares two trumps and three negatives, each negative comes twice at most."""

    deck: tuple[int, ...] = deck_of(DECK_52)
    deals: int = 20
    names: tuple[str, ...] = tuple(contract.name for contract in contracts_20(King20Options()))

    def contracts(self, options: King20Options) -> tuple[Contract, ...]:
        return contracts_20(options)

    def first(self, hands: Hands, chance: Chance) -> int:
        return next(seat for seat, hand in enumerate(hands) if FIRST_DECLARER_CARD in hand)

    def remaining(self, declared: Sequence[Declaration]) -> tuple[tuple[str, ...], ...]:
        uses = [declaration.contract for declaration in declared]
        free = tuple(name for name in self.names if name != TRUMP and uses.count(name) < USES_OF_A_NEGATIVE)
        trumps, negatives = declared_by_seat(declared)
        return tuple(
            (TRUMP,) * (trumps[seat] < TRUMPS_A_SEAT) + (free if negatives[seat] < NEGATIVES_A_SEAT else ())
            for seat in range(SEATS)
        )


class FormShort(Form):
    """32 cards, 14 deals in the order of the list; a lot says who leads the first."""

    deck: tuple[int, ...] = deck_of(DECK_32)
    deals: int = 14
    names: tuple[str, ...] = tuple(contract.name for contract in contracts_32(KingShortOptions()))

    def contracts(self, options: KingShortOptions) -> tuple[Contract, ...]:
        return contracts_32(options)

    def first(self, hands: Hands, chance: Chance) -> int:
        return chance.lot("first_leader", SEATS)

    def fixed(self, round: int) -> str | None:
        return self.names[round - 1]

    def remaining(self, declared: Sequence[Declaration]) -> tuple[tuple[str, ...], ...]:
        return ((),) * SEATS


class FormLong(Form):
    """32 cards, 56 deals: each player declares each of the fourteen contracts once; a lot says who begins."""

    deck: tuple[int, ...] = deck_of(DECK_32)
    deals: int = 56
    names: tuple[str, ...] = tuple(contract.name for contract in contracts_32(KingLongOptions()))

    def contracts(self, options: KingLongOptions) -> tuple[Contract, ...]:
        return contracts_32(options)

    def first(self, hands: Hands, chance: Chance) -> int:
        return chance.lot("first_declarer", SEATS)

    def leader(self, options: KingLongOptions, first: int) -> int:
        return first if options.first_leader == "chooser" else (first + 1) % SEATS

    def remaining(self, declared: Sequence[Declaration]) -> tuple[tuple[str, ...], ...]:
        done: tuple[set[str], ...] = tuple(set() for _ in range(SEATS))
        for seat, contract, _ in declared:
            done[seat].add(contract)
        return tuple(tuple([name for name in self.names if name not in declared_once]) for declared_once in done)

    def forced(self, remaining: tuple[str, ...]) -> str | None:
        return remaining[0] if len(remaining) == 1 else None

    def is_blind(self, options: KingLongOptions) -> bool:
        return options.blind_choice


def declared_by_seat(declared: Sequence[Declaration]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How many trump contracts, and how many negative ones, each seat has declared."""
    trumps, negatives = [0] * SEATS, [0] * SEATS
    for seat, contract, _ in declared:
        if contract == TRUMP:
            trumps[seat] += 1
        else:
            negatives[seat] += 1
    return tuple(trumps), tuple(negatives)


FORM_20: Final[Form] = Form20()
FORM_SHORT: Final[Form] = FormShort()
FORM_LONG: Final[Form] = FormLong()
