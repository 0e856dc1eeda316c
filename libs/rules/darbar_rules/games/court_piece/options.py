"""What a Court Piece table can choose. Open this to add or bound an option."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, get_args

from darbar_rules.cards import IDS, RANKS
from darbar_rules.game import OptionInvalid

TrumpMode = Literal["hidden", "open", "kaat"]
PileSizes = Literal["3-2-2", "5-3-3"]

WINNING_POINTS_MIN: Final = 10
WINNING_POINTS_MAX: Final = 100
HONOUR_THRESHOLD_MIN: Final = 9
HONOUR_THRESHOLD_MAX: Final = 16
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


# An option that could have no effect at a table is not offered there, so that its option list tells no untruth.
_ONLY_WITH_TRUMP: Final[dict[str, TrumpMode]] = {
    "show_on_lead_must_lead_trump": "hidden",
    "fresh_win_must_be_after_showing": "hidden",
    "kaat_sweep_always_two": "kaat",
}


def check(options: CourtPieceOptions) -> None:
    """Raise OptionInvalid for the first option that is not offered."""
    _check_choice(options, "trump", get_args(TrumpMode))
    _check_choice(options, "piles", get_args(PileSizes))
    for option in fields(options):
        if option.default is False and not isinstance(getattr(options, option.name), bool):
            raise OptionInvalid(option.name, "must be on or off.")
    _check_range(options, "winning_points", WINNING_POINTS_MIN, WINNING_POINTS_MAX)
    _check_range(options, "honour_threshold", HONOUR_THRESHOLD_MIN, HONOUR_THRESHOLD_MAX)
    _check_finishes(options)
    for name, mode in _ONLY_WITH_TRUMP.items():
        if getattr(options, name) and options.trump != mode:
            raise OptionInvalid(name, f"can be on only where the trump is {mode}.")


def _check_choice(options: CourtPieceOptions, name: str, choices: tuple[str, ...]) -> None:
    if getattr(options, name) not in choices:
        raise OptionInvalid(name, f"must be one of {', '.join(choices)}.")


def _check_range(options: CourtPieceOptions, name: str, least: int, most: int) -> None:
    value = getattr(options, name)
    if type(value) is not int or not least <= value <= most:
        raise OptionInvalid(name, f"must be a whole number from {least} to {most}.")


def _check_finishes(options: CourtPieceOptions) -> None:
    card = options.four_point_card
    if card is not None and card not in tuple(RANKS) and card not in IDS:
        raise OptionInvalid("four_point_card", 'must be a rank ("2") or a card ("2S").')
    if options.six_point_finish and card is None:
        raise OptionInvalid("six_point_finish", "can be on only together with a four-point card.")
