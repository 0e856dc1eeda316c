"""`darbar up` from outside. Open this when a start, a stop or a second start goes wrong."""

import re
import signal
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import asyncpg
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest

from darbar_kit.embedded.processes import gone
from darbar_kit.service import reserve
from darbar_kit.testing import MakeNats, eventually
from darbar_local.exit_codes import ExitCode
from darbar_local.servers import PERMISSIONS_OF_USERS
from darbar_local.testing import Darbar, run

Start = Callable[..., Awaitable[Darbar]]


@dataclass(frozen=True)
class Shared:
    up: Darbar
    url: str
    data: Path


OWNERS = (
    ("/v1/guests", "lobby"),
    ("/v1/me", "lobby"),
    ("/v1/tables", "lobby"),
    ("/v1/tables/7", "lobby"),
    ("/v1/tables/7/replay?after=1", "table"),
    ("/v1/tables/7/audit", "table"),
    ("/v1/me/wallet", "wallet"),
    ("/join/x", "lobby"),
)


async def get(url: str) -> dict[str, object]:
    async with aiohttp.ClientSession() as session, session.get(url) as answered:
        body: dict[str, object] = await answered.json()
        return body


async def status(url: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url) as answered:
        return answered.status


def is_there(path: Path) -> bool:
    return path.exists()


async def is_ready(url: str) -> bool:
    try:
        return await status(f"{url}/readyz") == 200
    except aiohttp.ClientError:
        return False


