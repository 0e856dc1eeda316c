"""What King tables can choose, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from darbar_rules.game import AnyGame
from darbar_rules.games.king.game import KING_20, KING_LONG, KING_SHORT
from darbar_rules.games.king.options import King20Options, KingLongOptions, KingShortOptions
from darbar_rules.options import OptionInvalid
from darbar_rules.testing import option_values


def test_the_defaults() -> None:
    assert King20Options() == King20Options("discard", False, False, False, True)
    assert KingShortOptions() == KingShortOptions(True, True)
    assert KingLongOptions() == KingLongOptions(True, True, False, "chooser")


@pytest.mark.parametrize("game", [KING_20, KING_SHORT, KING_LONG], ids=lambda game: game.name)
def test_every_value_of_a_king_option_is_offered(game: AnyGame) -> None:
    for name, values in option_values(game).items():
        for value in values:
            game.check_options(game.options_type(**{name: value}))


@pytest.mark.parametrize(
    ("game", "values", "option", "reason"),
    [
        (KING_20, {"hearts_broken_by": "always"}, "hearts_broken_by", "must be discard, played or never."),
        (KING_20, {"hearts_broken_by": None}, "hearts_broken_by", "must be discard, played or never."),
        (KING_20, {"must_overtrump": 1}, "must_overtrump", "must be on or off."),
        (KING_20, {"must_underplay": "on"}, "must_underplay", "must be on or off."),
        (KING_20, {"heart_forced_in_king_of_hearts": 0}, "heart_forced_in_king_of_hearts", "must be on or off."),
        (KING_20, {"early_stop": None}, "early_stop", "must be on or off."),
        (KING_SHORT, {"early_stop": 1}, "early_stop", "must be on or off."),
        (KING_SHORT, {"positive_restrictions": 0}, "positive_restrictions", "must be on or off."),
        (KING_LONG, {"blind_choice": "yes"}, "blind_choice", "must be on or off."),
        (KING_LONG, {"first_leader": "dealer"}, "first_leader", "must be chooser or next."),
    ],
)
def test_not_offered_in_king(game: AnyGame, values: dict[str, Any], option: str, reason: str) -> None:
    with pytest.raises(OptionInvalid) as invalid:
        game.check_options(game.options_type(**values))
    assert (invalid.value.option, invalid.value.reason) == (option, reason)
