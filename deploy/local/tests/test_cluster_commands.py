"""What a cluster needs before services start: databases, secrets, copies of streams. Open this when a Job fails."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import msgspec

from darbar_contracts.subjects import PERMISSIONS
from darbar_kit.bus import Bus
from darbar_kit.database.provision import url_for
from darbar_kit.embedded.nats import find_program
from darbar_kit.testing import MakeNats
from darbar_local.exit_codes import ExitCode
from darbar_local.operators.cluster import STREAMS, for_kubernetes, new_secrets
from darbar_local.servers import PERMISSIONS_OF_USERS
from darbar_local.services import ALL
from darbar_local.testing import Darbar, run

Start = Callable[..., Awaitable[Darbar]]


def of_media(admin_url: str, *, password: str) -> dict[str, str]:
    return {
        "DATABASE_URL": admin_url,
        "DARBAR_MEDIA_OWNER_DATABASE_URL": url_for(
            admin_url, database="media", user="media_owner", password=f"o{password}"
        ),
        "DARBAR_MEDIA_DATABASE_URL": url_for(
            admin_url, database="media", user="media_service", password=f"s{password}"
        ),
    }


async def test_a_database_is_made_and_provisioning_it_again_changes_the_passwords(
    darbar: Start, postgres_server: str
) -> None:
    for password in (secrets.token_hex(8), secrets.token_hex(8)):
        given = of_media(postgres_server, password=password)

        code, complaints = await (await darbar("provision", "media", **given)).end()

        assert (code, complaints) == (ExitCode.FINE, "")
        connection = await asyncpg.connect(given["DARBAR_MEDIA_DATABASE_URL"])
        assert await connection.fetchval("SELECT current_user") == "media_service"
        await connection.close()


async def test_a_url_of_another_role_is_refused_and_not_repeated(darbar: Start, postgres_server: str) -> None:
    given = of_media(postgres_server, password="hidden")
    given["DARBAR_MEDIA_DATABASE_URL"] = given["DARBAR_MEDIA_OWNER_DATABASE_URL"]

    code, complaints = await (await darbar("provision", "media", **given)).end()

    assert code == ExitCode.SETTINGS_WRONG
    assert "media_service" in complaints
    assert "hidden" not in complaints


async def replicate(replicas: int, nats_url: str) -> tuple[int, str]:
    async with run("replicate", str(replicas), variables={"NATS_URL": nats_url}) as started:
        return await started.end()


async def test_every_stream_is_there_before_it_gets_copies_and_no_more_of_them_than_servers(
    make_nats: MakeNats,
) -> None:
    url = (await make_nats(PERMISSIONS_OF_USERS)).url("operator")

    assert await replicate(1, url) == (ExitCode.FINE, "")
    bus = await Bus.connect(url, name="test")
    assert {stream.config.name for stream in await bus.jetstream.streams_info()} == set(STREAMS)
    await bus.close()

    code, complaints = await replicate(3, url)
    assert code == ExitCode.UNANSWERED
    assert "replicas > 1 not supported" in complaints


async def test_the_nats_server_reads_the_users_of_the_secrets(tmp_path: Path) -> None:
    made = new_secrets(postgres="postgres", nats="nats")
    (tmp_path / "users.conf").write_text(made["darbar-nats"]["users.conf"])
    (tmp_path / "nats.conf").write_text("include ./users.conf\n")

    looked = await asyncio.create_subprocess_exec(
        *(str(find_program()), "-t", "-c", str(tmp_path / "nats.conf")), stderr=asyncio.subprocess.PIPE
    )
    _, told = await looked.communicate()

    assert looked.returncode == 0, told.decode()
    for name in PERMISSIONS:
        assert f'"{name}"' in made["darbar-nats"]["users.conf"]


def test_no_two_secrets_share_a_password() -> None:
    made = new_secrets(postgres="db", nats="bus")
    urls = [value for values in made.values() for key, value in values.items() if key.endswith("url")]

    passwords = [urlsplit(url).password for url in urls]

    assert len(set(passwords)) == len(passwords) == len(ALL) + 2 * sum(bool(service.database) for service in ALL) + 3
    assert made != new_secrets(postgres="db", nats="bus")


def test_secrets_are_printed_as_kubernetes_takes_them() -> None:
    listed = msgspec.json.decode(for_kubernetes({"a": {"b": "c"}}, "play"))

    (secret,) = listed["items"]
    assert secret["metadata"] == {"name": "a", "namespace": "play"}
    assert secret["stringData"] == {"b": "c"}
