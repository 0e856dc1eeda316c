"""The user that PostgreSQL runs as, and how it reaches its data. Open this when it can't enter a folder.

PostgreSQL refuses to run as root. Started by root it runs as `postgres`, else `nobody`, and that user often can't pass
the folders above the project (/root, a home with mode 0700). It need not: root starts it inside the folder of its data,
where a process may stay whatever lies above, and there the folder is called HERE.
"""

import errno
import os
import pwd
import subprocess
from pathlib import Path
from typing import IO

import msgspec

HERE = Path("/proc/self/cwd")
_USERS = ("postgres", "nobody")
_OUTPUT_SECONDS_MAX = 60.0
_OURS_ALONE = 0o700


class FolderUnusable(Exception):
    """The server's user can't work in a folder, or there is no such user."""


class ServerUser(msgspec.Struct, frozen=True):
    """Who runs the server: ourselves (None), or the user that root gives it to."""

    uid: int | None = None
    gid: int | None = None

    def start(self, command: list[str], *, output: int | IO[bytes], folder: Path) -> "subprocess.Popen[bytes]":
        """Starts it in this folder. A session of its own keeps the terminal's Ctrl-C from it: we end it after the
        services that need it."""
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
                start_new_session=True,
                user=self.uid,
                group=self.gid,
                extra_groups=None if self.uid is None else [],
            )
        except OSError as error:
            # EINVAL: a container that knows no other user.
            if self.uid is not None and error.errno in (errno.EPERM, errno.EINVAL):
                raise _no_other_user(error) from error
            raise

    def output(self, command: list[str], *, folder: Path) -> tuple[int, str]:
        """Runs a short program to its end: its exit code and what it said."""
        with self.start(command, output=subprocess.PIPE, folder=folder) as process:
            said, _ = process.communicate(timeout=_OUTPUT_SECONDS_MAX)
        return process.returncode, said.decode(errors="replace")

    def name_inside(self, folder: Path) -> str:
        """How a program started in this folder has to name it."""
        return str(folder if self.uid is None or not HERE.exists() else HERE)

    def give(self, path: Path) -> None:
        """Makes the user the owner."""
        if self.uid is not None and self.gid is not None:
            try:
                os.chown(path, self.uid, self.gid, follow_symlinks=False)
            except OSError as error:
                raise _no_other_user(error) from error

    def can_work_in(self, folder: Path) -> bool:
        """Tried as that user: only the kernel knows about access lists and mounts."""
        command = ["/bin/sh", "-c", 'cd "$1" && test -w .', "sh", self.name_inside(folder)]
        return self.output(command, folder=folder)[0] == 0

    def owns(self, folder: Path) -> bool:
        return folder.stat().st_uid == (os.geteuid() if self.uid is None else self.uid)


def find_server_user() -> ServerUser:
    """Ourselves, unless we are root."""
    if os.geteuid() != 0:
        return ServerUser()
    for name in _USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerUser(uid=entry.pw_uid, gid=entry.pw_gid)
    raise FolderUnusable("PostgreSQL can't run as root, and there is no user postgres or nobody to run it as")


def open_folder(path: Path, user: ServerUser) -> Path:
    """The folder at this absolute path, made when it isn't there, in which the server's user can work."""
    if path.is_symlink() and not path.exists():
        raise FolderUnusable(f"the data was in {path.readlink()}, which is gone; remove {path} to start without it")
    path.mkdir(mode=_OURS_ALONE, exist_ok=True)
    folder = path.resolve()
    if user.uid is not None and not any(folder.iterdir()):
        user.give(folder)
    if not user.owns(folder):
        raise FolderUnusable(f"{folder} belongs to another user; start as the user that made it")
    if not user.can_work_in(folder):
        raise FolderUnusable(f"the user that runs PostgreSQL can't work in {folder}; open the folders above it")
    return folder


def _no_other_user(error: OSError) -> FolderUnusable:
    return FolderUnusable(
        f"PostgreSQL can't run as root, and root can't run it as another user here ({error.strerror}); set DATABASE_URL"
    )
