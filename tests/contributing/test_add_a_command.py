"""docs/howto/add-a-command.md, done in a copy of the repository: the new command is decided, stored and shown."""

from __future__ import annotations

import pytest
from guide import RUN_SECONDS_MAX, Copy, steps_of

pytestmark = pytest.mark.timeout(RUN_SECONDS_MAX)

PAGE = "add-a-command.md"
CHANGED = ("libs/contracts", "services/table")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("add-a-command"))
    made.follow(PAGE)
    made.run("-m", "ruff", "check", "--quiet", "--fix", *CHANGED)
    made.run("-m", "ruff", "format", "--quiet", *CHANGED)
    made.run("services/table/tests/golden_log.py", "waving")
    made.run("tests/repository/write_documents.py")
    made.track()
    return made


def test_the_page_has_steps() -> None:
    assert len(steps_of(PAGE)) > 10


def test_the_new_command_is_tidy_and_has_types(copy: Copy) -> None:
    copy.run("-m", "ruff", "check", *CHANGED)
    copy.mypy("services/table/darbar_table")


def test_the_repository_with_the_new_command_passes_every_check_and_the_table_obeys(copy: Copy) -> None:
    tests = ("tests/repository", "services/table/tests/test_wave.py", "services/table/tests/test_table_events.py")
    said = copy.run("-m", "pytest", "-p", "no:cacheprovider", "-k", "not planted", *tests)
    assert "[100%]" in said


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
