"""A game as CONTRIBUTING says it: the plain one of the laws' own tests, under another name."""

from __future__ import annotations

from pathlib import Path

from guide import ROOT, Copy

NAME = "thirteen_tricks"
GAMES = "libs/rules/darbar_rules/games"
REGISTRY = f"{GAMES}/__init__.py"
_SAMPLE = ROOT / "libs/rules/tests/plain_tricks"
_PAGE = "docs/rules/thirteen_tricks.md"


def add_game(made: Copy) -> None:
    """Its page, its folder, its line in the registry and its golden log."""
    (made.folder / _PAGE).write_text("# Thirteen tricks\n\nFour people play thirteen tricks, and no suit is trump.\n")
    for path in _SAMPLE.glob("*.py"):
        _write(made.folder / GAMES / NAME / path.name, _renamed(path.read_text()))
    registry = (made.folder / REGISTRY).read_text()
    assert registry.count("\n    KINGS_AND_REBELS,\n") == 1
    registry = registry.replace("\n    KINGS_AND_REBELS,\n", "\n    KINGS_AND_REBELS,\n    THIRTEEN_TRICKS,\n")
    line = f"from darbar_rules.games.{NAME}.game import THIRTEEN_TRICKS\n"
    (made.folder / REGISTRY).write_text(
        registry.replace("from darbar_rules.registry", f"{line}from darbar_rules.registry")
    )
    made.run("libs/rules/tests/golden/write.py", NAME)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _renamed(text: str) -> str:
    text = text.replace("from plain_tricks.", f"from darbar_rules.games.{NAME}.")
    return (
        text.replace("plain_tricks", NAME)
        .replace("PLAIN_TRICKS", NAME.upper())
        .replace("Plain tricks", "Thirteen tricks")
    )
