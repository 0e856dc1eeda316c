"""Measures the targets, prints a line for each row, and keeps them in bench/results.json. Open this to run a row.

    python -m bench.run [--row serving]

Each script measures its rows in a process of its own and prints them as JSON lines; everything else it prints is for
people. A row of another run stays in the results until it is measured again, or all are. A script that fails or takes
too long keeps no other from being run; the end says which rows are missing, and the code is then 1. A target that is
not met is no failure.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import msgspec
import psutil  # type: ignore[import-untyped]
from bench import figures, rows
from bench.machine import described

ROOT = Path(__file__).resolve().parents[1]
SCRIPT_SECONDS_MAX = 300.0
END_SECONDS_MAX = 30.0

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
        "serving_colyseus": "serving_peers_bench",
        "two_processes": "processes_bench",
        "bot_moves": "bot_moves_bench",
        "growth_cpu": "growth_bench",
        "growth_p50": "growth_bench",
        "append": "append_bench",
        "append_eventsourcing": "append_bench",
        "rebuild": "rebuild_bench",
        "rebuild_eventsourcing": "rebuild_bench",
        "table_memory": "rebuild_bench",
        "playouts_compiled": "kernels_bench",
        "playouts_plain": "kernels_bench",
        "worlds_compiled": "kernels_bench",
        "strong_decision_compiled": "kernels_bench",
        "strong_decision_plain": "kernels_bench",
        "rules": "rules_row",
        "wallet_transfers": "wallet_bench",
        "bots": "bots_bench",
        "strong_court_piece": "strong_bots_bench",
        "strong_no_hearts": "strong_bots_bench",
        "strong_no_tricks": "strong_bots_bench",
        "voice_pipeline": "voice_bench",
        "voice_moves": "voice_bench",
    }
)


def wanted(row: str) -> list[str]:
    """The scripts to run: those of one row, or every one that there is."""
    names = [script for name, script in SCRIPTS.items() if row in ("", name)]
    return list(dict.fromkeys(names))


def rows_of(script: str) -> set[str]:
    """The rows that a script is to give."""
    named = {name for name, of in SCRIPTS.items() if of == script}
    return named - {"rules"} | {name for name in rows.TARGETS if "rules" in named and name.startswith("rules_")}


def measured(script: str) -> list[rows.Row]:
    """Runs a script; gives its rows and passes on what else it says."""
    found = []
    began, others = datetime.now(UTC), Others()
    command = [sys.executable, "-m", f"bench.{script}"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True) as running:
        assert running.stdout is not None
        ends = [
            threading.Timer(SCRIPT_SECONDS_MAX, os.killpg, (running.pid, signal.SIGTERM)),
            threading.Timer(SCRIPT_SECONDS_MAX + END_SECONDS_MAX, os.killpg, (running.pid, signal.SIGKILL)),
        ]
        for end in ends:
            end.start()
        for line in running.stdout:
            if line.startswith(b'{"row":'):
                found.append(rows.read(line))
            else:
                print("   ", line.decode().rstrip(), flush=True)
        running.wait()
        for end in ends:
            end.cancel()
    if missing := rows_of(script) - {row.row for row in found}:
        print(f"{script}: code {running.returncode}, without {', '.join(sorted(missing))}", file=sys.stderr, flush=True)
    noted = {"measured_at": began.strftime("%Y-%m-%d %H:%M"), "others_cores": others.cores(), "machine": described()}
    return [msgspec.structs.replace(row, **noted) for row in found]


class Others:
    """What everybody else used of the machine from its making on."""

    def __init__(self) -> None:
        self._before = self._spent()

    def cores(self) -> float:
        """What was taken from this machine by its host counts as theirs."""
        all_of_it, own, at = (now - before for now, before in zip(self._spent(), self._before, strict=True))
        return round(max(0.0, all_of_it - own) / at, 2)

    def _spent(self) -> tuple[float, float, float]:
        times, own = psutil.cpu_times(), resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = times.user + times.system + times.irq + times.softirq + times.steal
        return busy, own.ru_utime + own.ru_stime, time.monotonic()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", default="", help=f"one of {', '.join(SCRIPTS)}")
    options = parser.parse_args()
    if options.row and options.row not in SCRIPTS:
        parser.error(f"no such row: {options.row}")
    missing = set[str]()
    begun = time.monotonic()
    if not options.row:
        rows.RESULTS.unlink(missing_ok=True)
    for script in wanted(options.row):
        print(f"{script}:", flush=True)
        started = time.monotonic()
        found = measured(script)
        missing |= rows_of(script) - {row.row for row in found}
        for row in found:
            print(rows.line(row), flush=True)
        rows.write_results(found)
        print(f"    {time.monotonic() - started:.0f} s", flush=True)
    if not options.row:
        print(f"\n{figures.whole(rows.read_results())}")
        print(f"\n{time.monotonic() - begun:.0f} s in all. For the documents: python -m bench.figures --write")
    if missing:
        print(f"failed: {', '.join(sorted(missing))}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
