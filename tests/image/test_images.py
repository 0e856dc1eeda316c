"""The images, built and started as compose.yaml does it, with real servers. Open this when a container does not start.

Not part of `make test`, for it takes minutes and needs an engine; `.ci/run` runs it. What can't be tried on a machine
is said.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from composed import Composed, as_tested, composed_services, copies, secrets_here
from engine import BASE_SECONDS_MAX, BUILD_SECONDS_MAX, ROOT, Engine, NoEngine, build_images
from rendered import JOBS, containers_of, environment_of, workloads

from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.postgres import PostgresServer
from darbar_local.gateway.web_client import HEADERS
from darbar_local.servers import PERMISSIONS_OF_USERS
from darbar_local.services import ALL

pytestmark = pytest.mark.timeout(BASE_SECONDS_MAX + BUILD_SECONDS_MAX)
ADDED_MEGABYTES_MAX = {"darbar:tested": 220, "darbar-web:tested": 80}
MEGABYTE = 1_000_000
OTHERS_MAY_ENTER = 0o711
GAME_SECONDS_MAX = 120
LOOK_SECONDS_MAX = 60
SERVING = [copy for _, copy in copies(composed_services())]
# Whoever runs it, and where something can be written.
LOOK = """
import os
def takes(folder):
    try:
        with open(folder + "/looked", "w"):
            return True
    except OSError:
        return False
print(os.getuid(), [folder for folder in ("/", "/tmp", "/opt/darbar/venv", "/usr", "/etc", "/var") if takes(folder)])
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    try:
        built = build_images()
    except NoEngine as error:
        pytest.skip(f"NO IMAGE WAS BUILT: {error}")
    yield built
    subprocess.run([built.program, "rmi", "--force", *ADDED_MEGABYTES_MAX], check=True, capture_output=True)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Not below pytest's own folder, which the user of PostgreSQL may not enter."""
    with tempfile.TemporaryDirectory(prefix="darbar-image-") as name:
        Path(name).chmod(OTHERS_MAY_ENTER)
        yield Path(name)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def composed(engine: Engine, folder: Path) -> AsyncIterator[Composed]:
    """Migrated and serving."""
    postgres = PostgresServer(folder / "postgres")
    nats = NatsServer(folder / "nats", users=PERMISSIONS_OF_USERS)
    try:
        composed = Composed(engine, folder, await secrets_here(postgres, nats), composed_services())
        try:
            await composed.run_jobs()
            await composed.start_services()
            yield composed
        finally:
            await composed.stop()
    finally:
        await nats.stop()
        await postgres.stop()


def test_the_images_are_small(engine: Engine, record_property: Callable[[str, object], None]) -> None:
    base = engine.size_bytes(engine.base)
    sizes = {image: engine.size_bytes(image) for image in ADDED_MEGABYTES_MAX}

    told = ", ".join(f"{image} {size // MEGABYTE} MB" for image, size in {engine.base: base, **sizes}.items())
    record_property("count", told)
    for image, most in ADDED_MEGABYTES_MAX.items():
        assert sizes[image] - base <= most * MEGABYTE, image


@pytest.mark.parametrize("name", ["gateway", "web"])
def test_nobody_is_root_in_them_and_nothing_but_the_folder_for_it_takes_a_file(engine: Engine, name: str) -> None:
    service = composed_services()[name]
    options = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--entrypoint=python3"]
    looked = subprocess.run(
        engine.command(service["image"], options, ["-c", LOOK]),
        capture_output=True,
        text=True,
        timeout=LOOK_SECONDS_MAX,
        check=False,
    )

    assert looked.stdout.strip() == "10001 ['/tmp']", looked.stderr


async def test_a_service_says_what_it_misses(engine: Engine) -> None:
    async def miss(name: str, prefix: str) -> None:
        command = engine.command(as_tested("darbar"), ["--read-only"], ["serve", name])
        started = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        _, said = await asyncio.wait_for(started.communicate(), LOOK_SECONDS_MAX)
        assert started.returncode == 7, said
        assert f"{prefix}NATS_URL is missing" in said.decode()

    async with asyncio.TaskGroup() as tasks:
        for service in ALL:
            tasks.create_task(miss(service.name, service.prefix))


def test_every_service_of_the_project_is_started(composed: Composed) -> None:
    assert composed.running.keys() == set(SERVING)
    assert {"gateway", "web", *(service.name for service in ALL)} == {name.partition("-")[0] for name in SERVING}


@pytest.mark.parametrize("name", SERVING)
async def test_each_is_healthy(composed: Composed, name: str) -> None:
    url = f"{composed.running[name].address}/healthz"
    async with aiohttp.ClientSession() as session, session.get(url) as answered:
        assert (answered.status, (await answered.json())["status"]) == (200, "alive")


async def test_the_gateway_leads_to_the_services_and_to_the_web_client(composed: Composed) -> None:
    async with aiohttp.ClientSession(composed.gateway) as session:
        async with session.get("/readyz") as ready:
            assert await ready.json() == {"status": "ready", "missing": []}
        async with session.get("/v1/games") as games:
            assert games.status == 200
        async with session.get("/", headers={"Accept-Encoding": "gzip"}) as page:
            assert "<title>" in await page.text()
            assert HEADERS.items() <= dict(page.headers).items()
            assert page.headers["Content-Encoding"] == "gzip"


async def test_a_whole_game_is_played_through_the_gateway(composed: Composed) -> None:
    """Without bots, which take their time over each card."""
    command = ("python3", "-m", "darbar_client.demo", "--url", composed.gateway)
    options = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", f"--entrypoint={command[0]}"]
    played = await asyncio.create_subprocess_exec(
        *composed.engine.command(as_tested("darbar"), options, command[1:]),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(played.communicate(), GAME_SECONDS_MAX)

    assert played.returncode == 0, said.decode()


@pytest.mark.parametrize("jobs", JOBS)
async def test_jobs_of_a_roll_out_find_nothing_left_to_do(composed: Composed, jobs: str) -> None:
    """What a cluster runs, in databases that are as they should be."""

    async def run(arguments: list[str], given: dict[str, str]) -> None:
        options = ["--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", *(f"--env={name}={given[name]}" for name in given)]
        command = composed.engine.command(as_tested("darbar"), options, arguments)
        ran = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        _, said = await asyncio.wait_for(ran.communicate(), LOOK_SECONDS_MAX)
        assert ran.returncode == 0, said.decode()

    async with asyncio.TaskGroup() as tasks:
        for workload in workloads(jobs):
            *_, container = containers_of(workload)
            tasks.create_task(run(container["args"], urls_here(composed, environment_of(jobs, container))))


def urls_here(composed: Composed, given: dict[str, str]) -> dict[str, str]:
    """The secrets that a manifest refers to (`darbar-lobby-owner/database-url`), as they are here."""
    named = {name: value.replace("/", "_").replace("-", "_").upper() for name, value in given.items()}
    return {name: composed.variables.get(key, given[name]) for name, key in named.items()}


async def test_all_end_in_order_when_they_are_told_to(composed: Composed) -> None:
    """The last one here: nothing serves after it."""
    assert await composed.stop() == dict.fromkeys(SERVING, 0)


def test_the_script_of_the_images_names_what_the_tests_know() -> None:
    script = (ROOT / "deploy/image.sh").read_text()
    assert all(f"build {image.partition(':')[0]} " in script for image in ADDED_MEGABYTES_MAX)