async def restarts(url: str) -> dict[str, float]:
    """How often what was started again, as far as it was."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as page:
        text = await page.text()
    counted = re.findall(r'^local_task_restarts_total\{service="local",task="(.*)"\} (.*)$', text, re.MULTILINE)
    return {name: float(count) for name, count in counted if float(count)}


async def restarted(url: str, name: str) -> bool:
    return name in await restarts(url)


async def notes(url: str) -> object:
    return await get(f"{url}/v1/notes")


async def remembers(url: str) -> bool:
    return await is_ready(url) and await notes(url) == ["remember me"]


async def add_note(url: str, text: str) -> None:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/notes", data=text) as answered:
        assert answered.status == 201


async def all_gone(children: list[psutil.Process]) -> None:
    await eventually(lambda: all(gone(child) for child in children), seconds=30)


@pytest.fixture(scope="module")
async def shared(tiny_services: Path, servers_folder: Path) -> AsyncIterator[Shared]:
    """One run for all tests that only look."""
    data = servers_folder / "var-shared"
    variables = {
        "PYTHONPATH": str(tiny_services),
        "DARBAR_UNSAFE_STORAGE": "1",
        "DARBAR_WEB": str(data / "no-client"),
        "DARBAR_LOBBY_PUBLIC_URL": "https://darbar.example",
    }
    async with run("up", "--data", str(data), "--port", "0", variables=variables) as up:
        yield Shared(up=up, url=await up.ready(), data=data)


@pytest.mark.parametrize(("path", "service"), OWNERS)
async def test_a_path_reaches_the_service_that_owns_it(shared: Shared, path: str, service: str) -> None:
    answered = await get(shared.url + path)

    assert (answered["service"], answered["path"]) == (service, path)


async def test_the_port_answers_for_all_services_together(shared: Shared) -> None:
    assert await get(f"{shared.url}/readyz") == {"status": "ready", "missing": []}
    assert await get(f"{shared.url}/healthz") == {"status": "alive", "missing": []}
    assert (await get(f"{shared.url}/nowhere"))["code"] == "not_found"
    await get(f"{shared.url}/v1/x")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{shared.url}/metrics") as page:
            text = await page.text()
        assert 'tiny_requests_total{service="lobby"}' in text
        assert text.count("# TYPE tiny_requests_total") == 1
        async with session.get(f"{shared.url}/") as page:
            assert "Darbar is running" in await page.text()


async def test_each_service_keeps_its_own_middlewares(shared: Shared) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{shared.url}/v1/x") as page:
        assert page.headers.getall("X-Served-By") == ["lobby"]


async def test_a_socket_reaches_the_table_service(shared: Shared) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{shared.url}/play/tables/7/socket") as socket:
        await socket.send_str("hello")
        assert (await socket.receive_str(timeout=10)) == f"{shared.up.pid} hello"


async def test_secrets_are_readable_by_their_owner_alone(shared: Shared) -> None:
    secret = ["token_key.pem", "passwords.json", "postgres/password", "nats/passwords.json", "nats/nats.conf"]

    assert {name: stat.S_IMODE((shared.data / name).stat().st_mode) for name in secret} == dict.fromkeys(secret, 0o600)


async def test_what_is_in_the_environment_is_stronger_than_what_is_made(shared: Shared) -> None:
    assert (await get(f"{shared.url}/v1/x"))["public_url"] == "https://darbar.example"


async def test_two_on_the_same_data_are_refused(shared: Shared, darbar: Start) -> None:
    second = await darbar("up", "--data", str(shared.data), "--port", "0")
    code, complaints = await second.end()

    assert code == ExitCode.ALREADY_RUNNING
    assert complaints.count("\n") == 1
    assert f"process {shared.up.pid}" in complaints


@pytest.mark.parametrize("wiring", [[], ["--processes"]])
async def test_without_being_told_the_data_is_in_var_where_it_was_started(
    darbar: Start, servers_folder: Path, wiring: list[str]
) -> None:
    folder = servers_folder / f"a project {len(wiring)}"
    folder.mkdir(mode=0o700)
    # What lies where it is started is none of its modules.
    (folder / "asyncio.py").write_text("raise SystemExit('this is not the standard library')\n")

    up = await darbar("up", "--port", "0", *wiring, folder=folder)
    await up.ready()

    assert up.lines[0] == f"Darbar starts, with its data in {folder / 'var'}"
    assert all(is_there(folder / "var" / name) for name in ("postgres/place/pg/PG_VERSION", "nats/jetstream"))
    assert not (folder / "var" / "postgres" / "place").is_symlink()


async def test_a_signal_stops_everything(darbar: Start) -> None:
    up = await darbar()
    await up.ready()
    children = up.children()
    assert set(children) == {"postgres", "nats-server"}

    code, complaints = await up.end(signal.SIGINT)

    assert (code, up.lines[-1]) == (0, "Darbar has stopped")
    assert "Traceback" not in complaints
    await all_gone(list(children.values()))


async def test_a_signal_while_it_starts_stops_it_too(darbar: Start, data: Path) -> None:
    up = await darbar()
    await eventually(lambda: "postgres" in up.children(), seconds=60)
    children = up.children()

    code, complaints = await up.end(signal.SIGINT)

    assert (code, up.lines[-1]) == (0, "Darbar has stopped")
    assert "Traceback" not in complaints
    await all_gone(list(children.values()))
    again = await darbar()
    assert await status(f"{await again.ready()}/readyz") == 200


async def test_the_second_start_finds_the_data_of_the_first(darbar: Start, data: Path) -> None:
    first = await darbar()
    await add_note(await first.ready(), "remember me")
    await first.end(signal.SIGTERM)
    key = (data / "token_key.pem").read_text()

    second = await darbar()

    assert await notes(await second.ready()) == ["remember me"]
    assert (data / "token_key.pem").read_text() == key


async def test_a_killed_start_leaves_nothing_that_hinders_the_next(darbar: Start) -> None:
    first = await darbar()
    await add_note(await first.ready(), "remember me")
    children = list(first.children().values())

    await first.end(signal.SIGKILL)
    assert not any(gone(child) for child in children)
    second = await darbar()

    assert await notes(await second.ready()) == ["remember me"]
    await all_gone(children)


@pytest.mark.parametrize(("child", "name"), [("postgres", "postgres"), ("nats-server", "nats")])
async def test_a_server_that_dies_is_started_again_and_nothing_is_lost(darbar: Start, child: str, name: str) -> None:
    up = await darbar(DARBAR_UNSAFE_STORAGE="")
    url = await up.ready()
    await add_note(url, "remember me")
    before = up.children()

    before[child].kill()
    await eventually(lambda: up.children().get(child, before[child]) != before[child], seconds=60)
    await eventually(lambda: remembers(url), seconds=60)

    assert await restarts(url) == {name: 1.0}
    assert (await up.end(signal.SIGINT))[0] == 0


async def test_a_stop_just_after_a_server_died_is_quiet(darbar: Start) -> None:
    up = await darbar()
    await up.ready()
    children = up.children()

    children["postgres"].kill()
    children["nats-server"].kill()
    code, complaints = await up.end(signal.SIGINT)

    assert (code, up.lines[-1]) == (0, "Darbar has stopped")
    assert "Traceback" not in complaints
    await all_gone(list(children.values()))


async def test_services_that_only_a_new_start_helps_are_started_again(darbar: Start, given: dict[str, str]) -> None:
    up = await darbar(**given)
    url = await up.ready()
    first = await get(f"{url}/v1/x")

    assert await status(f"{url}/v1/ill") == 200
    await eventually(lambda: restarted(url, "services"), seconds=60)
    await eventually(lambda: is_ready(url), seconds=60)

    second = await get(f"{url}/v1/x")
    assert (first["process"], first["life"] != second["life"]) == (second["process"], True)


async def test_a_port_that_is_taken_is_told_before_anything_starts(darbar: Start, data: Path) -> None:
    with reserve("127.0.0.1", 0) as taken:
        up = await darbar("up", "--data", str(data), "--port", str(taken.getsockname()[1]))
        code, complaints = await up.end()

    assert code == ExitCode.PORT_TAKEN
    assert complaints.count("\n") == 1
    assert "--port" in complaints
    assert not is_there(data)


@pytest.fixture
def newer_data(data: Path) -> Path:
    data.mkdir()
    (data / "version").write_text("99\n")
    return data


@pytest.mark.usefixtures("newer_data")
async def test_data_of_a_newer_version_are_refused(darbar: Start) -> None:

    code, complaints = await (await darbar()).end()

    assert code == ExitCode.DATA_NEWER
    assert complaints.count("\n") == 1
    assert "99" in complaints


async def test_a_database_of_a_newer_version_is_refused(darbar: Start, data: Path, tiny_services: Path) -> None:
    extra = tiny_services / "darbar_wallet" / "migrations" / "0002_pre_of_tomorrow.sql"
    extra.write_text("SELECT 1;")
    first = await darbar()
    await first.ready()
    await first.end(signal.SIGTERM)
    extra.unlink()

    code, complaints = await (await darbar()).end()

    assert code == ExitCode.DATA_NEWER
    assert complaints.count("\n") == 1
    assert "0002_pre_of_tomorrow" in complaints


async def test_all_wrong_settings_are_told_by_their_names_before_anything_starts(darbar: Start, data: Path) -> None:
    wrong = {
        "DARBAR_PORT": "many",
        "DARBAR_WALLET_UNSAFE_STORAGE": "perhaps",
        "DARBAR_LOBBY_UNSAFE_STORAGE": "perhaps",
        "DARBAR_LOBBY_PUBLIC_ULR": "https://darbar.example",
        "DARBAR_KITCHEN_SINKS": "1",
    }

    code, complaints = await (await darbar(**wrong)).end()

    assert code == ExitCode.SETTINGS_WRONG
    assert complaints.removeprefix("darbar: ").removesuffix("\n").split("; ") == [
        "DARBAR_PORT is wrong: Expected `int`, got `str`",
        "DARBAR_WALLET_UNSAFE_STORAGE is wrong: Expected `bool`, got `str`",
        "DARBAR_LOBBY_UNSAFE_STORAGE is wrong: Expected `bool`, got `str`",
        "DARBAR_KITCHEN_SINKS is no setting",
        "DARBAR_LOBBY_PUBLIC_ULR is no setting (is DARBAR_LOBBY_PUBLIC_URL meant?)",
    ]
    assert not is_there(data)


@pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1"])
async def test_a_host_that_is_not_of_this_machine_is_told_as_that(darbar: Start, data: Path, host: str) -> None:
    up = await darbar("up", "--data", str(data), "--port", "0", "--host", host)
    code, complaints = await up.end()

    assert code == ExitCode.SETTINGS_WRONG
    assert complaints.startswith(f"darbar: can't listen on {host}:0 (")
    assert complaints.endswith("--host must be an address of this machine\n")
    assert not is_there(data)


async def test_where_others_can_reach_it_the_limits_are_those_of_production(
    darbar: Start, data: Path, given: dict[str, str]
) -> None:
    up = await darbar("up", "--data", str(data), "--port", "0", "--host", "0.0.0.0", **given)
    url = await up.ready()

    assert (await get(f"{url}/v1/x"))["guests_an_hour_max"] == 5
    assert await up.tells("docs/operations.md")


async def test_a_service_that_cannot_start_is_told(darbar: Start, given: dict[str, str]) -> None:
    up = await darbar(DARBAR_LOBBY_FAILS="start", **given)
    code, complaints = await up.end()

    assert code == ExitCode.SERVICE_FAILED
    assert complaints.splitlines()[-1] == "darbar: a service can't start: nothing_works: nothing works today"


@pytest.mark.parametrize("wiring", [[], ["--processes"]])
async def test_a_service_that_is_never_ready_is_told(
    darbar: Start, data: Path, given: dict[str, str], wiring: list[str]
) -> None:
    arguments = ("up", "--data", str(data), "--port", "0", *wiring)
    up = await darbar(*arguments, TINY_UNREADY="wallet", DARBAR_READY_SECONDS_MAX="2", **given)
    code, complaints = await up.end()

    assert code == ExitCode.SERVICE_FAILED
    # On a slow machine the others aren't ready by then either.
    assert "not ready after 2 s (DARBAR_READY_SECONDS_MAX): wallet: " in complaints.splitlines()[-1]


async def test_a_service_that_cannot_stop_holds_nothing_up(darbar: Start) -> None:
    up = await darbar(DARBAR_LOBBY_FAILS="stop")
    await up.ready()
    children = up.children()

    code, complaints = await up.end(signal.SIGTERM)

    assert code == 0
    assert "cleanup_failed" in complaints
    await all_gone(list(children.values()))


async def test_given_servers_are_used(darbar: Start, data: Path, given: dict[str, str]) -> None:
    up = await darbar(**given)
    url = await up.ready()
    await add_note(url, "elsewhere")

    assert up.children() == {}
    admin = await asyncpg.connect(given["DATABASE_URL"].removesuffix("/postgres") + "/lobby")
    assert await admin.fetchval("SELECT text FROM note") == "elsewhere"
    await admin.close()
    assert not is_there(data / "postgres")


async def test_services_may_each_have_a_user_of_a_given_nats(
    darbar: Start, make_nats: MakeNats, given: dict[str, str]
) -> None:
    server = await make_nats(PERMISSIONS_OF_USERS)
    urls = {f"DARBAR_{name.upper()}_NATS_URL": server.url(name) for name in PERMISSIONS_OF_USERS}

    up = await darbar(DATABASE_URL=given["DATABASE_URL"], **urls)

    assert await is_ready(await up.ready())
    assert up.children() == {}


async def test_a_given_database_that_is_not_there_is_told(darbar: Start, given: dict[str, str]) -> None:
    up = await darbar(**{**given, "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x"})
    code, complaints = await up.end()

    assert code == ExitCode.SERVER_FAILED
    assert complaints.count("\n") == 1
    assert "DATABASE_URL" in complaints


async def test_a_given_server_that_may_forget_is_refused(darbar: Start, given: dict[str, str]) -> None:
    up = await darbar(**given, DARBAR_UNSAFE_STORAGE="")
    code, complaints = await up.end()

    assert code == ExitCode.SERVICE_FAILED
    assert "fsync" in complaints
