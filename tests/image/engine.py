"""The engine that builds and runs containers here, and the images it has built. Open this when there should be one."""

from __future__ import annotations

import asyncio
import secrets
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darbar_kit.settings import environment

ROOT = Path(__file__).resolve().parents[2]
VERSION = "tested"
FIND_SECONDS_MAX = 60
INSTALL_SECONDS_MAX = 400
BASE_SECONDS_MAX = 450
PROBE_SECONDS_MAX = 60
BUILD_SECONDS_MAX = 600
STOP_SECONDS_MAX = 60
LOG_CHARACTERS_MAX = 4000
# What engines give without being asked is more than a machine may allow.
LIMITS = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
PROBE = "import ssl, sqlite3, uuid"


class NoEngine(Exception):
    """No image can be built or run on this machine; the message says why."""


@dataclass(frozen=True)
class Engine:
    """`program` has built `darbar` and `darbar-web`, with the version VERSION, on `base`."""

    program: str
    base: str

    def size_bytes(self, image: str) -> int:
        told = subprocess.run(
            [self.program, "image", "inspect", "--format", "{{.Size}}", image],
            capture_output=True,
            text=True,
            check=True,
            timeout=FIND_SECONDS_MAX,
        )
        return int(told.stdout)

    def command(self, image: str, options: Sequence[str], arguments: Sequence[str]) -> list[str]:
        """On the network of this machine, where the servers and the test are."""
        return [self.program, "run", "--rm", "--network=host", *LIMITS, *options, image, *arguments]


@dataclass
class Container:
    """One that runs in the foreground of a process of ours."""

    name: str
    engine: Engine
    process: asyncio.subprocess.Process
    log: Path
    address: str = ""

    def text(self) -> str:
        return self.log.read_text(errors="replace")[-LOG_CHARACTERS_MAX:]

    async def end(self, *, seconds_max: float = STOP_SECONDS_MAX) -> int:
        """Its exit code, by itself or after SIGTERM, which the engine hands on."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        return await self.ended(seconds_max=seconds_max)

    async def ended(self, *, seconds_max: float) -> int:
        """Waits until it has ended by itself. One that doesn't is removed, and the wait raises."""
        try:
            return await asyncio.wait_for(self.process.wait(), seconds_max)
        except TimeoutError as error:
            await self._remove()
            raise AssertionError(f"{self.name} has not ended within {seconds_max} s: {self.text()}") from error

    async def _remove(self) -> None:
        remove = await asyncio.create_subprocess_exec(self.engine.program, "rm", "--force", self.name)
        await remove.wait()
        self.process.kill()
        await self.process.wait()


async def start(
    engine: Engine, service: Mapping[str, Any], variables: Mapping[str, str], *, name: str, folder: Path
) -> Container:
    """A service as compose.yaml has it, with these variables."""
    entrypoint, *words = [*service.get("entrypoint", ()), *service.get("command", ())] or [""]
    options = [f"--name=darbar-tested-{secrets.token_hex(4)}-{name}", *_options(service)]
    if "entrypoint" in service:
        options.append(f"--entrypoint={entrypoint}")
    elif entrypoint:
        words = [entrypoint, *words]
    # By name alone: no secret is in the list of processes.
    options += [f"--env={variable}" for variable in variables]
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *engine.command(service["image"], options, words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**environment(), **variables},
        )
    return Container(options[0].partition("=")[2], engine, process, log)


def _options(service: Mapping[str, Any]) -> list[str]:
    return [
        f"--user={service['user']}",
        *(["--read-only"] if service["read_only"] else []),
        *(f"--tmpfs={path}" for path in service["tmpfs"]),
        *(f"--cap-drop={name}" for name in service["cap_drop"]),
        *(f"--security-opt={option}" for option in service["security_opt"]),
    ]


def build_images() -> Engine:
    """Raises NoEngine where that is the machine's fault, and AssertionError where it is ours."""
    program = _told("deploy/engine.sh", seconds_max=FIND_SECONDS_MAX)
    base = _told("deploy/base.sh", seconds_max=BASE_SECONDS_MAX)
    engine = Engine(program, base)
    if program == "buildah":
        raise NoEngine("buildah alone builds images and starts none")
    _probe(engine)
    built = subprocess.run(
        ["bash", str(ROOT / "deploy/image.sh"), VERSION],
        capture_output=True,
        text=True,
        env={**environment(), "BASE": base},
        timeout=BUILD_SECONDS_MAX,
        check=False,
    )
    assert built.returncode == 0, built.stdout[-LOG_CHARACTERS_MAX:] + built.stderr[-LOG_CHARACTERS_MAX:]
    return engine


def _told(script: str, *, seconds_max: float) -> str:
    try:
        told = subprocess.run(
            ["bash", str(ROOT / script)], capture_output=True, text=True, timeout=seconds_max, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise NoEngine(f"{script} did not end within {seconds_max} s") from error
    if told.returncode:
        raise NoEngine(f"{script}: {told.stderr.strip()[-LOG_CHARACTERS_MAX:]}")
    return told.stdout.strip()


def _probe(engine: Engine) -> None:
    """Whether a container starts at all, before anything of ours is in it."""
    command = engine.command(engine.base, ["--read-only", "--cap-drop=ALL"], ["python3", "-c", PROBE])
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired as error:
        raise NoEngine(f"{engine.program} starts no container within {PROBE_SECONDS_MAX} s") from error
    if tried.returncode:
        raise NoEngine(f"{engine.program} starts no container: {tried.stderr.strip()[-LOG_CHARACTERS_MAX:]}")
