"""The README's commands on a clean clone, as root and as a plain user. Open this when `make run` fails for somebody.

Not part of `make test`, for it makes a user and installs several times; `.ci/run` runs it. Clones lie in a folder with
a space in its name, below one that its owner alone may enter. What can't be tried on this machine is said.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest
from tracked import ROOT

from darbar_kit.testing import eventually

IS_ROOT = os.geteuid() == 0
PORT = 8080
INSTALL_SECONDS_MAX = 300
READY_SECONDS_MAX = 90
STOP_SECONDS_MAX = 10
GAME_SECONDS_MAX = 120
CHECKS = 4
EVERYBODY_MAY_ENTER = 0o711
EVERYBODY_MAY_READ = 0o755
OWNER_ALONE = 0o700
LOGIN_PATH = "/usr/local/bin:/usr/bin:/bin"
USERS = "darbar-start-"
REMOVE = "/bin/rm"
READY = "Darbar is ready at "
NPM_SETTINGS = ("registry", "cafile")
# Where whoever runs a program may leave something behind.
LEAVINGS = ("/tmp", "/var/tmp", "/var/lib", "/var/cache", "/dev/shm", "/run", "/opt", "/home", "/srv")


@dataclass(frozen=True)
class User:
    """Who starts. Everything of theirs lies in `home`, which they alone may enter."""

    name: str
    uid: int
    gid: int
    home: Path
    python: str = ""
    """Empty: the one that the project chooses."""
    owned_before: frozenset[str] = frozenset()
    """Files of an earlier user with the same number."""

    def variables(self, wheels: Path) -> dict[str, str]:
        """A login's, and where pip finds what it installs."""
        port = {} if is_free(PORT) else {"DARBAR_PORT": str(any_free_port())}
        return {
            "HOME": str(self.home),
            "USER": self.name,
            "PATH": LOGIN_PATH,
            "PYTHON": self.python,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            **npm_settings(),
            "LANG": "C.UTF-8",
            **port,
        }


@dataclass(frozen=True)
class Started:
    """A command of the README, in a process group of its own, as a terminal starts it."""

    process: subprocess.Popen[bytes]
    output: Path

    @property
    def said(self) -> str:
        return self.output.read_text()

    async def within(self, seconds: float, condition: Callable[[], bool]) -> None:
        try:
            await eventually(condition, seconds=seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.said}") from error

    async def end(self, seconds: float) -> str:
        """All that it said."""
        await self.within(seconds, lambda: self.process.poll() is not None)
        return self.said


@dataclass
class Clone:
    """A clean clone of what is committed, and the shell of its user."""

    folder: Path
    user: User
    variables: dict[str, str]

    def start(self, *command: str, output: Path) -> Started:
        with output.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self.user.uid if IS_ROOT else None,
                group=self.user.gid if IS_ROOT else None,
                extra_groups=[] if IS_ROOT else None,
            )
        return Started(process, output)

    @property
    def data(self) -> Path:
        return self.folder / "var"


@pytest.fixture(scope="module")
def base() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="darbar-start-"))
    folder.chmod(EVERYBODY_MAY_ENTER)
    yield folder
    # Tens of thousands of small files: nobody waits for that.
    os.posix_spawn(REMOVE, [REMOVE, "-rf", str(folder)], {}, setsid=True)


@pytest.fixture(scope="module", params=["root", "plain user", "python3.12", "python3.13"])
def user(request: pytest.FixtureRequest, base: Path) -> Iterator[User]:
    home = base / request.param.replace(" ", "-")
    match request.param:
        case "root" if IS_ROOT:
            made = myself(home)
        case "root":
            pytest.skip("NOT TRIED AS ROOT: only root can")
        case "plain user":
            made = plain_user(home) if IS_ROOT else myself(home)
        case version:
            made = replace(myself(home), python=interpreter(version))
    home.mkdir(mode=OWNER_ALONE)
    os.chown(home, made.uid, made.gid)
    yield made
    if made.name.startswith(USERS):
        subprocess.run(["userdel", made.name], check=True, capture_output=True)


def myself(home: Path) -> User:
    me = pwd.getpwuid(os.geteuid())
    return User(me.pw_name, me.pw_uid, me.pw_gid, home)


def plain_user(home: Path) -> User:
    """A user of the test's own, so that whatever belongs to it was left by this start."""
    if shutil.which("useradd") is None:
        pytest.skip("NOT TRIED AS A PLAIN USER: there is no useradd to make one with")
    name = USERS + secrets.token_hex(3)
    subprocess.run(["useradd", "--no-create-home", "--home-dir", home, "--shell", "/bin/sh", name], check=True)
    entry = pwd.getpwnam(name)
    made = User(name, entry.pw_uid, entry.pw_gid, home)
    return replace(made, owned_before=owned_by(made))


