"""A server of one's own, started and stopped as a child process. Open this when the demo can't start one."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import aiohttp
import msgspec

HOST = "127.0.0.1"
START_SECONDS_MAX = 120.0
STOP_SECONDS_MAX = 60.0
LOOK_SECONDS_MAX = 2.0
POLL_SECONDS = 0.1
READY = 200
LOG_LINES_SHOWN = 20
LOG_CHARACTERS_SHOWN = 300

# Nobody watches: bots act at once, count-ins are short, one address may make many guests and play quickly.
QUICK: Mapping[str, str] = {
    "DARBAR_TABLE_BOT_PAUSE_SECONDS_MIN": "0",
    "DARBAR_TABLE_BOT_PAUSE_SECONDS_MAX": "0",
    "DARBAR_TABLE_COUNT_IN_SECONDS": "0.2",
    "DARBAR_TABLE_FRAMES_A_SECOND_MAX": "2000",
    "DARBAR_LOBBY_GUESTS_AN_HOUR_MAX": "0",
    "DARBAR_LOBBY_REQUESTS_A_MINUTE_MAX": "0",
}


class ServerFailed(Exception):
    """The server did not start, or did not get ready; the message says what was seen of it last."""


class Readiness(msgspec.Struct, frozen=True):
    """What a server says of itself."""

    status: str
    missing: tuple[str, ...] = ()


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
        command = [sys.executable, "-m", "darbar_local", "up", "--port", str(self.port)]
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
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS_MAX)
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
        while await what_is_missing(self.url) != []:
            if not self.is_running or time.monotonic() > end:
                # In peace, so that it takes the PostgreSQL and NATS with it that it has started.
                await self.stop()
                raise ServerFailed(self._last_lines())
            await asyncio.sleep(POLL_SECONDS)


async def found(url: str, say: Callable[[str], None]) -> bool:
    """Whether a server is there, ready; waits for one that still starts or gets over something. Raises ServerFailed
    for one that is never ready."""
    end = time.monotonic() + START_SECONDS_MAX
    said = ""
    while missing := await what_is_missing(url):
        waits = f"Waiting for the server on {url}: {', '.join(missing)} is missing"
        if time.monotonic() > end:
            raise ServerFailed(waits)
        if waits != said:
            say(waits)
            said = waits
        await asyncio.sleep(POLL_SECONDS)
    return missing is not None


async def what_is_missing(url: str) -> list[str] | None:
    """What keeps a server from being ready; None when there is no Darbar."""
    timeout = aiohttp.ClientTimeout(total=LOOK_SECONDS_MAX)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{url}/readyz") as answered:
            readiness = msgspec.json.decode(await answered.read(), type=Readiness)
            return list(readiness.missing) or ([] if answered.status == READY else ["something"])
    except aiohttp.ClientConnectorError:
        return None
    except (aiohttp.ClientError, TimeoutError):
        # Its port is taken before it starts, and is kept while it stops.
        return ["an answer"]
    except msgspec.DecodeError:
        return None


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        port: int = found.getsockname()[1]
        return port
