"""Break the rules in 400 small ways, and count how many a test notices. Open this about `make mutants`.

    python libs/rules/mutants.py MUTMUT

Runs in a folder with `darbar_rules`, `tests` and the `pyproject.toml` of the rules, which holds mutmut's settings.
The sample is drawn with a fixed seed: the same rules give the same mutants.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from typing import Final

SAMPLE: Final = 400
SEED: Final = 2026
WORKERS: Final = 2
CAUGHT_SHARE_MIN: Final = 0.9

# A mutant that never ends is noticed, too.
CAUGHT: Final = ("killed", "timeout", "segfault")
# mutmut makes all mutants before it tests the first one.
ANY_MUTANT: Final = "darbar_rules.cards.x_mask_of__mutmut_1"


def main(mutmut: str) -> int:
    run(mutmut, [ANY_MUTANT])
    names = sorted(statuses(mutmut))
    sample = random.Random(SEED).sample(names, min(SAMPLE, len(names)))
    run(mutmut, sample)
    status = statuses(mutmut)
    missed = sorted(name for name in sample if status[name] not in CAUGHT)
    endless = sorted(name for name in sample if status[name] == "timeout")
    for name in (*endless, *missed):
        shown = subprocess.run([mutmut, "show", name], check=True, capture_output=True, text=True).stdout
        changes = [line for line in shown.splitlines() if line[:1] in ("-", "+") and line[:3] not in ("---", "+++")]
        say(f"\n{status[name]}: {name}", *changes)
    share = 1 - len(missed) / len(sample)
    by_status = ", ".join(f"{count} {name}" for name, count in sorted(Counter(map(status.get, sample)).items()))
    say(f"\n{len(sample) - len(missed)} of {len(sample)} mutants noticed ({share:.1%}) of {len(names)}: {by_status}")
    return 0 if share >= CAUGHT_SHARE_MIN else 1


def run(mutmut: str, names: list[str]) -> None:
    command = [mutmut, "run", "--max-children", str(WORKERS), *names]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        say(done.stdout[-4000:], done.stderr[-4000:])
        raise SystemExit("mutmut could not run")


def statuses(mutmut: str) -> dict[str, str]:
    """What became of each mutant, by its name."""
    listed = subprocess.run([mutmut, "results", "--all", "true"], check=True, capture_output=True, text=True).stdout
    pairs = (line.strip().rpartition(": ") for line in listed.splitlines() if ": " in line)
    return {name: status for name, _, status in pairs}


def say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
