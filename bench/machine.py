"""CPU and memory of processes, from /proc. Open this when a figure of a process looks wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int, *, tree: bool = False) -> float:
    """User and system time so far; with `tree` also of its children, the ended ones included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own = sum(int(field) for field in fields[11:13])
    if not tree:
        return own / _TICKS
    ended = sum(int(field) for field in fields[13:15])
    return (own + ended) / _TICKS + sum(_of_child(child.pid) for child in psutil.Process(pid).children())


def _of_child(pid: int) -> float:
    try:
        return cpu_seconds(pid, tree=True)
    except (OSError, psutil.Error):
        return 0.0  # It has ended; the parent has counted it, or will.


def memory_bytes(pid: int) -> int:
    """What a process holds in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


class Meter:
    """Shares of a core that named processes use between start() and stop()."""

    def __init__(self, processes: dict[str, int]) -> None:
        self._processes = processes
        self._before: dict[str, float] = {}
        self._at = 0.0

    def start(self) -> None:
        self._at = time.perf_counter()
        self._before = self._now()

    def stop(self) -> dict[str, float]:
        """Cores used by each."""
        seconds = time.perf_counter() - self._at
        return {name: (cpu - self._before[name]) / seconds for name, cpu in self._now().items()}

    def _now(self) -> dict[str, float]:
        return {name: cpu_seconds(pid, tree=True) for name, pid in self._processes.items()}
