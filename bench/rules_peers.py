"""The card games of others, in a process beside ours that measures when asked. Open this when they do not start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

BENCH = Path(__file__).parent
PYTHON = BENCH.parent / "build" / "peers" / "bin" / "python"
INSTALL_SECONDS_MAX: Final = 300.0
NAMES: Final = ("rlcard_rules", "rlcard_environment", "openspiel_rules")


class Peers:
    """A figure for a name. Once the process has ended, or when nothing is installed, there are no figures."""

    def __init__(self, asked: IO[str] | None, told: IO[str] | None) -> None:
        self._asked = asked
        self._told = told

    def measure(self, name: str) -> float | None:
        """Moves a CPU-second of that peer, measured now."""
        if self._asked is None or self._told is None:
            return None
        try:
            self._asked.write(f"{name}\n")
            self._asked.flush()
        except BrokenPipeError:
            return None
        line = self._told.readline()
        return float(line) if line else None


@contextmanager
def opened() -> Iterator[Peers]:
    """The peers, installed if they are not; what goes wrong is on the standard error."""
    if not installed("peers.sh", sys.executable):
        yield Peers(None, None)
        return
    command = [str(PYTHON), str(BENCH / "peers.py")]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Peers(running.stdin, running.stdout)
    finally:
        running.kill()
        running.wait()


def installed(script: str, *options: str) -> bool:
    """Whether what this script of ours installs is there, now that it has been asked for."""
    try:
        done = subprocess.run(
            ["bash", str(BENCH / script), *options], stdout=sys.stderr, timeout=INSTALL_SECONDS_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        print(f"peers: {problem}", file=sys.stderr)
        return False
    return done.returncode == 0
