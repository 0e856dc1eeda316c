"""A server of one's own, started and stopped as a child process. Open this when the demo can't start one."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import aiohttp
import msgspec

from darbar_client.http import NO_TIMEOUT

HOST = "127.0.0.1"
# Below those of outgoing connections, which come and go.
PORT_MIN = 16_384
PORTS = 16_384
PORT_TRIES = 20
START_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 60.0
READINESS_SECONDS_MAX = 2.0
POLL_SECONDS = 0.1
READY = 200
OTHERS_MAY_ENTER = 0o711
LOG_LINES_SHOWN = 20
LOG_CHARACTERS_SHOWN = 300

# Nobody watches: bots act at once, count-ins are short, one address may make many guests and play quickly.
QUICK: Mapping[str, str] = {
    "DARBAR_TABLE_BOT_PAUSE_SECONDS_MIN": "0",
    "DARBAR_TABLE_BOT_PAUSE_SECONDS_MAX": "0",
    "DARBAR_TABLE_COUNT_IN_SECONDS": "0.2",
    "DARBAR_TABLE_FRAMES_A_SECOND_MAX": "2000",
    "DARBAR_TABLE_SOCKETS_AN_ADDRESS_MAX": "0",
    "DARBAR_LOBBY_GUESTS_AN_HOUR_MAX": "0",
    "DARBAR_LOBBY_REQUESTS_A_MINUTE_MAX": "0",
}


def new_folder() -> Path:
    """For a server of one's own. PostgreSQL may run as another user, who has to get through."""
    folder = Path(tempfile.mkdtemp(prefix="darbar-demo-"))
    folder.chmod(OTHERS_MAY_ENTER)
    return folder


class ServerFailed(Exception):
    """The server did not start, or did not get ready; the message says what was seen of it last."""


class LocalServer:
    """`darbar up` on a free port, with its data in a folder that the caller made."""

    def __init__(self, folder: Path, *, settings: Mapping[str, str] = QUICK) -> None:
        self.port = free_port()
        self._folder = folder
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        return self._folder / "server.log"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Returns when it is ready. May be called again after `stop` or `kill`: the data and the port stay."""
        variables = [f"{name}={value}" for name, value in self._settings.items()]
        command = [sys.executable, "-P", "-m", "darbar_local", "up", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                "env",
                *variables,
                *command,
                "--data",
                str(self._folder / "data"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C is for us: we stop it when the players have left.
                start_new_session=True,
            )
        try:
            await self._until_ready()
        except asyncio.CancelledError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends it in peace; a server that does not go is killed."""
        if self._process is None or self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_SECONDS_MAX):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """kill -9: no goodbye to anybody. PostgreSQL and NATS run on until the next `start` with this folder finds
        them, so whoever kills starts again, and stops."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    def _last_lines(self) -> str:
        """A logged traceback is one long line: its end says what went wrong."""
        lines = self.log.read_text().splitlines()[-LOG_LINES_SHOWN:]
        return "\n".join(line[-LOG_CHARACTERS_SHOWN:] for line in lines)

    async def _until_ready(self) -> None:
        assert self._process is not None
        end = time.monotonic() + START_SECONDS_MAX
        while await missing_at(self.url) != ():
            if not self.is_running or time.monotonic() > end:
                # In peace, so that it takes the PostgreSQL and NATS with it that it has started.
                await self.stop()
                raise ServerFailed(self._last_lines())
            await asyncio.sleep(POLL_SECONDS)


class _Readiness(msgspec.Struct, frozen=True):
    status: str
    missing: tuple[str, ...] = ()


async def until_ready(url: str, *, tell: Callable[[str], None], seconds: float = START_SECONDS_MAX) -> bool:
    """Waits for a server that answers but is not ready, and tells what it waits for; False: no server is there.

    Raises ServerFailed when it does not get ready in time.
    """
    end = time.monotonic() + seconds
    told = ""
    while missing := await missing_at(url):
        waiting = f"Waiting for the server on {url}: {', '.join(missing)} is missing"
        if time.monotonic() > end:
            raise ServerFailed(waiting)
        if waiting != told:
            tell(waiting)
            told = waiting
        await asyncio.sleep(POLL_SECONDS)
    return missing is not None


async def missing_at(url: str, *, seconds: float = READINESS_SECONDS_MAX) -> tuple[str, ...] | None:
    """What keeps a server from being ready, nothing when it is; None: there is no server of ours."""
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession(timeout=NO_TIMEOUT) as session,
            session.get(f"{url}/readyz") as answered,
        ):
            readiness = msgspec.json.decode(await answered.read(), type=_Readiness)
            return readiness.missing or (() if answered.status == READY else ("something",))
    except aiohttp.ClientConnectorError:
        return None
    except (aiohttp.ClientError, TimeoutError):
        # Its port is taken before it starts, and is kept while it stops.
        return ("an answer",)
    except msgspec.DecodeError:
        return None


def free_port() -> int:
    """A port that nobody listens on just now, and that the system gives to no outgoing connection meanwhile."""
    for _ in range(PORT_TRIES):
        port = PORT_MIN + secrets.randbelow(PORTS)
        with contextlib.suppress(OSError), socket.socket() as found:
            found.bind((HOST, port))
            return port
    raise ServerFailed(f"no port of {HOST} could be had")
