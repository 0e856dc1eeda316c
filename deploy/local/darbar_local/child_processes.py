"""Service processes: started, watched, stopped, found again after a kill. Open this when one is left over."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import aiohttp

from darbar_kit.embedded import processes
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.gateway import origin
from darbar_local.restarts import until_failing
from darbar_local.services import Service

HOST = "127.0.0.1"
STOP_SIGNALS = ((signal.SIGTERM, 20.0),)
# In the command line of each service process: what a pid file names must have it.
MARK = "darbar_local"


class Child:
    """One service process on its own port."""

    def __init__(self, name: str, service: Service, *, port: int, folder: Path) -> None:
        self.name = name
        self.service = service
        self.base_url = f"http://{HOST}:{port}"
        self._port = port
        self._pid_file = folder / f"{name}.pid"
        self._variables: Mapping[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"{HOST}:{self._port}"

    def start(self, variables: Mapping[str, str]) -> None:
        """Without waiting until it is ready. Its settings are in these variables."""
        self._variables = variables
        # A session of its own: Ctrl-C reaches us alone, and we stop services before the servers they need.
        command = [sys.executable, "-P", "-m", MARK, "serve", self.service.name, "--port", str(self._port)]
        self._process = subprocess.Popen(
            [*command, "--pid-file", str(self._pid_file)],
            stdin=subprocess.DEVNULL,
            env=dict(self._variables),
            start_new_session=True,
        )

    async def missing(self, session: aiohttp.ClientSession) -> list[str]:
        """What it still waits for. Raises Failure when it has ended."""
        if self.exit_code is not None:
            raise Failure(ExitCode.SERVICE_FAILED, f"{self.name} didn't start; its log says why")
        return [f"{self.name}: {thing}" for thing in await origin.ask_missing(session, self.base_url)]

    async def start_again(self) -> None:
        """With the settings and the port that it had."""
        self.start(self._variables)

    async def until_lost(self) -> str:
        """Waits until it has ended, or was ended because it can't be helped; says why."""
        reason = await until_failing(self.base_url, has_ended=lambda: self.exit_code is not None)
        if not reason:
            return f"it has ended with exit code {self.exit_code}"
        await self.stop()
        return reason

    async def stop(self) -> None:
        """Lets it finish what it does, then ends it."""
        if self._process is not None:
            await processes.stop(self._process, *STOP_SIGNALS)
            self._pid_file.unlink(missing_ok=True)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return None if self._process is None else self._process.poll()


def write_pid_file(path: Path) -> None:
    """Called by the child itself: there is no moment when it runs and nobody knows."""
    path.write_text(f"{os.getpid()}\n")


def _pid_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.pid"))


async def stop_left_over(folder: Path) -> list[str]:
    """Ends service processes whose starter was killed, and tells their names."""
    found: list[str] = []
    for file in _pid_files(folder):
        with suppress(ValueError):
            pid, written_at = int(file.read_text()), file.stat().st_mtime
            process = processes.left_over(pid, written_at=written_at, mark=str(file))
            if process is not None:
                await processes.stop_left_over(process, *STOP_SIGNALS)
                found.append(file.stem)
        file.unlink()
    return found
