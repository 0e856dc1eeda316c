"""Runs `darbar` as a test does: from outside, as a process. Open this when a test can't tell that it is ready."""

import asyncio
import contextlib
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import psutil  # type: ignore[import-untyped,unused-ignore]

from darbar_kit.embedded.processes import gone

SECONDS_MAX = 90.0
POLL_SECONDS = 0.02
OUTPUT_BYTES_MAX = 1024 * 1024
_READY = re.compile(r"^Darbar is ready at (\S+)$", re.MULTILINE)


class Darbar:
    """One run of the command."""

    def __init__(self, process: asyncio.subprocess.Process, output: BinaryIO, complaints: BinaryIO) -> None:
        self._process = process
        self._output = output
        self._complaints = complaints

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    @property
    def lines(self) -> list[str]:
        """What it has written to stdout so far."""
        return _text(self._output).splitlines()

    def logged_since(self, position: int = 0) -> bytes:
        """What it and the services have logged after so many bytes."""
        return os.pread(self._complaints.fileno(), os.fstat(self._complaints.fileno()).st_size, position)

    async def ready(self) -> str:
        """Waits for the address that it tells."""
        return (await self._told(_READY))[1]

    async def tells(self, part: str) -> str:
        """Waits for a line of stdout that has this part; the address comes before the others."""
        return (await self._told(re.compile(rf"^.*{re.escape(part)}.*\n", re.MULTILINE)))[0]

    async def _told(self, words: re.Pattern[str]) -> re.Match[str]:
        async with asyncio.timeout(SECONDS_MAX):
            while not (found := words.search(_text(self._output))):
                if self.ended:
                    raise AssertionError(f"it ended with {await self.end()} after {self.lines}")
                await asyncio.sleep(POLL_SECONDS)
        return found

    async def end(self, number: int | None = None) -> tuple[int, str]:
        """Waits for its end, after a signal when one is given: its exit code and what it wrote to stderr."""
        if number is not None:
            self._process.send_signal(number)
        async with asyncio.timeout(SECONDS_MAX):
            code = await self._process.wait()
        return code, _text(self._complaints)

    def children(self) -> dict[str, psutil.Process]:
        """The servers and service processes that it has started: `postgres`, `nats-server`, `lobby`, `table-1`."""
        found: dict[str, psutil.Process] = {}
        for child in psutil.Process(self.pid).children():
            # One may end while it is looked at.
            with contextlib.suppress(psutil.NoSuchProcess):
                if not gone(child):
                    found[_name(child)] = child
        return found


def _name(child: psutil.Process) -> str:
    words: list[str] = child.cmdline() or [child.name()]
    return Path(words[words.index("--pid-file") + 1]).stem if "--pid-file" in words else Path(words[0]).name


def _text(file: BinaryIO) -> str:
    # Read by position: the process goes on writing at the end.
    return os.pread(file.fileno(), OUTPUT_BYTES_MAX, 0).decode(errors="replace")


@asynccontextmanager
async def run(
    *arguments: str, variables: Mapping[str, str], folder: Path | None = None, typed: bytes = b""
) -> AsyncIterator[Darbar]:
    """Starts `darbar` in this folder, with these arguments and nothing but these variables, and with what is `typed`;
    ends it when the block ends."""
    # Files, not pipes: what a killed run leaves behind would hold a pipe open.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints, tempfile.TemporaryFile() as given:
        given.write(typed)
        given.seek(0)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "darbar_local", *arguments),
            stdin=given,
            stdout=output,
            stderr=complaints,
            env={"PATH": os.defpath, **variables},
            cwd=folder,
        )
        started = Darbar(process, output, complaints)
        try:
            yield started
        finally:
            if not started.ended:
                await started.end(signal.SIGTERM)
