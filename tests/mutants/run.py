"""Break the pure code in many small ways, and count how many a test notices. Open this about `make mutants`.

    python tests/mutants/run.py [PLACE ...]

Each place of `broken_places.py` is copied to build/mutants, and mutmut breaks the copy. The samples are drawn with a
fixed seed: the same code gives the same mutants.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from broken_places import PLACES, Place

ROOT: Final = Path(__file__).resolve().parents[2]
STAGE: Final = ROOT / "build/mutants"
MUTMUT: Final = str(Path(sys.executable).parent / "mutmut")

SEED: Final = 2026
WORKERS: Final = 2
CAUGHT_SHARE_MIN: Final = 0.9
# Generous, or a mutant that no test notices would pass for one that never ends.
TIMEOUT_FACTOR: Final = 2.0
TIMEOUT_SECONDS_MIN: Final = 30.0

# A mutant that never ends is noticed, too.
CAUGHT: Final = ("killed", "timeout", "segfault", "caught by type check")
# mutmut makes all mutants before it looks for those it is asked to test.
NO_MUTANT: Final = "none"


class Outcome(NamedTuple):
    """What became of a place's sample."""

    place: str
    noticed: int
    sample: int
    mutants: int

    @property
    def share(self) -> float:
        return self.noticed / self.sample


def main(names: list[str]) -> int:
    outcomes = [outcome_of(place) for place in PLACES if not names or place.name in names]
    for one in outcomes:
        say(f"{one.place}: {one.noticed} of {one.sample} noticed ({one.share:.1%}), {one.mutants} in all")
    return 0 if outcomes and all(one.share >= CAUGHT_SHARE_MIN for one in outcomes) else 1


def outcome_of(place: Place) -> Outcome:
    """Breaks a copy of the place, tells what was not noticed."""
    folder = staged(place)
    run(folder, [NO_MUTANT])
    names = sorted(statuses(folder))
    sample = random.Random(SEED).sample(names, min(place.sample, len(names)))
    failed = run(folder, sample)
    status = statuses(folder)
    if failed or any(status[name] == "not checked" for name in sample):
        raise SystemExit(f"{place.name}: mutmut could not run\n{failed}")
    missed = sorted(name for name in sample if status[name] not in CAUGHT)
    for name in (*sorted(name for name in sample if status[name] == "timeout"), *missed):
        say("", f"{place.name}: {status[name]}: {name}", *changes(folder, name))
    counted = ", ".join(f"{count} {word}" for word, count in sorted(Counter(map(status.get, sample)).items()))
    say("", f"{place.name}: {counted}")
    return Outcome(place.name, len(sample) - len(missed), len(sample), len(names))


def staged(place: Place) -> Path:
    """A copy of the place with mutmut's settings. Tests that read documents find them above it."""
    folder = STAGE / place.name
    shutil.rmtree(folder, ignore_errors=True)
    for part in (place.package, "tests"):
        shutil.copytree(ROOT / place.folder / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", STAGE / "docs", dirs_exist_ok=True)
    (folder / "pyproject.toml").write_text("\n".join(settings(place)))
    return folder


def settings(place: Place) -> Iterator[str]:
    options = ["-c", "pyproject.toml", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:asyncio", "-q"]
    for test in place.left_out:
        options += ["--deselect", f"tests/{test}"]
    home = ROOT / place.folder
    tests = sorted(str(path.relative_to(home)) for name in place.tests for path in home.glob(f"tests/{name}"))
    mutmut: Mapping[str, object] = {
        "source_paths": [place.package],
        "only_mutate": list(place.broken),
        "do_not_mutate": list(place.spared),
        "pytest_add_cli_args": options,
        "pytest_add_cli_args_test_selection": tests,
        "timeout_multiplier": TIMEOUT_FACTOR,
        "timeout_constant": TIMEOUT_SECONDS_MIN,
        "track_dependencies": False,
        "use_git_change_detection": False,
    }
    yield "[tool.mutmut]"
    yield from (f"{name} = {json.dumps(value)}" for name, value in mutmut.items())
    yield "[tool.pytest.ini_options]"
    yield f"pythonpath = {json.dumps(['tests', str(ROOT / 'libs/rules/tests')])}"
    yield 'markers = ["ruling(number): the ruling that this test holds to"]'


def run(folder: Path, names: list[str]) -> str:
    """What mutmut said if it failed."""
    command = [MUTMUT, "run", "--max-children", str(WORKERS), *names]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    return done.stdout[-4000:] + done.stderr[-4000:] if done.returncode else ""


def statuses(folder: Path) -> dict[str, str]:
    """What became of each mutant, by its name."""
    command = [MUTMUT, "results", "--all", "true"]
    listed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    pairs = (line.strip().rpartition(": ") for line in listed.splitlines() if ": " in line)
    return {name: status for name, _, status in pairs}


def changes(folder: Path, name: str) -> list[str]:
    """The lines that a mutant changes."""
    shown = subprocess.run([MUTMUT, "show", name], cwd=folder, check=True, capture_output=True, text=True).stdout
    return [line for line in shown.splitlines() if line[:1] in ("-", "+") and line[:3] not in ("---", "+++")]


def say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
