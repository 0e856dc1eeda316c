"""Every rule in a document is held by a marked test, and every number in code is a rule. Open this when one is not.

A rule is held by `@pytest.mark.ruling("CP-9")` on a test that pytest collects; a mention anywhere else holds nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from ruling_marks import WORD
from tracked import ROOT, Source, expect_none, sources

from darbar_kit.settings import environment
from darbar_rules.games import BY_NAME

NUMBER = re.compile(r"(?<![A-Za-z0-9-])(GEN|CP|K20|K32|KR|TL)-(\d+)(?:(?:\.\.| to \1-)(\d+))?(b?)(?![0-9A-Za-z])")
RULE = re.compile(r"^- \*\*((?:GEN|TL)-\d+)\*\* (.*)$", re.MULTILINE)
NOT_BUILT = "not built yet"
COLLECTING_SECONDS_MAX = 100
# The rules of games that every test of them must hold to are named in the names of these tests.
RULES_TESTS = "libs/rules/tests/"


def rules_of(book: Source) -> dict[str, str]:
    """Number and the line it begins. A game's rules are prose, and name their numbers in brackets."""
    if book.path == "docs/tables.md":
        return {found[1]: found[2] for found in RULE.finditer(book.text)}
    return dict.fromkeys(named_in(book.text), "")


def named_in(text: str) -> set[str]:
    """`TL-20..22` names three, and so does `TL-20 to TL-22`."""
    named: set[str] = set()
    for book, first, last, letter in NUMBER.findall(text):
        named |= {f"{book}-{number}" for number in range(int(first), int(last or first))}
        named.add(f"{book}-{last or first}{letter}")
        if last:
            named.add(f"{book}-{last}")
    return named


def unwritten_numbers(source: Source, rules: Mapping[str, str]) -> Iterator[str]:
    """Of the books that are written; that no game lacks its book is a check of its own."""
    books = {rule.split("-")[0] for rule in rules}
    for number in sorted(named_in(source.text) - set(rules)):
        if number.split("-")[0] in books:
            yield f"{source.path} names {number}, which no document has"


def games_without_a_book(names: Iterable[str], books: Iterable[Source]) -> Iterator[str]:
    """A file of the game's name, or one that names it in code marks."""
    written = list(books)
    for name in names:
        if not any(book.name == f"{name}.md" or f"`{name}`" in book.text for book in written):
            yield f"no document in docs/rules is about {name}"


def game_books() -> list[Source]:
    return [source for source in sources() if source.path.startswith("docs/rules/")]


def unheld_rules(rules: Mapping[str, str], marks: Iterable[tuple[str, str]]) -> Iterator[str]:
    held = {number for number, _ in marks}
    for number, text in rules.items():
        if number not in held and NOT_BUILT not in text.lower():
            yield f"{number} is written down, and no test is marked with it"


def marks_without_a_rule(rules: Mapping[str, str], marks: Iterable[tuple[str, str]]) -> Iterator[str]:
    for number, test in marks:
        if number not in rules:
            yield f"{test} is marked with {number}, which no document has"


