"""The words that the glossary gives up are given up everywhere. Open this when a word is refused."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

import pytest
from tracked import ROOT, Source, expect_none, sources

GLOSSARY = "docs/glossary.md"
TITLE = "## Words that are not used"
READ = (".py", ".sql", ".md", ".sh", "Makefile", ".toml", ".yaml")
SPAN = re.compile(r"`([^`]+)`")
SELF = frozenset({GLOSSARY, "tests/repository/test_words.py"})

# A word and the folders or files where it may stand.
Word = tuple[str, tuple[str, ...]]


def rows(glossary: str) -> tuple[list[Word], frozenset[str]]:
    """The words of the first table after the title, and the names of the second."""
    section = glossary.partition(TITLE)[2]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    words = [(SPAN.findall(cells[0])[0], tuple(SPAN.findall(cells[2]))) for cells in lines if len(cells) == 3]
    names = {name for cells in lines if len(cells) == 2 for name in SPAN.findall(cells[0])}
    return words, frozenset(names)


def words_given_up(source: Source, words: Sequence[Word]) -> Iterator[str]:
    """Also as a part of a name: `HouseKey`, `house_key`, `errands`."""
    if source.path in SELF or not source.path.endswith(READ):
        return
    refused = [word for word, places in words if not source.path.startswith(places)]
    if not refused:
        return
    pattern = re.compile(rf"(?<![a-z])({'|'.join(refused)})(?:e?s)?(?![a-z])", re.IGNORECASE)
    for number, line in enumerate(source.lines, 1):
        parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", line)
        if found := pattern.search(parted):
            yield f"{source.path}:{number}: {found[1]}: the glossary has another word"


def names_given_up(source: Source, names: frozenset[str]) -> Iterator[str]:
    """A file's name, and the name of a class, as a whole."""
    if not source.is_python:
        return
    if source.name.removesuffix(".py") in names:
        yield f"{source.path}: no file is called so: see the glossary"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.name.lstrip("_").lower() in names:
            yield f"{source.path}:{node.lineno}: no class is called {node.name}: see the glossary"


def given_up() -> tuple[list[Word], frozenset[str]]:
    return rows((ROOT / GLOSSARY).read_text())


def test_words_that_the_glossary_gives_up_are_used_nowhere() -> None:
    words, _ = given_up()
    assert words
    expect_none(finding for source in sources() for finding in words_given_up(source, words))


def test_names_that_the_glossary_gives_up_are_had_by_no_file_and_no_class() -> None:
    _, names = given_up()
    assert names
    expect_none(finding for source in sources() for finding in names_given_up(source, names))


def test_every_place_where_a_word_may_stand_is_there_and_has_it() -> None:
    words, _ = given_up()
    for word, places in words:
        for place in places:
            texts = [source.text.lower() for source in sources() if source.path.startswith(place)]
            assert any(word in text for text in texts), f"{word} is not in {place}"


@pytest.mark.parametrize(
    "text", ["an errand", "ERRANDS = 1", "class ErrandRunner", "log.info('errand_done')", "table_errands_total"]
)
def test_a_planted_word_is_found(text: str) -> None:
    assert list(words_given_up(Source("libs/x/a.py", text), [("errand", ())]))


@pytest.mark.parametrize("text", ["errandless = 1", "", "their armchair"])
def test_other_words_are_let_through(text: str) -> None:
    assert not list(words_given_up(Source("libs/x/a.py", text), [("errand", ()), ("heir", ()), ("chair", ())]))


def test_a_word_is_let_through_where_it_has_its_meaning() -> None:
    words = [("house", ("services/wallet/", "docs/tables.md"))]
    assert not list(words_given_up(Source("services/wallet/a.sql", "the house"), words))
    assert list(words_given_up(Source("services/table/a.sql", "the house"), words))


@pytest.mark.parametrize(
    ("path", "text"), [("a/line.py", ""), ("a/x.py", "class Line: ..."), ("a/x.py", "class _Line(Protocol): ...")]
)
def test_a_planted_name_is_found(path: str, text: str) -> None:
    assert list(names_given_up(Source(path, text), frozenset({"line"})))
    assert not list(names_given_up(Source("a/outline.py", "class LineReader: ...\nline = 1"), frozenset({"line"})))
