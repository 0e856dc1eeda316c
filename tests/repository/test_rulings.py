"""Rules in documents and numbers in code agree. Open this when a rule is nowhere held, or a number means nothing.

That each ruling of a game is held by a test of the rules is checked beside those tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import pytest
from tracked import Source, expect_none, sources

from darbar_rules.games import BY_NAME

NUMBER = re.compile(r"(?<![A-Za-z0-9-])(GEN|CP|K20|K32|KR|TL)-(\d+)(?:(?:\.\.| to \1-)(\d+))?(b?)(?![0-9A-Za-z])")
RULE = re.compile(r"^- \*\*((?:GEN|TL)-\d+)\*\* (.*)$", re.MULTILINE)
NOT_BUILT = "not built yet"


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


def unheld_rules(rules: Mapping[str, str], named: set[str]) -> Iterator[str]:
    for number, text in rules.items():
        if number not in named and NOT_BUILT not in text.lower():
            yield f"{number} is written down, and no code or test names it"


def all_rules() -> dict[str, str]:
    tables = [source for source in sources() if source.path == "docs/tables.md"]
    return {number: text for book in tables + game_books() for number, text in rules_of(book).items()}


def code() -> list[Source]:
    return [source for source in sources() if source.is_python and not source.path.startswith("tests/repository/")]


def test_every_number_in_the_code_is_a_rule_in_a_document() -> None:
    rules = all_rules()
    assert rules
    expect_none(finding for source in code() for finding in unwritten_numbers(source, rules))


def test_every_rule_in_a_document_is_named_in_the_code() -> None:
    expect_none(unheld_rules(all_rules(), set().union(*(named_in(source.text) for source in code()))))


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


def test_a_planted_rule_that_nobody_names_is_found() -> None:
    tables = Source("docs/tables.md", "- **TL-1** A.\n- **TL-2** Not built yet: B.\n- **TL-3** C, see TL-9.\n")
    assert list(unheld_rules(rules_of(tables), {"TL-1"})) == ["TL-3 is written down, and no code or test names it"]
    game = Source("docs/rules/a.md", "Leaders lead. (CP-4, CP-14b, CP-20 to CP-22)\n")
    assert list(unheld_rules(rules_of(game), {"CP-4", "CP-20", "CP-21", "CP-22"})) == [
        "CP-14b is written down, and no code or test names it"
    ]
