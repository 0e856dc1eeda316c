"""A game, a command and a service are added to one copy of the repository, as the pages say: it passes every check,
the game every law, the table obeys the command and the service serves.
"""

from __future__ import annotations

import re

import pytest
from guide import RUN_SECONDS_MAX, Copy
from thirteen_tricks import NAME, add_game

pytestmark = pytest.mark.timeout(RUN_SECONDS_MAX)

CHANGED = ("libs/contracts", "services/table", "services/echo", "deploy/local")
TYPED = ("services/table/darbar_table", "services/echo", "libs/contracts")
LAWS_MIN = 20
LAWS = (
    "libs/rules/tests/test_laws.py",
    "libs/rules/tests/test_laws_of_hidden_information.py",
    "libs/rules/tests/test_golden_logs.py",
    "services/table/tests/test_table_non_interference.py",
)
# What these hold can't be broken by something new: they look at planted mistakes, at exceptions that are there, and at
# tests of rules that are written down already.
NOT_OF_NEW_THINGS = " and ".join(
    f"not {name}" for name in ("planted", "out_of_date", "held_by_a_marked", "every_mark_is", "a_mention_and_a_test")
)
CHECKS = (
    "tests/repository",
    "services/table/tests/test_wave.py",
    "services/table/tests/test_table_events.py",
    "services/echo",
    "deploy/local/tests/test_local_services.py",
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("every-page"))
    made.follow("add-a-service.md")
    made.run("-m", "ruff", "format", "--check", "services/echo")
    made.follow("add-a-command.md")
    made.run("-m", "ruff", "check", "--quiet", "--fix", *CHANGED)
    made.run("-m", "ruff", "format", "--quiet", *CHANGED)
    made.run("services/table/tests/golden_log.py", "waving")
    add_game(made)
    made.run("tests/repository/write_documents.py")
    made.track()
    return made


def test_what_is_new_is_tidy_and_has_types(copy: Copy) -> None:
    copy.run("-m", "ruff", "check", *CHANGED)
    copy.mypy(*TYPED)


def test_the_repository_passes_every_check_the_table_obeys_and_the_service_serves(copy: Copy) -> None:
    said = copy.run("-m", "pytest", "-p", "no:cacheprovider", "-k", NOT_OF_NEW_THINGS, *CHECKS)
    assert "[100%]" in said


def test_the_game_passes_every_law_of_the_rules_and_of_the_table(copy: Copy) -> None:
    said = copy.run("-m", "pytest", "-p", "no:cacheprovider", "-v", "-k", NAME, *LAWS)
    found = re.search(r"(\d+) passed", said)
    assert found is not None
    assert int(found[1]) >= LAWS_MIN


def test_the_game_is_played_to_its_end_over_real_sockets_and_proven(copy: Copy) -> None:
    said = copy.run("-m", "darbar_client.demo", "--game", NAME, "--url", "", "--seed", "1")
    assert "Thirteen tricks" in said
    assert said.count("  true ") == 4
