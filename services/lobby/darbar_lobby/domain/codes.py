"""When a 6-digit code lives and what one looks like. Open this when a code opens nothing, or too much."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from darbar_lobby.domain.directory_model import DirectoryEntry

CODE_DIGITS = 6
CODES_COUNT = 10**CODE_DIGITS


class CodeStep(Enum):
    """What happens to a table's code."""

    KEEP = "keep"
    GIVE = "give"
    FREE = "free"


def code_step(entry: DirectoryEntry, kind: str, *, has_code: bool) -> CodeStep:
    """Freed at the first deal with every seat taken and when the table closes; given anew when a seat is free.

    Between the last seat's taking and the deal the code rests with its table: it opens nothing, and is the same again
    when somebody stands up.
    """
    if has_code and (entry.state == "closed" or (kind == "round_started" and not entry.free_seats)):
        return CodeStep.FREE
    if not has_code and entry.code_opens:
        return CodeStep.GIVE
    return CodeStep.KEEP


def new_code(below: Callable[[int], int]) -> str:
    """Six digits out of `below(n)`, a number from 0 to n-1 that nobody can foretell."""
    return f"{below(CODES_COUNT):0{CODE_DIGITS}d}"


def is_code(text: str) -> bool:
    return len(text) == CODE_DIGITS and text.isascii() and text.isdigit()
