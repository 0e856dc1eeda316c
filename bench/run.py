"""Measures the targets, prints a line for each row, and keeps them in bench/results.json. Open this to run a row.

    python bench/run.py [--row serving]

Each script measures its rows in a process of its own and prints them as JSON lines; everything else it prints is for
people. A row of another run stays in the results until it is measured again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[1]

# The script of each row, in the order in which they run. A script may be named for several rows: it runs once.
# `rules` stands for the rows of every game.
SCRIPTS: Mapping[str, str] = MappingProxyType(
    {
        "serving": "serving_bench",
        "serving_bytes": "serving_bench",
        "serving_memory": "serving_bench",
        "inspection": "inspection_bench",
        "latency_p50": "latency_bench",
        "latency_p99": "latency_bench",
        "serving_boardgame": "serving_peers_bench",
        "serving_boardgame_postgres": "serving_peers_bench",
        "two_processes": "processes_bench",
        "bot_moves": "bot_moves_bench",
        "growth_cpu": "growth_bench",
        "growth_p50": "growth_bench",
        "append": "append_bench",
        "append_eventsourcing": "append_bench",
        "rebuild": "rebuild_bench",
        "rebuild_eventsourcing": "rebuild_bench",
        "table_memory": "rebuild_bench",
        "rules": "rules_row",
        "wallet_transfers": "wallet_bench",
        "bots": "bots_bench",
        "voice_pipeline": "voice_bench",
        "voice_moves": "voice_bench",
    }
)


def wanted(row: str) -> list[str]:
    """The scripts to run: those of one row, or every one that there is."""
    names = [script for name, script in SCRIPTS.items() if row in ("", name)]
    return [script for script in dict.fromkeys(names) if (ROOT / "bench" / f"{script}.py").exists()]


def measured(script: str) -> list[bytes]:
    """Runs a script; gives its rows and passes on what else it says. A target that is not met is no failure."""
    command = [sys.executable, "-m", f"bench.{script}"]
    found = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith(b'{"row":'):
                found.append(line)
            else:
                print("   ", line.decode().rstrip(), flush=True)
    if not found:
        print(f"{script}: it ended with code {running.returncode} and without a row", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", default="", help=f"one of {', '.join(SCRIPTS)}")
    options = parser.parse_args()
    if options.row and options.row not in SCRIPTS:
        parser.error(f"no such row: {options.row}")
    sys.path.insert(0, str(ROOT))
    from bench import rows

    complete = True
    for script in wanted(options.row):
        print(f"{script}:", flush=True)
        found = [rows.read(line) for line in measured(script)]
        complete = complete and bool(found)
        for row in found:
            print(rows.line(row), flush=True)
        rows.write_results(found)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
