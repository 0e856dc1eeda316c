"""Where a test run keeps its servers, and what killed runs left behind. Open this when servers of old runs go on."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.postgres import PostgresServer

FOLDER_PREFIX = "darbar-test-"


def lock_folder(folder: Path) -> int | None:
    """Marks a folder as used by a living process; None when another one has it."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_abandoned() -> None:
    """Ends the servers and removes the data of runs that were killed."""
    for folder in abandoned_folders():
        try:
            ours = folder.stat().st_uid == os.geteuid()
            lock = lock_folder(folder) if ours else None
        except OSError:
            continue  # Another run removes it at this moment.
        if lock is None:
            continue
        for data in folder.iterdir():
            asyncio.run(_stop_abandoned(data))
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def abandoned_folders() -> list[Path]:
    """Those of all runs on this machine; the ones still in use are locked."""
    return list(Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"))


async def _stop_abandoned(data: Path) -> None:
    if data.name.startswith("postgres"):
        await PostgresServer(data).stop_left_over()
    elif data.name.startswith("nats"):
        await NatsServer(data).stop_left_over()
