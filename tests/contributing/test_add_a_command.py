"""docs/howto/add-a-command.md says all that a command needs: what is left out is found by the types."""

from __future__ import annotations

import pytest
from guide import RUN_SECONDS_MAX, Copy, steps_of

pytestmark = pytest.mark.timeout(RUN_SECONDS_MAX)

PAGE = "add-a-command.md"


def test_the_page_has_steps() -> None:
    assert len(steps_of(PAGE)) > 10


def test_a_command_that_nobody_decides_and_an_event_that_changes_nothing_are_found(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    forgetful = Copy(tmp_path_factory.mktemp("forgetful"))
    forgotten = ("domain/evolve.py", "domain/decide.py")
    forgetful.follow(PAGE, but=lambda step: step.path.endswith(forgotten))
    with pytest.raises(AssertionError) as found:
        forgetful.mypy("services/table/darbar_table/domain")
    for path in forgotten:
        assert f"darbar_table/{path}" in str(found.value)
    assert "assert_never" in str(found.value)
