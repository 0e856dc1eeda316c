"""What a King table can choose, game by game. Open this to add an option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from darbar_rules.game import OptionInvalid

HeartsBrokenBy = Literal["discard", "played", "never"]
FirstLeader = Literal["chooser", "next"]

SEATS: Final = 4


@dataclass(frozen=True, slots=True)
class King20Options:
    """King in 20 hands. Chosen when the table is made, and never changed."""

    hearts_broken_by: HeartsBrokenBy = "discard"
    must_overtrump: bool = False
    must_underplay: bool = False
    heart_forced_in_king_of_hearts: bool = False
    early_stop: bool = True


@dataclass(frozen=True, slots=True)
class KingShortOptions:
    """King with 32 cards, 14 deals in a fixed order."""

    early_stop: bool = True
    positive_restrictions: bool = True


@dataclass(frozen=True, slots=True)
class KingLongOptions:
    """King with 32 cards, in which each player declares all 14 contracts."""

    early_stop: bool = True
    positive_restrictions: bool = True
    blind_choice: bool = False
    first_leader: FirstLeader = "chooser"


KingOptions = King20Options | KingShortOptions | KingLongOptions

VALUES_20: Final[Mapping[str, tuple[Any, ...]]] = {
    "hearts_broken_by": ("discard", "played", "never"),
    "must_overtrump": (False, True),
    "must_underplay": (False, True),
    "heart_forced_in_king_of_hearts": (False, True),
    "early_stop": (True, False),
}
VALUES_SHORT: Final[Mapping[str, tuple[Any, ...]]] = {
    "early_stop": (True, False),
    "positive_restrictions": (True, False),
}
VALUES_LONG: Final[Mapping[str, tuple[Any, ...]]] = {
    **VALUES_SHORT,
    "blind_choice": (False, True),
    "first_leader": ("chooser", "next"),
}

_ON_OR_OFF: Final = "must be on or off."
_SENTENCES: Final[Mapping[str, str]] = {
    "hearts_broken_by": "must be discard, played or never.",
    "first_leader": "must be chooser or next.",
}


def check(options: KingOptions, values: Mapping[str, tuple[Any, ...]]) -> None:
    """Raise OptionInvalid for the first option that is not offered."""
    for name, offered in values.items():
        value = getattr(options, name)
        # 1 equals True, but it is not what was offered.
        if not any(type(value) is type(one) and value == one for one in offered):
            raise OptionInvalid(name, _SENTENCES.get(name, _ON_OR_OFF))


# What each option changes, for whoever makes a table.
EXPLAINED: Final[Mapping[str, str]] = {
    "hearts_broken_by": "When hearts may be led: once one was discarded, once one was played, or never.",
    "must_overtrump": "In a trump contract, who is void and can beat the highest trump lying must do so.",
    "must_underplay": "With boys or girls, a penalty card that is beaten anyway must be played under it.",
    "heart_forced_in_king_of_hearts": "In the king of hearts contract, who is void must throw a heart.",
    "early_stop": "A deal ends when its last penalty card is taken.",
    "positive_restrictions": "The limits on hearts hold in the positive deals as well.",
    "blind_choice": "The contract is chosen before the cards are seen.",
    "first_leader": "Who leads the first trick: whoever chose the contract, or the next seat.",
}
