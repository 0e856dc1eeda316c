"""The smaller commands: serve, migrate, thaw, void, version. Open this when a container doesn't start."""

import os
import pwd
import re
import secrets
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import TABLE_WHERE, table_operate
from darbar_contracts.tables import OperateTable, TableOperated, WhereAnswer, WhereRequest
from darbar_kit.bus import Bus
from darbar_kit.database.provision import DatabaseUrls, provision
from darbar_kit.errors import Refused
from darbar_kit.service import reserve
from darbar_kit.testing import MakeDatabase, MakeNats, eventually
from darbar_local.commands import main
from darbar_local.exit_codes import ExitCode
from darbar_local.servers import PERMISSIONS_OF_USERS
from darbar_local.services import BY_NAME
from darbar_local.testing import Darbar, run

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

    listed = re.findall(r"^    (\S+)\s+(\S.*)$", capsys.readouterr().out, re.MULTILINE)
    names = [
        "up",
        "serve",
        "gateway",
        "provision",
        "migrate",
        "keep-shards",
        "thaw",
        "void",
        "announce",
        "drain",
        "rebuild",
        "admin",
        "audit",
        "secrets",
        "replicate",
        "backup",
        "restore",
        "load",
        "rights",
        "version",
    ]
    assert [name for name, _ in listed] == names


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
    [
        ["up", "--port", "70000"],
        ["serve", "kitchen"],
        ["up", "--tables", "0"],
        ["thaw", "some-table"],
        ["void"],
        ["announce"],
    ],
)
def test_a_wrong_command_line_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage: darbar" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("owner", "refusal", "code", "said"),
    [
        (None, None, ExitCode.UNANSWERED, "no process holds this table just now; try again"),
        ("p1", Reason.NOT_OWNER, ExitCode.UNANSWERED, "not_owner: Another process serves this table."),
        ("p1", Reason.UNAVAILABLE, ExitCode.UNANSWERED, "unavailable: This can't be done just now. Try again."),
        ("p1", Reason.TABLE_CLOSED, ExitCode.REFUSED, "table_closed: This table is closed."),
        ("gone", None, ExitCode.UNANSWERED, "no_responders: nobody serves table.at.gone.operate; try again"),
    ],
)
async def test_what_a_table_does_not_do_for_its_operator_is_told_with_a_code(
    darbar: Start, make_nats: MakeNats, owner: str | None, refusal: Reason | None, code: ExitCode, said: str
) -> None:
    server = await make_nats(PERMISSIONS_OF_USERS)
    table = await Bus.connect(server.url("table"), name="table")

    async def where(_request: WhereRequest) -> WhereAnswer:
        return WhereAnswer(owner)

    async def operate(_request: OperateTable) -> TableOperated:
        assert refusal is not None
        raise Refused(refusal)

    await table.serve(TABLE_WHERE, WhereRequest, where)
    await table.serve(table_operate("p1"), OperateTable, operate)

    void = await darbar("void", "some-table", "--reason", "why", DARBAR_ADMIN_NATS_URL=server.url("admin"))

    assert await void.end() == (code, f"darbar: {said}\n")
    await table.close()


async def test_an_operator_is_known_by_the_users_name_or_the_one_they_give(darbar: Start, nats_server: str) -> None:
    table = await Bus.connect(nats_server, name="table")
    heard: list[OperateTable] = []

    async def where(_request: WhereRequest) -> WhereAnswer:
        return WhereAnswer("p1")

    async def operate(request: OperateTable) -> TableOperated:
        heard.append(request)
        return TableOperated(request.table_id, request.action)

    await table.serve(TABLE_WHERE, WhereRequest, where)
    await table.serve(table_operate("p1"), OperateTable, operate)
    for options in ([], ["--operator", "olga"]):
        thaw = await darbar("thaw", "some-table", "--reason", "mended", *options, NATS_URL=nats_server)
        assert await thaw.end() == (ExitCode.FINE, "")

    names = (pwd.getpwuid(os.getuid()).pw_name, "olga")
    assert heard == [OperateTable("some-table", "resume", name, "mended") for name in names]
    await table.close()


async def test_rebuild_beside_nothing_says_so(tmp_path: Path) -> None:
    async with run("rebuild", "statistics", "--data", str(tmp_path), variables={}) as rebuild:
        code, complaints = await rebuild.end()

    assert code == ExitCode.SERVER_FAILED
    assert complaints.startswith("darbar: no `darbar up` of yours runs NATS")


async def test_rebuild_beside_servers_that_are_gone_says_that_it_has_to_be_run_again(tmp_path: Path) -> None:
    with reserve("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    for name in ("postgres", "nats"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "port").write_text(f"{port}\n")
    (tmp_path / "passwords.json").write_text('{"lobby_service": "s"}')
    (tmp_path / "nats" / "passwords.json").write_text('{"lobby": "s"}')
    async with run("rebuild", "statistics", "--data", str(tmp_path), variables={}) as rebuild:
        code, complaints = await rebuild.end()

    assert code == ExitCode.UNFINISHED
    assert "run it again" in complaints


async def test_an_administrator_is_made_and_disabled_on_the_machine(make_database: MakeDatabase) -> None:
    database = await make_database("lobby", BY_NAME["lobby"].migrations)
    variables = {"DARBAR_LOBBY_OWNER_DATABASE_URL": database.owner_url}
    told: list[tuple[int, str]] = []
    for act in (("create", "olga", "--role", "auditor"), ("create", "olga"), ("disable", "olga"), ("disable", "olga")):
        async with run("admin", *act, variables=variables, typed=b"seven mangoes at noon\n") as command:
            code, complaints = await command.end()
            told.append((code, "".join([*command.lines, complaints])))

    assert [code for code, _ in told] == [ExitCode.FINE, ExitCode.REFUSED, ExitCode.FINE, ExitCode.REFUSED]
    assert re.search(r"otpauth://totp/Darbar%3Aolga\?secret=[A-Z2-7]{32}&issuer=Darbar", told[0][1])
    assert "name_login_taken" in told[1][1]
    assert "mangoes" not in "".join(said for _, said in told)
