"""The smaller commands: serve, migrate, version. Open this when a container doesn't start."""

import re
import secrets
import signal
from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from darbar_kit.database.provision import DatabaseUrls, provision
from darbar_kit.service import reserve
from darbar_kit.testing import eventually
from darbar_local.commands import main
from darbar_local.exit_codes import ExitCode
from darbar_local.testing import Darbar

Start = Callable[..., Awaitable[Darbar]]


@pytest.fixture
async def wallet(postgres_server: str) -> DatabaseUrls:
    name = f"wallet_{secrets.token_hex(4)}"
    return await provision(postgres_server, name, owner_password="o", service_password="s")


@pytest.fixture
def migrating(wallet: DatabaseUrls) -> dict[str, str]:
    return {
        "DARBAR_WALLET_OWNER_DATABASE_URL": wallet.owner_url,
        "DARBAR_WALLET_SERVICE_ROLE": wallet.service_role,
    }


async def answers(url: str) -> bool:
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(url) as answered:
                return answered.status == 200
        except aiohttp.ClientError:
            return False


async def test_migrate_tells_what_it_applied(darbar: Start, migrating: dict[str, str]) -> None:
    first = await darbar("migrate", "wallet", **migrating)
    assert (await first.end())[0] == 0
    second = await darbar("migrate", "wallet", **migrating)
    assert (await second.end())[0] == 0

    assert first.lines == ["0001_pre_notes.sql"]
    assert second.lines == ["wallet: nothing to apply"]


async def test_migrate_without_its_settings_names_them(darbar: Start) -> None:
    code, complaints = await (await darbar("migrate", "wallet")).end()

    assert code == ExitCode.SETTINGS_WRONG
    assert complaints == (
        "darbar: DARBAR_WALLET_OWNER_DATABASE_URL is missing; DARBAR_WALLET_SERVICE_ROLE is missing\n"
    )


async def test_serve_runs_one_service_until_a_signal(
    darbar: Start, wallet: DatabaseUrls, nats_server: str, migrating: dict[str, str]
) -> None:
    await (await darbar("migrate", "wallet", **migrating)).end()
    with reserve("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    serve = await darbar(
        *("serve", "wallet", "--port", str(port)),
        DARBAR_WALLET_DATABASE_URL=wallet.service_url,
        DARBAR_WALLET_NATS_URL=nats_server,
        DARBAR_WALLET_UNSAFE_STORAGE="1",
    )

    await eventually(lambda: answers(f"http://127.0.0.1:{port}/readyz"), seconds=60)

    assert (await serve.end(signal.SIGTERM))[0] == 0


async def test_serve_on_a_port_that_is_taken_says_so(darbar: Start, nats_server: str) -> None:
    with reserve("127.0.0.1", 0) as taken:
        serve = await darbar("serve", "bot", "--port", str(taken.getsockname()[1]), DARBAR_BOT_NATS_URL=nats_server)
        code, complaints = await serve.end()

    assert code == ExitCode.PORT_TAKEN
    assert "in use" in complaints.splitlines()[-1]


def test_version_tells_the_servers_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0

    assert "PostgreSQL 18" in capsys.readouterr().out


def test_without_a_command_all_are_listed_with_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0

    listed = re.findall(r"^    (\S+) +(\S.*)$", capsys.readouterr().out, re.MULTILINE)
    assert [name for name, _ in listed] == ["up", "serve", "migrate", "thaw", "void", "rights", "version"]


async def test_serve_names_all_that_is_wrong_and_what_nothing_reads(darbar: Start) -> None:
    wrong = {"DARBAR_WALLET_HTTP_PORT": "many", "DARBAR_WALLET_NATS_ULR": "x", "DARBAR_LOBBY_X": "not its business"}
    code, complaints = await (await darbar("serve", "wallet", **wrong)).end()

    assert code == ExitCode.SETTINGS_WRONG
    assert complaints == (
        "darbar: DARBAR_WALLET_NATS_ULR is no setting (is DARBAR_WALLET_NATS_URL meant?); "
        "DARBAR_WALLET_HTTP_PORT is wrong: Expected `int`, got `str`; DARBAR_WALLET_NATS_URL is missing\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [["up", "--port", "70000"], ["serve", "kitchen"], ["up", "--tables", "0"], ["thaw", "some-table"], ["void"]],
)
def test_a_wrong_command_line_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage: darbar" in capsys.readouterr().err
