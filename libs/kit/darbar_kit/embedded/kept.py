"""What an embedded server keeps between two starts: secrets and its port. Open this when a client's URL changes."""

import contextlib
import os
import secrets
import socket
from pathlib import Path

# Linux gives those from 32,768 on to outgoing connections, other systems those from 49,152 on.
PORT_MIN = 16_384
PORTS = 16_384
PORT_TRIES = 20


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
    """A port that is free now, one of those that the system gives to no outgoing connection: those come and go by the
    second. Another server may still take it before ours does: try again then."""
    for _ in range(PORT_TRIES):
        with contextlib.suppress(OSError):
            return _bound(host, PORT_MIN + secrets.randbelow(PORTS))
    return _bound(host, 0)


def _bound(host: str, port: int) -> int:
    with socket.socket() as probe:
        # As the servers do: a port where only old connections are closing counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
        return int(probe.getsockname()[1])
