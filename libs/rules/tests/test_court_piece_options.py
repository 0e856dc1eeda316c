"""What a Court Piece table may be made with."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.games.court_piece.game import COURT_PIECE
from darbar_rules.games.court_piece.options import CourtPieceOptions
from darbar_rules.options import OptionInvalid
from darbar_rules.testing import option_values


def test_the_defaults_are_the_first_values_offered() -> None:
    defaults = CourtPieceOptions(**{name: values[0] for name, values in option_values(COURT_PIECE).items()})
    assert defaults == CourtPieceOptions()
    assert list(option_values(COURT_PIECE)) == list(CourtPieceOptions.__dataclass_fields__)
    COURT_PIECE.check_options(defaults)


@pytest.mark.parametrize(
    "values",
    [
        {"winning_points": 10},
        {"winning_points": 100},
        {"four_point_card": "2"},
        {"four_point_card": "T"},
        {"four_point_card": "AS"},
        {"four_point_card": "2", "six_point_finish": True},
        {"honour_threshold": 9},
        {"honour_threshold": 16},
        {"show_on_lead_must_lead_trump": True, "fresh_win_must_be_after_showing": True},
        {"trump": "kaat", "kaat_sweep_always_two": True},
        {"trump": "open", "piles": "5-3-3", "ace_cannot_win_pile": True},
    ],
)
def test_offered(values: dict[str, Any]) -> None:
    COURT_PIECE.check_options(CourtPieceOptions(**values))


@pytest.mark.parametrize(
    ("values", "option", "reason"),
    [
        ({"trump": "none"}, "trump", "must be hidden, open or kaat."),
        ({"piles": "4-2-2"}, "piles", "must be 3-2-2 or 5-3-3."),
        ({"ace_cannot_win_pile": 1}, "ace_cannot_win_pile", "must be on or off."),
        ({"winning_points": 9}, "winning_points", "must be a whole number from 10 to 100."),
        ({"winning_points": 101}, "winning_points", "must be a whole number from 10 to 100."),
        ({"winning_points": 10.0}, "winning_points", "must be a whole number from 10 to 100."),
        ({"honour_threshold": 8}, "honour_threshold", "must be a whole number from 9 to 16."),
        ({"honour_threshold": 17}, "honour_threshold", "must be a whole number from 9 to 16."),
        ({"four_point_card": "1"}, "four_point_card", 'must be a rank ("2") or a card ("2S").'),
        ({"four_point_card": ""}, "four_point_card", 'must be a rank ("2") or a card ("2S").'),
        ({"four_point_card": "AH#2"}, "four_point_card", 'must be a rank ("2") or a card ("2S").'),
        ({"six_point_finish": True}, "six_point_finish", "can be on only together with a four-point card."),
        ({"six_point_finish": 0}, "six_point_finish", "must be on or off."),
        (
            {"trump": "open", "show_on_lead_must_lead_trump": True},
            "show_on_lead_must_lead_trump",
            "can be on only where the trump is hidden.",
        ),
        ({"show_on_lead_must_lead_trump": 0}, "show_on_lead_must_lead_trump", "must be on or off."),
        (
            {"trump": "kaat", "fresh_win_must_be_after_showing": True},
            "fresh_win_must_be_after_showing",
            "can be on only where the trump is hidden.",
        ),
        ({"fresh_win_must_be_after_showing": None}, "fresh_win_must_be_after_showing", "must be on or off."),
        ({"kaat_sweep_always_two": True}, "kaat_sweep_always_two", "can be on only where the trump is kaat."),
        ({"kaat_sweep_always_two": "on"}, "kaat_sweep_always_two", "must be on or off."),
    ],
)
def test_not_offered(values: dict[str, Any], option: str, reason: str) -> None:
    with pytest.raises(OptionInvalid) as invalid:
        COURT_PIECE.check_options(CourtPieceOptions(**values))
    assert (invalid.value.option, invalid.value.reason) == (option, reason)
    assert str(invalid.value) == f"{option}: {reason}"
