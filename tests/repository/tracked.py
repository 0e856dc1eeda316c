"""The files that belong to the repository: what git tracks. Open this to add a check of them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIT_SECONDS_MAX = 30


@dataclass(frozen=True)
class Source:
    """A text file: `path` is relative to the repository's root, with forward slashes."""

    path: str
    text: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @property
    def is_test(self) -> bool:
        """Code that only tests run."""
        in_tests = "tests" in self.path.split("/")[:-1]
        return in_tests or self.name == "conftest.py" or self.name.startswith("test_")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


@cache
def tracked_paths() -> tuple[str, ...]:
    """Every tracked path that is there, sorted. The clone may belong to somebody else than who runs this."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=GIT_SECONDS_MAX,
    )
    paths = listed.stdout.decode().split("\0")
    return tuple(sorted(path for path in paths if path and (ROOT / path).is_file()))


@cache
def sources() -> tuple[Source, ...]:
    """Every tracked text file."""
    return tuple(_readable(tracked_paths()))


def _readable(paths: tuple[str, ...]) -> Iterator[Source]:
    for path in paths:
        try:
            yield Source(path, (ROOT / path).read_bytes().decode())
        except UnicodeDecodeError:
            continue  # A picture or a sound: nothing here reads those.


def expect_none(findings: Iterable[str]) -> None:
    """Fails with one finding a line."""
    found = list(findings)
    assert not found, "\n" + "\n".join(found)
