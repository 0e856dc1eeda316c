"""A small disk below a server of ours, which can be full. Open this where none can be mounted."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from shutil import disk_usage

from darbar_kit.testing import eventually

DISK_BYTES = 256 * 1024**2
# Whatever a server gives back while its disk is full is taken within so long.
FULL_SECONDS_MAX = 120.0
# Large pieces first, then what is left.
_PIECES_BYTES = (1024**2, 4096, 1)


class NoSmallDisk(Exception):
    """None can be mounted here; the message says why."""


class SmallDisk:
    """Mounted at `place`."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._filler = place / "filler"

    @asynccontextmanager
    async def full(self) -> AsyncIterator[None]:
        """Not a byte is free, whatever the server does, until the block ends."""
        await asyncio.to_thread(self._fill)
        filling = asyncio.create_task(self._keep_full())
        try:
            yield
        finally:
            filling.cancel()
            with suppress(asyncio.CancelledError):
                await filling
            self._filler.unlink()

    async def _keep_full(self) -> None:
        while True:
            await eventually(lambda: disk_usage(self._place).free, seconds=FULL_SECONDS_MAX)
            self._fill()

    def _fill(self) -> None:
        with self._filler.open("ab", buffering=0) as filler:
            for piece_bytes in _PIECES_BYTES:
                with suppress(OSError):
                    while filler.write(bytes(piece_bytes)):
                        pass


@contextmanager
def small_disk(place: Path) -> Iterator[SmallDisk]:
    """Raises NoSmallDisk."""
    place.mkdir(parents=True)
    refusal = _mounted(place)
    if refusal:
        raise NoSmallDisk(f"no small disk can be mounted here ({refusal})")
    try:
        yield SmallDisk(place)
    finally:
        # Lazily: a server that did not end must not keep what the run leaves behind from being removed.
        subprocess.run(["umount", "--lazy", place], check=True)


def _mounted(place: Path) -> str:
    """Why not; nothing when it is."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0711", "tmpfs", str(place)]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return said.stderr.strip() if said.returncode else ""
