"""PostgreSQL and NATS for one machine: our own, or given ones. Open this when one can't be reached."""

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import asyncpg
import msgspec

from darbar_contracts.subjects import PERMISSIONS
from darbar_kit.database.migrate import DatabaseNewer, MigrationEdited, MigrationMisnamed, ReleaseLeftOut, migrate
from darbar_kit.database.provision import DatabaseUrls, owner_role, provision, service_role, url_for
from darbar_kit.embedded.nats import HOST, NatsFailed, NatsServer
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.embedded.postgres import DataVersionWrong, PostgresFailed, PostgresServer
from darbar_kit.embedded.programs import ServerMissing
from darbar_kit.embedded.server_user import FolderUnusable
from darbar_local.console import print_line, step
from darbar_local.data_dir import DataDir
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.restarts import Restartable
from darbar_local.services import ALL, BY_NAME, Service
from darbar_local.settings import GivenServers, LobbyUrls

_First = TypeVar("_First")
_Second = TypeVar("_Second")


class Servers(msgspec.Struct, frozen=True):
    """`started` has each server of our own."""

    database_admin_url: str
    nats_urls: Mapping[str, str]
    started: Mapping[str, Restartable]


PERMISSIONS_OF_USERS = MappingProxyType({name: Permissions(*pair) for name, pair in PERMISSIONS.items()})


async def start_servers(
    folder: DataDir, given: GivenServers, *, environ: Mapping[str, str], unsafe: bool, stack: AsyncExitStack
) -> Servers:
    """Starts what isn't given, by `given` or to each service by its own variable; the stack stops it."""
    started: dict[str, Restartable] = {}

    async def start_postgres() -> str:
        if given.database_url:
            return given.database_url
        server = PostgresServer(folder.postgres, unsafe=unsafe)
        stack.push_async_callback(server.stop)
        with step("PostgreSQL started"):
            url = await server.start()
        if server.copied_programs is not None:
            print_line(f"  PostgreSQL's user can't enter this project: its programs run from {server.copied_programs}")
        started["postgres"] = server
        return url

    async def start_nats() -> Mapping[str, str]:
        urls = {service.name: environ.get(f"{service.prefix}NATS_URL", "") or given.nats_url for service in ALL}
        if all(urls.values()):
            return urls
        server = NatsServer(folder.nats, users=PERMISSIONS_OF_USERS)
        stack.push_async_callback(server.stop)
        with step("NATS started"):
            await server.start()
        started["nats"] = server
        return {name: server.url(name) for name in PERMISSIONS}

    try:
        admin_url, nats_urls = await _both(start_postgres(), start_nats())
    except DataVersionWrong as error:
        raise Failure(ExitCode.DATA_NEWER, str(error)) from error
    except (PostgresFailed, NatsFailed, FolderUnusable, ServerMissing) as error:
        raise Failure(ExitCode.SERVER_FAILED, str(error)) from error
    return Servers(admin_url, nats_urls, started)


async def _both(first: Awaitable[_First], second: Awaitable[_Second]) -> tuple[_First, _Second]:
    # Both are waited for, also when one fails: a start that goes on in the background could not be stopped.
    one, two = await asyncio.gather(first, second, return_exceptions=True)
    if isinstance(one, BaseException):
        raise one
    if isinstance(two, BaseException):
        raise two
    return one, two


def nats_url_in(folder: Path, user: str) -> str:
    """Where this user finds the NATS that `darbar up` runs with its data in this folder. Raises Failure."""
    try:
        return NatsServer(DataDir(folder).nats).url(user)
    except (OSError, ValueError, KeyError) as error:
        instead = f"give --data, or set DARBAR_{user.upper()}_NATS_URL"
        raise Failure(
            ExitCode.SERVER_FAILED, f"no `darbar up` of yours runs NATS with its data in {folder}: {instead}"
        ) from error


def urls_of_running(data: Path, given: GivenServers, urls: LobbyUrls) -> LobbyUrls:
    """How the lobby of the `darbar up` that uses this folder reaches its servers; what `urls` has stays. Raises
    Failure."""
    nats_url = urls.nats_url or given.nats_url or nats_url_in(data, "lobby")
    if urls.database_url:
        return LobbyUrls(database_url=urls.database_url, nats_url=nats_url)
    lobby = BY_NAME["lobby"]
    role, instead = service_role(lobby.database), f"{lobby.prefix}DATABASE_URL"
    database_url = _database_url_of_running(data, given, lobby, role=role, instead=instead)
    return LobbyUrls(database_url=database_url, nats_url=nats_url)


def owner_url_of_running(data: Path, given: GivenServers, service: Service) -> str:
    """How the owner of a service's database reaches it, beside the `darbar up` of this folder. Raises Failure."""
    role, instead = owner_role(service.database), f"{service.prefix}OWNER_DATABASE_URL"
    return _database_url_of_running(data, given, service, role=role, instead=instead)


def _database_url_of_running(data: Path, given: GivenServers, service: Service, *, role: str, instead: str) -> str:
    try:
        admin_url = given.database_url or f"postgresql://{HOST}:{int((DataDir(data).postgres / 'port').read_text())}"
        password = msgspec.json.decode((data / "passwords.json").read_bytes(), type=dict[str, str])[role]
    except (OSError, ValueError, KeyError) as error:
        raise Failure(
            ExitCode.SERVER_FAILED,
            f"no `darbar up` runs PostgreSQL with its data in {data}: give --data, or set {instead}",
        ) from error
    return url_for(admin_url, database=service.database, user=role, password=password)


async def prepare_databases(admin_url: str, folder: DataDir) -> dict[str, DatabaseUrls]:
    """Makes the databases and roles, and brings them to what the code needs. By name of the service."""
    with_database = [service for service in ALL if service.database]
    try:
        # One after the other: two that change roles at once may refuse each other.
        with step("Databases and roles are there"):
            urls = {service.name: await _provision(admin_url, service, folder) for service in with_database}
        with step("Migrations applied"):
            await asyncio.gather(*(_migrate(service, urls[service.name]) for service in with_database))
    except (OSError, TimeoutError, asyncpg.InvalidAuthorizationSpecificationError) as error:
        raise Failure(ExitCode.SERVER_FAILED, f"can't reach the PostgreSQL of DATABASE_URL: {error}") from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise Failure(ExitCode.SERVER_FAILED, f"the user of DATABASE_URL may not do enough: {error}") from error
    return urls


async def _provision(admin_url: str, service: Service, folder: DataDir) -> DatabaseUrls:
    return await provision(
        admin_url,
        service.database,
        owner_password=folder.password(owner_role(service.database)),
        service_password=folder.password(service_role(service.database)),
    )


async def _migrate(service: Service, urls: DatabaseUrls) -> None:
    await apply_migrations(service, owner_url=urls.owner_url, service_role=urls.service_role)


async def apply_migrations(
    service: Service, *, owner_url: str, service_role: str, before_roll_out: bool = False
) -> list[str]:
    """Raises Failure where a person has to decide."""
    try:
        return await migrate(owner_url, service.migrations, service_role=service_role, before_roll_out=before_roll_out)
    except DatabaseNewer as error:
        raise Failure(ExitCode.DATA_NEWER, f"{service.name}: {error}") from error
    except (MigrationEdited, MigrationMisnamed, ReleaseLeftOut) as error:
        raise Failure(ExitCode.MIGRATION_REFUSED, f"{service.name}: {error}") from error