def interpreter(version: str) -> str:
    """Of this version, wherever it is; a version manager has some that are not on PATH."""
    managed = (str(path.parent) for path in Path.home().glob(f".pyenv/versions/*/bin/{version}"))
    for folder in (LOGIN_PATH, *managed):
        found = shutil.which(version, path=folder)
        if found and subprocess.run([found, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0:
            return found
    pytest.skip(f"NOT TRIED WITH {version.upper()}: it is not here")


@pytest.fixture(scope="module")
def wheels(base: Path, user: User) -> Path:
    """What the lock names, fetched once for all who have the same Python."""
    folder = base / "wheels"
    python = user.python or interpreter("python3")
    # With a pip of its own: that of an older Python does not run under a newer one.
    with tempfile.TemporaryDirectory(dir=base) as fetcher:
        subprocess.run([python, "-m", "venv", fetcher], check=True, timeout=INSTALL_SECONDS_MAX)
        download = ["download", "--quiet", "--require-hashes", "--only-binary", ":all:", "-d", str(folder)]
        subprocess.run(
            [Path(fetcher) / "bin/python", "-m", "pip", *download, "-r", ROOT / "requirements.lock"],
            check=True,
            timeout=INSTALL_SECONDS_MAX,
        )
    folder.chmod(EVERYBODY_MAY_READ)
    return folder


@pytest.fixture(scope="module")
def clone(user: User, wheels: Path) -> Clone:
    folder = user.home / "some games" / "Därbar"
    folder.parent.mkdir()
    git = ["git", "-c", "safe.directory=*", "clone", "--quiet", "--no-hardlinks"]
    subprocess.run([*git, str(ROOT), str(folder)], check=True, timeout=INSTALL_SECONDS_MAX)
    for path in (folder.parent, folder, *folder.rglob("*")):
        os.chown(path, user.uid, user.gid, follow_symlinks=False)
    return Clone(folder, user, user.variables(wheels))


def npm_settings() -> dict[str, str]:
    """What npm is set up for here, which a user of the test's own would not know; nothing without a Node."""
    npm = shutil.which("npm", path=LOGIN_PATH)
    if npm is None:
        return {}
    said = {name: subprocess.check_output([npm, "config", "get", name], text=True).strip() for name in NPM_SETTINGS}
    return {f"npm_config_{name}": value for name, value in said.items() if value != "null"}


async def page_at(url: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(url) as page:
        return await page.text()


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def any_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def run_and_play_and_stop(clone: Clone, output: Path) -> None:
    """`make run`, `make demo` beside it, Ctrl-C."""
    running = clone.start("make", "run", output=output)
    try:
        await running.within(READY_SECONDS_MAX, lambda: READY in running.said or running.process.poll() is not None)
        assert READY in running.said, running.said
        url = running.said.partition(READY)[2].split()[0]

        # Without Node (here its wheel can't be had either) a page says what is missing.
        assert ("module" in await page_at(url)) == ("npm_config_registry" in clone.variables), running.said

        played = await play(clone, url, output.with_name(f"demo-of-{output.name}"))
        assert "No server" not in played
        assert f"at {url}: " in played
        assert [line.split()[0] for line in played.splitlines()[-CHECKS:]] == ["true"] * CHECKS

        os.killpg(running.process.pid, signal.SIGINT)
        said = await running.end(STOP_SECONDS_MAX)
        assert "Darbar has stopped" in said
        assert "Traceback" not in said
        assert processes_of(clone) == []
    finally:
        for process in processes_of(clone):
            process.kill()


async def play(clone: Clone, url: str, output: Path) -> str:
    """Without a word where to play when the server is where everybody expects it."""
    given = [] if url.endswith(f":{PORT}") else [f"URL={url}"]
    playing = clone.start("make", "demo", *given, output=output)
    said = await playing.end(GAME_SECONDS_MAX)
    assert playing.process.returncode == 0, said
    return said


def processes_of(clone: Clone) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if is_of(process, clone)]


def is_of(process: psutil.Process, clone: Clone) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        works_there = Path(process.cwd()).is_relative_to(clone.folder)
        return bool(works_there or any(str(clone.folder) in word for word in process.cmdline()))
    except psutil.Error:
        return False


async def test_it_starts_plays_stops_and_starts_again(clone: Clone, tmp_path: Path) -> None:
    await run_and_play_and_stop(clone, tmp_path / "first")
    if clone.user.python:
        return  # The second start does not depend on the version of Python.
    key = (clone.data / "token_key.pem").read_bytes()
    cluster = clone.data / "postgres" / "place" / "pg" / "PG_VERSION"
    made = cluster.stat()

    await run_and_play_and_stop(clone, tmp_path / "second")

    assert (clone.data / "token_key.pem").read_bytes() == key
    assert (cluster.stat().st_ino, cluster.stat().st_mtime_ns) == (made.st_ino, made.st_mtime_ns)


def test_the_data_is_in_var_and_nowhere_else(clone: Clone) -> None:
    assert [path for path in clone.data.rglob("*") if path.is_symlink()] == []
    assert bytes_in(clone.data / "postgres" / "place" / "pg" / "base") > 1_000_000
    assert bytes_in(clone.data / "nats" / "jetstream") > 0


def test_nothing_is_left_outside(clone: Clone) -> None:
    """Beside .venv, the client with what built it, and what Python keeps of the sources it has read."""
    assert sorted(path.name for path in clone.user.home.iterdir()) == ["some games"]
    ignored = git_says(clone, "status", "--porcelain", "--ignored")
    client = {"!! web/dist/", "!! web/node_modules/"} if "npm_config_registry" in clone.variables else set()
    made = {"!! .venv/", "!! build/", "!! var/", *client}
    assert {line for line in ignored if "__pycache__" not in line} == made
    if clone.user.name.startswith(USERS):
        assert owned_by(clone.user) - clone.user.owned_before == set()


def git_says(clone: Clone, *command: str) -> list[str]:
    git = ["git", "-c", "safe.directory=*", "-c", "core.quotePath=false", "-C", str(clone.folder)]
    return subprocess.run([*git, *command], check=True, capture_output=True, text=True).stdout.splitlines()


def owned_by(user: User) -> frozenset[str]:
    """Outside of their home."""
    find = ["find", *LEAVINGS, "-path", str(user.home), "-prune", "-o", "-user", str(user.uid), "-print"]
    found = subprocess.run(find, check=False, capture_output=True, text=True).stdout
    return frozenset(found.splitlines())


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
