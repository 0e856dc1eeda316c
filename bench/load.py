"""Runs the compiled load generator against a server, and measures processes beside it. Open this about a window."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import msgspec
from bench.machine import Meter, memory_bytes

SOURCE = Path(__file__).resolve().with_name("load.c")
ROOT = SOURCE.parents[1]
WARM_SECONDS = 3.0
LATE_SECONDS_MAX = 120.0


class Figures(msgspec.Struct, frozen=True):
    """What the load generator says about its window. `acknowledged` counts from its start."""

    moves: int
    seconds: float
    p50_ms: float
    p99_ms: float
    bytes_a_move: float
    client_core: float
    acknowledged: int
    refused: int
    closed: int


class Window(msgspec.Struct, frozen=True):
    """One measurement: the client's figures, and what each process used meanwhile and holds at its end."""

    figures: Figures
    cores: dict[str, float]
    memory_bytes: dict[str, int]


def compiled(folder: Path) -> Path:
    """The load generator, built here."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise RuntimeError("a C compiler is needed: gcc")
    program = folder / "load"
    subprocess.run([compiler, "-O2", "-Wall", "-o", str(program), str(SOURCE)], check=True)
    return program


async def drive(
    program: Path, *, plan: Path, seconds: float, pids: dict[str, int], moves_a_second: float = 0.0
) -> Window:
    """One run of the generator, in a closed loop or with so many moves a second."""
    command = [str(program), str(plan), str(WARM_SECONDS), str(seconds), str(moves_a_second)]
    return await watched(command, seconds=seconds, pids=pids)


async def watched(command: list[str], *, seconds: float, pids: dict[str, int]) -> Window:
    """Players of any kind, who tell when their window begins and ends; processes are measured in between."""
    meter = Meter(pids)
    running = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert running.stdin is not None
    assert running.stdout is not None
    try:
        async with asyncio.timeout(WARM_SECONDS + seconds + LATE_SECONDS_MAX):
            if await running.stdout.readline() != b"window\n":
                raise RuntimeError("the load generator did not come to its window")
            meter.start()
            said = await running.stdout.readline()
            cores = meter.stop()
            memory = {name: memory_bytes(pid) for name, pid in pids.items()}
            running.stdin.close()
            await running.wait()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return Window(msgspec.json.decode(said, type=Figures), cores, memory)