def misnamed_tests(marks: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A test of the rules has the number of what it holds in its name, so that `pytest -k cp_9` runs one ruling."""
    for number, test in marks:
        name = test.partition("::")[2]
        if test.startswith(RULES_TESTS) and not name.startswith(f"test_{number.lower().replace('-', '_')}_"):
            yield f"{test} is marked with {number}, and its name does not say so"


@cache
def marks() -> Sequence[tuple[str, str]]:
    """Each ruling with a test that is marked with it, of every file that has such a mark."""
    return collected([source.path for source in sources() if source.is_test and "mark.ruling" in source.text], ROOT)


def collected(files: Sequence[str], folder: Path) -> list[tuple[str, str]]:
    """Marks as pytest collects them: what it does not run holds nothing."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "ruling_marks", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [*command, *files],
        cwd=folder,
        env=environment() | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=COLLECTING_SECONDS_MAX,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    lines = [line.split("\t") for line in done.stdout.splitlines() if line.startswith(WORD)]
    return [(number, test) for _, number, test in lines]


def all_rules() -> dict[str, str]:
    tables = [source for source in sources() if source.path == "docs/tables.md"]
    return {number: text for book in tables + game_books() for number, text in rules_of(book).items()}


def code() -> list[Source]:
    return [source for source in sources() if source.is_python and not source.path.startswith("tests/repository/")]


def test_every_number_in_the_code_is_a_rule_in_a_document() -> None:
    rules = all_rules()
    assert rules
    expect_none(finding for source in code() for finding in unwritten_numbers(source, rules))


def test_every_rule_in_a_document_is_held_by_a_marked_test() -> None:
    assert len(marks()) > 400
    expect_none(unheld_rules(all_rules(), marks()))


def test_every_mark_is_a_rule_and_a_test_of_the_rules_says_it_in_its_name() -> None:
    expect_none(marks_without_a_rule(all_rules(), marks()))
    expect_none(misnamed_tests(marks()))


def test_every_game_has_its_rules_in_a_document() -> None:
    assert BY_NAME
    expect_none(games_without_a_book(BY_NAME, game_books()))


@pytest.mark.parametrize("text", ["# TL-99", "# TL-9..10", "# CP-14", '@pytest.mark.ruling("CP-99")', "see (GEN-10)"])
def test_a_planted_number_without_a_rule_is_found(text: str) -> None:
    rules = dict.fromkeys(("TL-9", "CP-14b", "CP-9", "GEN-1"), "")
    assert list(unwritten_numbers(Source("a.py", text), rules))


def test_a_planted_game_without_a_book_is_found() -> None:
    books = [Source("docs/rules/whist.md", "# Whist, and `solo_whist`")]
    assert not list(games_without_a_book(["whist", "solo_whist"], books))
    assert list(games_without_a_book(["bridge"], books))


def test_ranges_name_what_is_in_them() -> None:
    assert named_in("TL-8..10b, CP-3 to CP-4, GEN-1") == {"TL-8", "TL-9", "TL-10", "TL-10b", "CP-3", "CP-4", "GEN-1"}


def test_a_planted_rule_that_no_test_is_marked_with_is_found() -> None:
    tables = Source("docs/tables.md", "- **TL-1** A.\n- **TL-2** Not built yet: B.\n- **TL-3** C, see TL-9.\n")
    assert list(unheld_rules(rules_of(tables), [("TL-1", "x")])) == [
        "TL-3 is written down, and no test is marked with it"
    ]
    game = Source("docs/rules/a.md", "Leaders lead. (CP-4, CP-14b, CP-20 to CP-22)\n")
    held = [(number, "x") for number in ("CP-4", "CP-20", "CP-21", "CP-22")]
    assert list(unheld_rules(rules_of(game), held)) == ["CP-14b is written down, and no test is marked with it"]


def test_planted_marks_that_mean_nothing_are_found() -> None:
    assert list(marks_without_a_rule({"CP-4": ""}, [("CP-4", "a::b"), ("CP-5", "a::b")])) == [
        "a::b is marked with CP-5, which no document has"
    ]
    named = [("CP-4", "libs/rules/tests/test_x.py::test_cp_4_leads"), ("CP-4", "services/x.py::test_leads")]
    assert not list(misnamed_tests(named))
    assert list(misnamed_tests([("CP-4", "libs/rules/tests/test_x.py::test_cp_40_leads")]))


def test_a_mention_and_a_test_that_is_skipped_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = ruling(number): x\n")
    (tmp_path / "test_x.py").write_text(
        '"""TL-1 to TL-4."""\nimport pytest\n\n'
        '@pytest.mark.ruling("TL-1")\n@pytest.mark.parametrize("x", [1, 2])\ndef test_one(x): ...\n\n'
        '@pytest.mark.skip\n@pytest.mark.ruling("TL-2")\ndef test_two(): "TL-3"\n'
    )
    assert collected(["test_x.py"], tmp_path) == [("TL-1", "test_x.py::test_one")] * 2
