"""What a Court Piece table can choose. Open this to add or bound an option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from darbar_rules.cards import CARDS_IN_DECK, RANKS, TEXTS
from darbar_rules.game import OptionInvalid

TrumpMode = Literal["hidden", "open", "kaat"]
PileSizes = Literal["3-2-2", "5-3-3"]

SEATS: Final = 4


@dataclass(frozen=True, slots=True)
class CourtPieceOptions:
    """Chosen when the table is made, and never changed."""

    trump: TrumpMode = "hidden"
    piles: PileSizes = "3-2-2"
    ace_cannot_win_pile: bool = False
    winning_points: int = 10
    four_point_card: str | None = None  # a rank ("2") or a card ("2S")
    six_point_finish: bool = False
    honour_threshold: int = 11
    show_on_lead_must_lead_trump: bool = False
    fresh_win_must_be_after_showing: bool = False
    kaat_sweep_always_two: bool = False


VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "trump": ("hidden", "open", "kaat"),
    "piles": ("3-2-2", "5-3-3"),
    "ace_cannot_win_pile": (False, True),
    "winning_points": tuple(range(10, 101)),
    "four_point_card": (None, *RANKS, *TEXTS[:CARDS_IN_DECK]),
    "six_point_finish": (False, True),
    "honour_threshold": (11, 9, 10, 12, 13, 14, 15, 16),
    "show_on_lead_must_lead_trump": (False, True),
    "fresh_win_must_be_after_showing": (False, True),
    "kaat_sweep_always_two": (False, True),
}

# An option that could have no effect at a table is not offered there, so that its option list tells no untruth.
_ONLY_WITH_TRUMP: Final[Mapping[str, TrumpMode]] = {
    "show_on_lead_must_lead_trump": "hidden",
    "fresh_win_must_be_after_showing": "hidden",
    "kaat_sweep_always_two": "kaat",
}


def check(options: CourtPieceOptions) -> None:
    """Raise OptionInvalid for the first option that is not offered."""
    for name, values in VALUES.items():
        value = getattr(options, name)
        # True equals 1 and 10.0 equals 10, but neither is what was offered.
        if not any(type(value) is type(offered) and value == offered for offered in values):
            raise OptionInvalid(name, _SENTENCES[name])
    if options.six_point_finish and options.four_point_card is None:
        raise OptionInvalid("six_point_finish", "can be on only together with a four-point card.")
    for name, mode in _ONLY_WITH_TRUMP.items():
        if getattr(options, name) and options.trump != mode:
            raise OptionInvalid(name, f"can be on only where the trump is {mode}.")


_ON_OR_OFF: Final = "must be on or off."
_SENTENCES: Final[Mapping[str, str]] = {
    "trump": "must be hidden, open or kaat.",
    "piles": "must be 3-2-2 or 5-3-3.",
    "ace_cannot_win_pile": _ON_OR_OFF,
    "winning_points": "must be a whole number from 10 to 100.",
    "four_point_card": 'must be a rank ("2") or a card ("2S").',
    "six_point_finish": _ON_OR_OFF,
    "honour_threshold": "must be a whole number from 9 to 16.",
    "show_on_lead_must_lead_trump": _ON_OR_OFF,
    "fresh_win_must_be_after_showing": _ON_OR_OFF,
    "kaat_sweep_always_two": _ON_OR_OFF,
}


# What each option changes, for whoever makes a table.
EXPLAINED: Final[Mapping[str, str]] = {
    "trump": "Hidden: the caller lays a trump face down; open: names the suit; kaat: the first discard fixes it.",
    "piles": "How many tricks the first pile and each later one must hold before they can be picked up.",
    "ace_cannot_win_pile": "A trick won with an ace picks nothing up, but for the last one.",
    "winning_points": "The first team with so many points wins the game.",
    "four_point_card": "A rank or a card: all 13 tricks with such a card winning the last one are worth 4 points.",
    "six_point_finish": "With a four-point card: 6 points when the partner's last card is its equal and unbeaten.",
    "honour_threshold": "From so many of the 16 honours in one team on, a deal counts as one-sided.",
    "show_on_lead_must_lead_trump": "Hidden: a caller who shows the trump before leading must lead one.",
    "fresh_win_must_be_after_showing": "Hidden: only a card played after the showing counts as a fresh win.",
    "kaat_sweep_always_two": "Kaat: all 13 tricks are worth 2 points, whoever fixed the trump.",
}
