"""What an embedded server keeps between two starts: secrets and its port. Open this when a client's URL changes."""

import contextlib
import os
import socket
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Readable by us alone, and either the old text or the whole new one after a crash."""
    new = path.with_name(path.name + ".new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes names and renames in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def last_port(path: Path, host: str) -> int | None:
    """The port of the last start, if one was kept and it is free: clients then find the server again."""
    with contextlib.suppress(FileNotFoundError, ValueError, OSError):
        return _bound(host, int(path.read_text()))
    return None


def any_port(host: str) -> int:
    """A port that is free now. Somebody may take it before the server does: try again then."""
    return _bound(host, 0)


def _bound(host: str, port: int) -> int:
    with socket.socket() as probe:
        # As the servers do: a port where only old connections are closing counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])
