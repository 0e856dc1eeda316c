"""Reads a page of docs/howto and does what it says in a copy of the repository. Open this when a page is not followed.

A page says where a text belongs with a line like one of these, and the text in the fenced block below it:

    `services/echo/README.md`:
    `pyproject.toml`, after `a whole line`:
    `pyproject.toml`, after `a whole line` (each time):
    `pyproject.toml`, before `the beginning of a line`:
    `pyproject.toml`, in place of `some text`:
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
# For what hangs, not for what is slow: a busy machine needs several times as long as an idle one.
RUN_SECONDS_MAX = 600
STEP = re.compile(
    r"^`(?P<path>[^`]+)`(?:, (?P<place>before|after|in place of) `(?P<anchor>[^\n]+)`)?(?P<all> \(each time\))?:\n\n"
    r"```\w*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Step(msgspec.Struct, frozen=True):
    """One text and where it belongs; `place` is empty for a new file."""

    path: str
    text: str
    place: str = ""
    anchor: str = ""
    each_time: bool = False

    def done_to(self, text: str) -> str:
        """Raises ValueError when the place is not there, or is there more than once."""
        lines = text.splitlines(keepends=True)
        match self.place:
            case "in place of":
                self._found_once(text.count(self.anchor))
                return text.replace(self.anchor, self.text.removesuffix("\n"))
            case "after":
                places = [number + 1 for number, line in enumerate(lines) if line.rstrip("\n") == self.anchor]
            case _:
                places = [number for number, line in enumerate(lines) if line.startswith(self.anchor)]
        self._found_once(len(places))
        for place in reversed(places):
            lines.insert(place, self.text)
        return "".join(lines)

    def _found_once(self, count: int) -> None:
        if not count or (count > 1 and not self.each_time):
            raise ValueError(f"{self.path} has {count} times {self.anchor!r}")


def steps_of(page: str) -> list[Step]:
    """Every step of a page of docs/howto."""
    text = (ROOT / "docs/howto" / page).read_text()
    return [
        Step(found["path"], found["text"], found["place"] or "", found["anchor"] or "", bool(found["all"]))
        for found in STEP.finditer(text)
    ]


class Copy:
    """The tracked files in a folder of their own, with everything that Python imports taken from there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=30
        )
        for path in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / path).is_file():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, folder / path)

    def follow(self, page: str, *, but: Callable[[Step], bool] = lambda _: False) -> None:
        """Does every step of a page, `but` some. Raises ValueError for one that can't be done."""
        for step in steps_of(page):
            if but(step):
                continue
            path = self.folder / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.done_to(path.read_text()) if step.place else step.text)

    def track(self) -> None:
        """The checks look at what git tracks."""
        for command in (["init", "--quiet"], ["add", "--all"]):
            subprocess.run(["git", *command], cwd=self.folder, check=True, timeout=30)

    def run(self, *command: str) -> str:
        """Runs a program of Python in the copy. Fails with what it said when it does not succeed."""
        ours = f"PYTHONPATH={os.pathsep.join(self._packages())}"
        done = subprocess.run(
            ["env", ours, sys.executable, *command],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS_MAX,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-5000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def mypy(self, *folders: str) -> str:
        """Checks the types of these folders, with a cache of the copy's own."""
        return self.run("-m", "mypy", "--cache-dir", str(self.folder / ".mypy_cache"), *folders)

    def _packages(self) -> list[str]:
        """The folders with our packages: before all that is installed."""
        settings = tomllib.loads((self.folder / "pyproject.toml").read_text())
        return [str(self.folder / path) for path in settings["tool"]["mypy"]["mypy_path"].split(":")]
