"""Child processes which must not outlive us unnoticed. Open this when one is left over or stopped wrongly."""

import asyncio
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped,unused-ignore]

POLL_SECONDS = 0.02
# A process that started later than its pid file was written is another one which got the same number.
CLOCK_SLACK_SECONDS = 2.0


async def stop(process: "subprocess.Popen[bytes]", *signals: tuple[int, float]) -> None:
    """Sends each signal in turn and waits its seconds, until the child has ended; the last resort is SIGKILL."""
    for number, seconds in signals:
        if process.poll() is not None:
            return
        process.send_signal(number)
        if await _within(seconds, lambda: process.poll() is not None):
            return
    process.kill()
    process.wait()


async def ended(process: "subprocess.Popen[bytes]") -> int:
    """Waits until the child has ended: its exit code."""
    while (code := process.poll()) is None:  # noqa: ASYNC110  # Nothing tells but asking.
        await asyncio.sleep(POLL_SECONDS)
    return code


def left_over(pid: int, *, written_at: float, mark: str, folder: Path | None = None) -> psutil.Process | None:
    """The living process of a pid file, if it is truly the one: old enough, with this word in its command line
    (or, when given, working in this folder)."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE or process.create_time() > written_at + CLOCK_SLACK_SECONDS:
            return None
        if folder is not None and Path(process.cwd()).resolve() != folder.resolve():
            return None
        return process if any(mark in word for word in process.cmdline()) else None
    except psutil.Error:
        return None


async def stop_left_over(process: psutil.Process, *signals: tuple[int, float]) -> None:
    """The same for a process that isn't our child any more. psutil makes sure that the number wasn't given anew."""
    for number, seconds in signals:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            return
        if await _within(seconds, lambda: gone(process)):
            return
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return
    await _within(5.0, lambda: gone(process))


def gone(process: psutil.Process) -> bool:
    """Ended, also when nobody has asked for its exit code yet."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True
