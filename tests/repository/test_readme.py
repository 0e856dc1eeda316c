"""README keeps its promises: two commands, and a table that leads to the file to change. Open this when it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from test_docs import CODE_SPAN, exists
from test_tidy_files import make_targets
from tracked import ROOT, expect_none, tracked_paths

WHERE_TITLE = "## Where do I change ...?"
ROWS_MIN = 10


def where_rows(readme: str) -> list[tuple[str, str]]:
    """The rows of the table, as (what, where)."""
    _, _, after = readme.partition(WHERE_TITLE)
    section = after.split("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return [(row[0], row[1]) for row in cells[2:]]


def rows_that_lead_nowhere(readme: str, paths: frozenset[str]) -> Iterator[str]:
    for what, where in where_rows(readme):
        named = [span for span in CODE_SPAN.findall(where) if "/" in span or "." in span]
        if not named:
            yield f"{what}: names no path"
        yield from (f"{what}: there is no {path}" for path in named if not exists(path, paths))


def readme() -> str:
    return (ROOT / "README.md").read_text()


def test_the_two_commands_stand_alone_in_a_block() -> None:
    blocks = re.findall(r"^```\w*\n(.*?)^```", readme(), re.MULTILINE | re.DOTALL)
    commands = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    assert "make run" in commands
    assert "make test" in commands


def test_the_makefile_has_what_readme_and_continuous_integration_call() -> None:
    targets = {name for name, _ in make_targets((ROOT / "Makefile").read_text())}
    called = set(re.findall(r"^make (?:--\S+ )*(\w+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE))
    assert called == {"check", "test"}
    assert {"run", "demo", *called} <= targets


def test_every_row_of_where_do_i_change_leads_somewhere() -> None:
    assert len(where_rows(readme())) >= ROWS_MIN
    expect_none(rows_that_lead_nowhere(readme(), frozenset(tracked_paths())))


def unlinked_pages(readme: str, paths: frozenset[str]) -> Iterator[str]:
    """Every page of docs/ is reached from here; a folder by its own link."""
    linked = set(re.findall(r"\]\(([^)#]+)\)", readme))
    for path in sorted(paths):
        if re.fullmatch(r"docs/.*\.md", path) and not linked & {path, path.rpartition("/")[0] + "/"}:
            yield f"README.md leads nobody to {path}"


def test_readme_leads_to_every_page() -> None:
    expect_none(unlinked_pages(readme(), frozenset(tracked_paths())))


def test_a_planted_page_that_nobody_is_led_to_is_found() -> None:
    paths = frozenset({"docs/a.md", "docs/rules/b.md"})
    assert list(unlinked_pages("[a](docs/a.md)", paths)) == ["README.md leads nobody to docs/rules/b.md"]
    assert not list(unlinked_pages("[a](docs/a.md) [b](docs/rules/)", paths))


@pytest.mark.parametrize("where", ["`libs/nothing.py`", "somewhere"])
def test_a_planted_row_that_leads_nowhere_is_found(where: str) -> None:
    text = f"# X\n\n{WHERE_TITLE}\n\n| what | where |\n|---|---|\n| a rule | {where} |\n\n## Y\n"
    assert list(rows_that_lead_nowhere(text, frozenset({"libs/a.py"})))
