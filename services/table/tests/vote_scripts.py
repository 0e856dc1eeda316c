"""Tables at which somebody may ask for something. Open this to write a test of votes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from table_scripts import DAN, Script

from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame
from darbar_table.domain.state import Phase


def refused(script: Script, reason: str, happens: Callable[[], object]) -> None:
    """It is refused for this reason, and nothing has changed."""
    before = script.table
    with pytest.raises(Refused) as raised:
        happens()
    assert raised.value.code == reason
    assert script.table is before


def seated(script: Script) -> tuple[str | None, ...]:
    return script.table.accounts


def between_rounds(rules: AnyGame | None = None) -> Script:
    """Four people, and the count-in for the second round; of King inside its stake unit."""
    script = Script().dealt() if rules is None else Script(rules=rules).dealt()
    script.play_round()
    return script.wallet() if script.phase is Phase.SETTLING else script


def waiting(*, rules: AnyGame | None = None) -> Script:
    """A game that waits: Dan has left the seat 3 between two rounds."""
    script = between_rounds(rules).leaves(DAN)
    assert script.phase is Phase.WAITING
    return script
