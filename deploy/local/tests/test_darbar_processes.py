"""`darbar up --processes` from outside. Open this when a service process is lost or left over."""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest

from darbar_kit.embedded.processes import gone
from darbar_kit.testing import eventually
from darbar_local.exit_codes import ExitCode
from darbar_local.testing import Darbar, run

Start = Callable[..., Awaitable[Darbar]]


@dataclass(frozen=True)
class Shared:
    url: str
    children: dict[str, psutil.Process]


ALL = {"postgres", "nats-server", "wallet", "media", "bot", "table-1", "table-2", "lobby"}


@pytest.fixture
async def up(darbar: Start, data: Path) -> Darbar:
    return await darbar("up", "--data", str(data), "--port", "0", "--processes", "--tables", "2")


async def get(url: str) -> dict[str, object]:
    async with aiohttp.ClientSession() as session, session.get(url) as answered:
        body: dict[str, object] = await answered.json()
        return body


async def is_ready(url: str) -> bool:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/readyz") as answered:
        return answered.status == 200


async def all_gone(children: dict[str, psutil.Process]) -> None:
    await eventually(lambda: all(gone(child) for child in children.values()), seconds=30)


@pytest.fixture(scope="module")
async def shared(tiny_services: Path, servers_folder: Path) -> AsyncIterator[Shared]:
    """One run for all tests that only look."""
    arguments = ("up", "--data", str(servers_folder / "var-processes"), "--port", "0", "--processes", "--tables", "2")
    variables = {"PYTHONPATH": str(tiny_services), "DARBAR_UNSAFE_STORAGE": "1"}
    async with run(*arguments, variables=variables) as up:
        yield Shared(url=await up.ready(), children=up.children())


async def test_each_service_has_a_process(shared: Shared) -> None:
    url, children = shared.url, shared.children

    assert set(children) == ALL
    assert (await get(f"{url}/v1/x"))["process"] == children["lobby"].pid
    assert (await get(f"{url}/v1/me/wallet"))["process"] == children["wallet"].pid


async def test_the_lobby_is_told_who_asks(shared: Shared) -> None:
    answered = await get(f"{shared.url}/v1/x")

    assert answered["forwarded_for"] == "127.0.0.1"
    assert answered["trusted_proxies"] == ["127.0.0.1", "::1"]


async def test_a_named_process_is_reached_whichever_it_is(shared: Shared) -> None:
    url, children = shared.url, shared.children
    addresses: set[str] = set()
    while len(addresses) < 2:
        addresses.add(str((await get(f"{url}/v1/tables/7/audit"))["address"]))

    reached = set()
    async with aiohttp.ClientSession() as session:
        for address in sorted(addresses) * 3:
            name = address.replace(":", "-")
            async with session.ws_connect(f"{url}/play/at/{name}/tables/7/socket") as socket:
                await socket.send_str("hello")
                reached.add((address, (await socket.receive_str(timeout=10)).split()[0]))
        async with session.get(f"{url}/play/at/nobody/tables/7/socket") as answered:
            assert (answered.status, (await answered.json())["code"]) == (404, "process_unknown")

    assert len(reached) == 2
    assert {pid for _, pid in reached} == {str(children[name].pid) for name in ("table-1", "table-2")}


async def test_the_port_answers_for_all_processes_together(shared: Shared) -> None:
    assert await get(f"{shared.url}/readyz") == {"status": "ready", "missing": []}
    await get(f"{shared.url}/v1/x")
    async with aiohttp.ClientSession() as session, session.get(f"{shared.url}/metrics") as page:
        text = await page.text()
    assert 'tiny_requests_total{service="lobby"}' in text
    assert 'tiny_requests_total{service="table-2"}' in text
    assert text.count("# TYPE tiny_requests_total") == 1


@pytest.mark.parametrize("name", ["table-2", "lobby"])
async def test_a_service_that_dies_is_started_again_while_the_others_go_on(up: Darbar, name: str) -> None:
    url = await up.ready()
    before = up.children()

    before[name].kill()
    await eventually(lambda: up.children().get(name, before[name]) != before[name], seconds=60)
    await eventually(lambda: is_ready(url), seconds=60)

    after = up.children()
    assert {child for child in ALL if after[child] != before[child]} == {name}
    async with aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as page:
        assert f'local_task_restarts_total{{service="local",task="{name}"}} 1.0' in await page.text()


async def test_a_service_that_only_a_new_process_helps_gets_one(
    darbar: Start, data: Path, given: dict[str, str]
) -> None:
    up = await darbar("up", "--data", str(data), "--port", "0", "--processes", **given)
    url = await up.ready()
    before = up.children()

    assert (await get(f"{url}/v1/ill"))["service"] == "lobby"
    await all_gone({"lobby": before["lobby"]})
    await eventually(lambda: is_ready(url), seconds=60)

    assert {name for name, child in up.children().items() if child != before[name]} == {"lobby"}


async def test_while_one_of_several_processes_is_away_the_others_answer(up: Darbar) -> None:
    url = await up.ready()
    children = up.children()
    children["table-1"].suspend()
    children["table-1"].kill()

    answered = [await get(f"{url}/v1/tables/7/audit") for _ in range(20)]

    assert {answer["service"] for answer in answered} == {"table"}


async def test_a_signal_stops_everything(up: Darbar) -> None:
    await up.ready()
    children = up.children()

    code, complaints = await up.end(signal.SIGINT)

    assert code == 0
    assert "Traceback" not in complaints
    await all_gone(children)


async def test_a_killed_start_leaves_nothing_that_hinders_the_next(up: Darbar, darbar: Start, data: Path) -> None:
    await up.ready()
    children = up.children()

    await up.end(signal.SIGKILL)
    assert not any(gone(child) for child in children.values())
    second = await darbar()
    url = await second.ready()

    assert await get(f"{url}/readyz") == {"status": "ready", "missing": []}
    assert await second.tells("table-2")
    await all_gone(children)


async def test_a_service_that_cannot_start_is_told(darbar: Start, data: Path, given: dict[str, str]) -> None:
    up = await darbar("up", "--data", str(data), "--port", "0", "--processes", DARBAR_LOBBY_FAILS="start", **given)
    code, complaints = await up.end()

    assert code == ExitCode.SERVICE_FAILED
    assert "nothing works today" in complaints
    assert "Traceback" not in complaints
    assert complaints.splitlines()[-1].startswith("darbar: lobby didn't start")
