"""What a Court Piece table can choose. Open this to add or bound an option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from darbar_rules.cards import CARDS_IN_DECK, RANKS, TEXTS
from darbar_rules.options import OptionInvalid, check_each, option

TrumpMode = Literal["hidden", "open", "kaat"]
PileSizes = Literal["3-2-2", "5-3-3"]

SEATS: Final = 4


@dataclass(frozen=True, slots=True)
class CourtPieceOptions:
    """Chosen when the table is made, and never changed."""

    trump: TrumpMode = option(
        "hidden", "Hidden: the caller lays a trump face down; open: names the suit; kaat: the first discard fixes it."
    )
    piles: PileSizes = option(
        "3-2-2", "How many tricks the first pile and each later one must hold before they can be picked up."
    )
    ace_cannot_win_pile: bool = option(False, "A trick won with an ace picks nothing up, but for the last one.")
    winning_points: int = option(10, "The first team with so many points wins the game.", minimum=10, maximum=100)
    four_point_card: str | None = option(
        None,
        "A rank or a card: all 13 tricks with such a card winning the last one are worth 4 points.",
        choices=(*RANKS, *TEXTS[:CARDS_IN_DECK]),
        written='a rank ("2") or a card ("2S")',
    )
    six_point_finish: bool = option(
        False, "With a four-point card: 6 points when the partner's last card is its equal and unbeaten."
    )
    honour_threshold: int = option(
        11, "From so many of the 16 honours in one team on, a deal counts as one-sided.", minimum=9, maximum=16
    )
    show_on_lead_must_lead_trump: bool = option(
        False, "Hidden: a caller who shows the trump before leading must lead one."
    )
    fresh_win_must_be_after_showing: bool = option(
        False, "Hidden: only a card played after the showing counts as a fresh win."
    )
    kaat_sweep_always_two: bool = option(False, "Kaat: all 13 tricks are worth 2 points, whoever fixed the trump.")


# An option that could have no effect at a table is not offered there, so that its option list tells no untruth.
_ONLY_WITH_TRUMP: Final[Mapping[str, TrumpMode]] = {
    "show_on_lead_must_lead_trump": "hidden",
    "fresh_win_must_be_after_showing": "hidden",
    "kaat_sweep_always_two": "kaat",
}


def check(options: CourtPieceOptions) -> None:
    """Raise OptionInvalid for the first option that is not offered."""
    check_each(options)
    if options.six_point_finish and options.four_point_card is None:
        raise OptionInvalid("six_point_finish", "can be on only together with a four-point card.")
    for name, mode in _ONLY_WITH_TRUMP.items():
        if getattr(options, name) and options.trump != mode:
            raise OptionInvalid(name, f"can be on only where the trump is {mode}.")
