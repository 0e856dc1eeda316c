"""compose.yaml on this machine: its services with real servers of ours. Open this when one is not reached."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from engine import ROOT, VERSION, Container, Engine, start

from darbar_kit.embedded.kept import any_port
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.postgres import PostgresServer
from darbar_kit.testing import eventually
from darbar_local.operators.cluster import for_compose, new_secrets
from darbar_local.servers import PERMISSIONS_OF_USERS

HOST = "127.0.0.1"
# Many at once on two processors.
READY_SECONDS_MAX = 90
JOB_SECONDS_MAX = 90
_VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::-([^}]*))?\}")
_ASSIGNED = re.compile(r"^([A-Z_]+)='([^']*)'", re.MULTILINE)
_ADDRESS = re.compile(r"http://(?!localhost)(?:darbar-)?([a-z]+)(?:-(\d))?:8080")

Service = dict[str, Any]


@dataclass
class Composed:
    """`running` has the containers of `darbar` and `darbar-web` that serve, by name: `lobby`, `table-1`, `table-2`."""

    engine: Engine
    folder: Path
    variables: Mapping[str, str]
    services: Mapping[str, Service]
    running: dict[str, Container] = field(default_factory=dict)

    @property
    def gateway(self) -> str:
        return self.running["gateway"].address

    async def run_jobs(self) -> None:
        """Every migration, to its end."""
        async with asyncio.TaskGroup() as tasks:
            for name in self.services:
                if name.startswith("migrations-"):
                    tasks.create_task(self._run_job(name))

    async def _run_job(self, name: str) -> None:
        container = await self.start(name, {})
        code = await container.ended(seconds_max=JOB_SECONDS_MAX)
        assert code == 0, f"{name} ended with {code}: {container.text()}"

    async def start_services(self) -> None:
        """All of them, until each answers /healthz and /readyz."""
        ports = {copy: any_port(HOST) for _, copy in copies(self.services)}
        for name, copy in copies(self.services):
            own = {f"DARBAR_{name.upper()}_HTTP_HOST": HOST, f"DARBAR_{name.upper()}_HTTP_PORT": str(ports[copy])}
            self.running[copy] = await self.start(name, own, ports, as_name=copy)
            self.running[copy].address = f"http://{HOST}:{ports[copy]}"
        async with aiohttp.ClientSession() as session:
            for container in self.running.values():
                for path in ("/healthz", "/readyz"):
                    await eventually(partial(_answers, session, container, path), seconds=READY_SECONDS_MAX)

    async def start(
        self, name: str, own: Mapping[str, str], ports: Mapping[str, int] | None = None, as_name: str = ""
    ) -> Container:
        service = self.services[name]
        given = {variable: self._filled(text, ports or {}) for variable, text in service["environment"].items()}
        return await start(self.engine, service, {**given, **own}, name=as_name or name, folder=self.folder)

    async def stop(self) -> dict[str, int]:
        """Their exit codes."""
        stopped = await asyncio.gather(*(container.end() for container in self.running.values()))
        return dict(zip(self.running, stopped, strict=True))

    def _filled(self, text: str, ports: Mapping[str, int]) -> str:
        filled = _VARIABLE.sub(lambda found: self.variables.get(found[1]) or found[2], text)

        def address(found: re.Match[str]) -> str:
            return f"http://{HOST}:{ports['-'.join(filter(None, found.groups()))]}"

        return _ADDRESS.sub(address, filled)


async def _answers(session: aiohttp.ClientSession, container: Container, path: str) -> bool:
    assert container.process.returncode is None, f"{container.name} has ended: {container.text()}"
    try:
        async with session.get(container.address + path) as answered:
            return answered.status == 200
    except aiohttp.ClientError:
        return False


def composed_services() -> dict[str, Service]:
    """Those of our images; the servers are ours instead."""
    services = msgspec.yaml.decode((ROOT / "deploy/compose.yaml").read_bytes())["services"]
    own = {name: service for name, service in services.items() if service["image"].startswith("darbar")}
    return {name: service | {"image": as_tested(service["image"])} for name, service in own.items()}


def copies(services: Mapping[str, Service]) -> list[tuple[str, str]]:
    """What serves: the service, and the name of each of its processes, as compose numbers them."""
    return [
        (name, f"{name}-{number}" if "scale" in service else name)
        for name, service in services.items()
        if not name.startswith("migrations-")
        for number in range(1, service.get("scale", 1) + 1)
    ]


def as_tested(image: str) -> str:
    return f"{image.partition(':')[0]}:{VERSION}"


async def secrets_here(postgres: PostgresServer, nats: NatsServer) -> dict[str, str]:
    """What `darbar secrets --form compose` prints, with the addresses of these servers, which it starts."""
    admin_url = await postgres.start()
    await nats.start()
    made = dict(_ASSIGNED.findall(for_compose(new_secrets(postgres="postgres", nats="nats"))))
    server = admin_url.rpartition("@")[2].partition("/")[0]
    here = {name: value.replace("@postgres:5432", f"@{server}") for name, value in made.items()}
    urls = {f"DARBAR_{user.upper()}_NATS_URL": nats.url(user) for user in PERMISSIONS_OF_USERS}
    return {**here, **urls, "DARBAR_POSTGRES_ADMIN_DATABASE_URL": admin_url}
