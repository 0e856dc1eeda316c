"""The row of the rules, out of what rules_bench prints. Open this about the row, that one about the figures.

The slowest table counts. A table with twelve seats has half the target, so its figure counts double.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import msgspec
from bench.rows import made

ROOT = Path(__file__).resolve().parents[1]
TWELVE_SEATS = "_12"
_FIGURE = re.compile(r"^(?:(?P<table>\w+): )?(?P<moves>[\d,]+) moves/s")


def figures(said: str) -> dict[str, float]:
    """Moves a second at each table; a figure without a name is the only one."""
    found = {}
    for line in said.splitlines():
        match = _FIGURE.match(line)
        if match:
            found[match["table"] or "court_piece"] = float(match["moves"].replace(",", ""))
    return found


def main() -> int:
    command = [sys.executable, "-m", "bench.rules_bench"]
    said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode()
    print(said, end="")
    tables = figures(said)
    slowest = min(moves * (2 if name.endswith(TWELVE_SEATS) else 1) for name, moves in tables.items())
    row = made("rules", "moves/s: legal, decide, evolve", value=slowest, reference="", reference_value=0, beside=tables)
    print(msgspec.json.encode(row).decode())
    return 0 if row.met else 1


if __name__ == "__main__":
    sys.exit(main())
