"""Plant one mistake after another in a copy, and see that the tests of its rule notice. Open planted_mistakes.py first.

    python tests/mutants/planted.py [RULE ...]

Only tests that are marked with the rule are run. Those over whole servers come last: most mistakes are noticed before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final

from planted_mistakes import MISTAKES, Mistake

from darbar_kit.settings import environment

ROOT: Final = Path(__file__).resolve().parents[2]
COPY: Final = ROOT / "build/planted"
TESTS_SECONDS_MAX: Final = 300
TESTS_FAILED: Final = 1
WHOLE_SERVERS: Final = "tests/integration/"


def main(rules: Sequence[str]) -> int:
    copy()
    tests = tests_by_rule()
    wanted = [mistake for mistake in MISTAKES if not rules or mistake.rule in rules]
    missed = [mistake for mistake in wanted if not is_noticed(mistake, tests[mistake.rule])]
    say(f"{len(missed)} mistakes were not noticed", *(f"  {one.rule}: {one.path}: {one.wrong!r}" for one in missed))
    return 1 if missed else 0


def copy() -> None:
    """What git knows, as it is now."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        target = COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)


def is_noticed(mistake: Mistake, tests: Iterable[str]) -> bool:
    """Whether a test fails; the copy is whole again afterwards."""
    place = COPY / mistake.path
    before = place.read_text()
    if mistake.right not in before:
        say(f"{mistake.rule}: {mistake.path} has no {mistake.right!r} any more")
        return False
    place.write_text(before.replace(mistake.right, mistake.wrong, 1))
    try:
        first = [test for test in tests if not test.startswith(WHOLE_SERVERS)]
        then = [test for test in tests if test.startswith(WHOLE_SERVERS)]
        failed = failure(first) or failure(then)
    finally:
        place.write_text(before)
    say(f"{mistake.rule}: {mistake.wrong.strip() or 'nothing'!r}: {failed or 'NOT NOTICED'}")
    return bool(failed)


def tests_by_rule() -> Mapping[str, list[str]]:
    """As the repository's own check collects them."""
    sys.path.insert(0, str(ROOT / "tests/repository"))
    found: dict[str, list[str]] = {}
    for rule, test in sorted(set(import_module("test_rulings").marks())):
        found.setdefault(rule, []).append(test)
    return found


def failure(tests: Sequence[str]) -> str:
    """The first test that fails; empty when none does."""
    if not tests:
        return ""
    packages = os.pathsep.join(
        str(path) for folder in ("libs", "services") for path in sorted((COPY / folder).iterdir())
    )
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command,
        cwd=COPY,
        env=environment() | {"PYTHONPATH": os.pathsep.join((packages, str(COPY / "deploy/local")))},
        check=False,
        capture_output=True,
        text=True,
        timeout=TESTS_SECONDS_MAX,
    )
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode != TESTS_FAILED or not lines:
        raise SystemExit(f"the tests could not be run:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return lines[0].split(" - ")[0]


def say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
