"""Documents that stay true: links, paths, commands, glossary, decisions. Open this when a document is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath

import pytest
from test_tidy_files import make_targets
from tracked import ROOT, Source, expect_none, sources, tracked_paths

DECISION_LINES_MAX = 60
DECISION_LINE_CHARACTERS_MAX = 120
DECISION_STATUSES = ("accepted", "replaced", "withdrawn")
DECISION_PARTS = (
    "## The question",
    "## What we chose",
    "## What we gave up",
    "## What would make us change our mind",
)

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
MAKE_COMMAND = re.compile(r"(?:^|`|\s)make ([a-z][a-z-]+)(?=[`\s]|$)", re.MULTILINE)
CODE_SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"(?:\.ci|bench|deploy|docs|libs|services|tests|web)/[\w./*<>-]*")
FIRST_CELL = re.compile(r"^\|([^|]*)\|", re.MULTILINE)
BOLD = re.compile(r"\*\*([^*]+)\*\*")
DECISION_NAME = re.compile(r"docs/decisions/(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md")


def broken_links(document: Source, paths: frozenset[str], texts: Mapping[str, str]) -> Iterator[str]:
    """Relative links lead to tracked files or folders; `#anchors` to a heading of the document they name."""
    for target in LINK.findall(FENCE.sub("", document.text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        resolved = normpath(join(dirname(document.path), path)) if path else document.path
        if not exists(resolved, paths):
            yield f"{document.path}: {target} leads nowhere"
        elif anchor and anchor not in anchors(texts.get(resolved, "")):
            yield f"{document.path}: no heading for {target}"


def anchors(text: str) -> set[str]:
    """The anchors that a reader of Markdown makes of its headings."""
    headings = HEADING.findall(FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def missing_paths(document: Source, paths: frozenset[str]) -> Iterator[str]:
    """A path in code marks is there; `<name>` and `*` stand for anything, and a prose `NNNN` for a number.

    Pages of docs/howto make new files; tests/contributing does what they say.
    """
    if document.path.startswith("docs/howto/"):
        return
    for span in CODE_SPAN.findall(FENCE.sub("", document.text)):
        for path in PATH.findall(span):
            if not exists(path.rstrip("."), paths):
                yield f"{document.path}: there is no {path}"


def exists(path: str, paths: frozenset[str]) -> bool:
    if path in paths or path == ".":
        return True
    holder = re.compile(re.escape(path.rstrip("/")).replace(r"\*", "[^/]*"), re.ASCII)
    pattern = re.compile(re.sub(r"<[^>]*>|NNNN", "[^/]*", holder.pattern) + "(/|$)")
    return any(pattern.match(candidate) for candidate in paths)


def unknown_make_targets(document: Source, targets: frozenset[str]) -> Iterator[str]:
    fences = "\n".join(FENCE.findall(document.text))
    spans = "\n".join(f"`{span}`" for span in CODE_SPAN.findall(FENCE.sub("", document.text)))
    for name in MAKE_COMMAND.findall(fences + "\n" + spans):
        if name not in targets:
            yield f"{document.path}: there is no `make {name}`"


def unused_terms(glossary: str, code: str) -> Iterator[str]:
    """A word of the glossary stands in the code, or the glossary has outlived it."""
    for term in terms(glossary):
        words = re.sub(r"[ -]", r"[\\s_-]*", term.lower())
        if not re.search(rf"(?<![a-z]){words}(?:e?s)?(?![a-z])", code):
            yield f"docs/glossary.md: nothing in the code is called {term}"


def terms(glossary: str) -> list[str]:
    """What is bold in the first cell of a row."""
    return [term for cell in FIRST_CELL.findall(glossary) for term in BOLD.findall(cell)]


def doubtful_decisions(decision: Source) -> Iterator[str]:
    if not DECISION_NAME.fullmatch(decision.path):
        yield f"{decision.path}: not NNNN-title.md"
    if len(decision.lines) > DECISION_LINES_MAX:
        yield f"{decision.path}: {len(decision.lines)} lines; a page has {DECISION_LINES_MAX}"
    if any(len(line) > DECISION_LINE_CHARACTERS_MAX for line in decision.lines):
        yield f"{decision.path}: a line over {DECISION_LINE_CHARACTERS_MAX} characters"
    status = re.search(r"^Status: (\w+)[^,]*, (\d{4}-\d{2}-\d{2})$", decision.text, re.MULTILINE)
    if not status or status[1] not in DECISION_STATUSES:
        yield f"{decision.path}: no line `Status: accepted, YYYY-MM-DD`"
    yield from (f"{decision.path}: no {part!r}" for part in DECISION_PARTS if part not in decision.lines)


def documents() -> list[Source]:
    return [source for source in sources() if source.path.endswith(".md")]


def decisions() -> list[Source]:
    return [source for source in documents() if source.path.startswith("docs/decisions/")]


def code() -> str:
    """All Python and SQL but the tests, in lower case, with `TableClosed` also read as `table_closed`."""
    written = [source for source in sources() if source.path.endswith((".py", ".sql")) and not source.is_test]
    text = "\n".join(source.text for source in written)
    return (text + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)).lower()


def test_every_link_leads_somewhere() -> None:
    paths = frozenset(tracked_paths())
    texts = {document.path: document.text for document in documents()}
    expect_none(finding for document in documents() for finding in broken_links(document, paths, texts))


def test_every_path_in_a_document_is_there() -> None:
    paths = frozenset(tracked_paths())
    expect_none(finding for document in documents() for finding in missing_paths(document, paths))


def test_every_make_command_in_a_document_is_a_target() -> None:
    targets = frozenset(name for name, _ in make_targets((ROOT / "Makefile").read_text()))
    expect_none(finding for document in documents() for finding in unknown_make_targets(document, targets))


def test_every_word_of_the_glossary_is_used_in_the_code() -> None:
    glossary = (ROOT / "docs/glossary.md").read_text()
    assert terms(glossary)
    expect_none(unused_terms(glossary, code()))


def test_every_decision_is_a_page_with_a_status_and_a_date() -> None:
    assert decisions()
    expect_none(finding for decision in decisions() for finding in doubtful_decisions(decision))


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(found[1]) for decision in decisions() if (found := DECISION_NAME.fullmatch(decision.path))]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("text", ["[a](b.md)", "[a](../x/y)", "[a](#nowhere)", "[a](README.md#nowhere)"])
def test_a_planted_broken_link_is_found(text: str) -> None:
    texts = {"docs/a.md": "# A\n", "docs/README.md": "# B\n"}
    assert list(broken_links(Source("docs/a.md", text), frozenset(texts), texts))


def test_links_that_lead_somewhere_are_let_through() -> None:
    text = "[a](../README.md) [b](https://example.org) [c](decisions/) [d](../README.md#to-run)\n```\n[x](y)\n```\n"
    paths = frozenset({"README.md", "docs/a.md", "docs/decisions/0001-x.md"})
    assert not list(broken_links(Source("docs/a.md", text), paths, {"README.md": "# To run\n"}))


def test_a_planted_missing_path_is_found() -> None:
    paths = frozenset({"libs/rules/README.md"})
    assert list(missing_paths(Source("docs/a.md", "see `libs/rules/nothing.py`"), paths))
    assert not list(missing_paths(Source("docs/a.md", "see `libs/<name>/README.md` and `libs/rules/`"), paths))


def test_a_planted_unknown_make_target_is_found() -> None:
    targets = frozenset({"run"})
    assert list(unknown_make_targets(Source("a.md", "```\nmake rnu\n```"), targets))
    assert list(unknown_make_targets(Source("a.md", "say `make rnu`"), targets))
    assert not list(unknown_make_targets(Source("a.md", "`make run` will make sense"), targets))


def test_a_planted_unused_term_is_found() -> None:
    assert list(unused_terms("| **seat** | where one sits |\n| **ghost** | nobody |", "seat = 1"))
    assert list(unused_terms("| **seat**, **ghost** | two |", "seat = 1; ghostly = 2"))
    assert not list(unused_terms("| **seat**, **it** | a |\n| **stake unit** | b |", "seats = 1; stake_unit = it"))


DECISION = "# 1. T\n\nStatus: accepted, 2026-11-29\n\n" + "\n\nX\n\n".join(DECISION_PARTS) + "\n\nX\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docs/decisions/1-t.md", DECISION),
        ("docs/decisions/0001-t.md", DECISION + "x\n" * DECISION_LINES_MAX),
        ("docs/decisions/0001-t.md", DECISION + "x" * (DECISION_LINE_CHARACTERS_MAX + 1)),
        ("docs/decisions/0001-t.md", DECISION.replace("accepted", "perhaps")),
        ("docs/decisions/0001-t.md", DECISION.replace(", 2026-11-29", "")),
        ("docs/decisions/0001-t.md", DECISION.replace(DECISION_PARTS[2], "")),
    ],
)
def test_a_planted_doubtful_decision_is_found(path: str, text: str) -> None:
    assert list(doubtful_decisions(Source(path, text)))


def test_a_good_decision_is_let_through() -> None:
    assert not list(doubtful_decisions(Source("docs/decisions/0001-t.md", DECISION)))
