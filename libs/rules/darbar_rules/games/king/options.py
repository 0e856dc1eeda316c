"""What a King table can choose, game by game. Open this to add an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from darbar_rules.options import option

HeartsBrokenBy = Literal["discard", "played", "never"]
FirstLeader = Literal["chooser", "next"]

SEATS: Final = 4

_EARLY_STOP: Final = "A deal ends when its last penalty card is taken."
_POSITIVE_RESTRICTIONS: Final = "The limits on hearts hold in the positive deals as well."


@dataclass(frozen=True, slots=True)
class King20Options:
    """King in 20 hands. Chosen when the table is made, and never changed."""

    hearts_broken_by: HeartsBrokenBy = option(
        "discard", "When hearts may be led: once one was discarded, once one was played, or never."
    )
    must_overtrump: bool = option(
        False, "In a trump contract, who is void and can beat the highest trump lying must do so."
    )
    must_underplay: bool = option(
        False, "With boys or girls, a penalty card that is beaten anyway must be played under it."
    )
    heart_forced_in_king_of_hearts: bool = option(
        False, "In the king of hearts contract, who is void must throw a heart."
    )
    early_stop: bool = option(True, _EARLY_STOP)


@dataclass(frozen=True, slots=True)
class KingShortOptions:
    """King with 32 cards, 14 deals in a fixed order."""

    early_stop: bool = option(True, _EARLY_STOP)
    positive_restrictions: bool = option(True, _POSITIVE_RESTRICTIONS)


@dataclass(frozen=True, slots=True)
class KingLongOptions:
    """King with 32 cards, in which each player declares all 14 contracts."""

    early_stop: bool = option(True, _EARLY_STOP)
    positive_restrictions: bool = option(True, _POSITIVE_RESTRICTIONS)
    blind_choice: bool = option(False, "The contract is chosen before the cards are seen.")
    first_leader: FirstLeader = option(
        "chooser", "Who leads the first trick: whoever chose the contract, or the next seat."
    )


KingOptions = King20Options | KingShortOptions | KingLongOptions
