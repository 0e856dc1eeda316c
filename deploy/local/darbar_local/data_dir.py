"""The folder that holds everything local: data, secrets, who runs. Open this when a start is refused because of it."""

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from darbar_kit.embedded.kept import write_private
from darbar_kit.tokens import new_private_key_pem
from darbar_local.exit_codes import ExitCode, Failure

# Grows when something in the folder gets another place or meaning.
DATA_VERSION = 1
_OTHERS_MAY_ENTER = 0o711


class DataDir:
    """Opened by one `darbar up` at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def postgres(self) -> Path:
        return self.path / "postgres"

    @property
    def nats(self) -> Path:
        return self.path / "nats"

    @property
    def running(self) -> Path:
        """A file for each service process."""
        return self.path / "running"

    @property
    def generation(self) -> int:
        """How often the data were put back from a backup, counted from 1."""
        file = self.path / "generation"
        return int(file.read_text()) if file.exists() else 1

    def set_generation(self, generation: int) -> None:
        (self.path / "generation").write_text(f"{generation}\n")

    def token_key(self) -> str:
        """The private key that signs access tokens, made once."""
        path = self.path / "token_key.pem"
        if not path.exists():
            write_private(path, new_private_key_pem())
        return path.read_text()

    def password(self, role: str) -> str:
        """The password of a database role, made once."""
        path = self.path / "passwords.json"
        kept = msgspec.json.decode(path.read_bytes(), type=dict[str, str]) if path.exists() else {}
        if role not in kept:
            kept[role] = secrets.token_urlsafe(24)
            write_private(path, msgspec.json.encode(kept).decode())
        return kept[role]


@contextmanager
def opened(path: Path) -> Iterator[DataDir]:
    """Makes the folder when it isn't there. Raises Failure when another one has it or it is of a newer version."""
    try:
        if not path.exists():
            path.mkdir(parents=True)
            # The user that runs PostgreSQL goes through it; what is secret in it is closed by itself.
            path.chmod(_OTHERS_MAY_ENTER)
        lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Failure(ExitCode.FOLDER_UNUSABLE, f"can't use {path} for data: {error.strerror}") from error
    try:
        _take(lock, path)
        _refuse_newer(path)
        (path / "running").mkdir(exist_ok=True)
        yield DataDir(path)
    finally:
        # The lock ends with the file, also when we are killed.
        os.close(lock)


def _take(lock: int, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode().strip() or "unknown"
        raise Failure(
            ExitCode.ALREADY_RUNNING,
            f"{path} is in use by another `darbar up` (process {holder}); stop it, or give --data another folder",
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)


def _refuse_newer(path: Path) -> None:
    file = path / "version"
    version = 0
    with contextlib.suppress(FileNotFoundError):
        version = int(file.read_text())
    if version > DATA_VERSION:
        raise Failure(
            ExitCode.DATA_NEWER,
            f"{path} was written by a newer version (its data have version {version}, this knows {DATA_VERSION}); "
            "update, or give --data another folder",
        )
    if version < DATA_VERSION:
        file.write_text(f"{DATA_VERSION}\n")
