"""What every bot is: a function from a view to a decision. Open this to write one."""

from __future__ import annotations

from typing import Any, Protocol


class ViewInvalid(Exception):
    """This is no view of a seat that may decide something now."""


class Policy(Protocol):
    """Decides for the seat whose view it is given, and for nobody else.

    It has no memory, no clock and no dice: the same view gives the same decision, in any process and after any restart.
    """

    def decide(self, view: Any) -> Any:
        """One of the decisions that are legal for the seat. Raises ViewInvalid; `view` is the game's `view_type`."""
