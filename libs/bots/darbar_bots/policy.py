"""What every bot is: a function from a view to a decision. Open this to write one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from darbar_rules.game import Legal


class ViewInvalid(Exception):
    """This is no view of a seat that may decide something now."""


class Policy(Protocol):
    """Decides for the seat whose view it is given, and for nobody else.

    It has no memory, no clock and no dice: the same view gives the same decision, in any process and after any restart.
    """

    def decide(self, view: Any) -> Any:
        """One of the decisions that are legal for the seat. Raises ViewInvalid; `view` is the game's `view_type`."""


def check_turn(view: Any) -> None:
    """Raise ViewInvalid for the view of a spectator, or of a seat that may decide nothing."""
    if view.seat is None or view.legal == Legal():
        raise ViewInvalid("it is not this seat's turn")


@contextmanager
def naming_only_what_there_is() -> Iterator[None]:
    """Around reading a view: a card, suit, seat or contract that there is not makes it ViewInvalid."""
    try:
        yield
    except (KeyError, IndexError, ValueError) as missing:
        raise ViewInvalid(f"there is no {missing}") from missing
