"""What players say to each other at a table: phrases by key, and votes. Open this to add a phrase."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

# What can be said at a table, by key: clients have the words. Add one, never rename one (TL-45).
Phrase = Literal[
    "hello",
    "good_luck",
    "well_played",
    "thank_you",
    "sorry",
    "oops",
    "hurry_up",
    "one_moment",
    "good_game",
    "goodbye",
    "laughing",
    "surprised",
    "sad",
    "angry",
    "thumbs_up",
    "clapping",
]
# What a vote is about: another partner (TL-5), a bot for a seat (TL-26), ending the game (TL-39).
VoteAbout = Literal["partner", "bot", "end_game"]


class VoteView(msgspec.Struct, frozen=True):
    """A vote that runs, the same for everybody: who has asked, who has agreed, who has not answered yet.

    `number` is the version at which it was asked, `about_seat` the seat it concerns. One "no" ends it.
    """

    number: int
    about: VoteAbout
    about_seat: int | None
    asked_by: int
    waits_for: tuple[int, ...]
    agreed: tuple[int, ...] = ()

    def after_yes(self, seat: int) -> VoteView:
        return replace(self.without(seat), agreed=(*self.agreed, seat))

    def without(self, seat: int) -> VoteView:
        """Whoever left has no say any more."""
        return replace(self, waits_for=_without(self.waits_for, seat), agreed=_without(self.agreed, seat))

    def with_newcomer(self, seat: int) -> VoteView:
        """Whoever sat down is asked too, with the time that is left."""
        return replace(self, waits_for=(*self.waits_for, seat))


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(other for other in seats if other != seat)
