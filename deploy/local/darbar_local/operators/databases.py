"""`darbar provision` and `darbar migrate`: what a service's database needs before the service starts. Open this when a
Job of a roll-out fails."""

import argparse
import asyncio
from urllib.parse import unquote, urlsplit

from darbar_kit.database.provision import owner_role, provision, service_role
from darbar_kit.settings import load
from darbar_local.console import print_line
from darbar_local.exit_codes import ExitCode, Failure, failures_told
from darbar_local.servers import apply_migrations
from darbar_local.services import BY_NAME, Service
from darbar_local.settings import GivenServers, MigrateSettings, ProvisionSettings


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Each for one service that stores something."""
    with_database = [name for name, service in BY_NAME.items() if service.database]
    provisions = commands.add_parser("provision", help="make a service's database and roles, as DATABASE_URL's admin")
    provisions.add_argument("service", choices=with_database)
    migrates = commands.add_parser("migrate", help="bring a service's database to what this version needs")
    migrates.add_argument("service", choices=with_database)
    migrates.add_argument(
        "--before-roll-out",
        action="store_true",
        help="processes of the release before still run: leave the last `post` migrations for a second run",
    )


def run(asked: argparse.Namespace) -> None:
    """Raises Failure and SettingsInvalid."""
    service = BY_NAME[asked.service]
    if asked.command == "provision":
        _provision(service)
    else:
        _migrate(service, before_roll_out=asked.before_roll_out)


def _provision(service: Service) -> None:
    settings = load(ProvisionSettings, prefix=service.prefix)
    admin_url = load(GivenServers, prefix="").database_url
    if not admin_url:
        raise Failure(ExitCode.SETTINGS_WRONG, "DATABASE_URL is missing: an admin's, who may make databases and roles")
    owner_password = _password(settings.owner_database_url, owner_role(service.database), service)
    service_password = _password(settings.database_url, service_role(service.database), service)
    with failures_told():
        asyncio.run(
            provision(admin_url, service.database, owner_password=owner_password, service_password=service_password)
        )
    print_line(f"{service.name}: the database {service.database} and its roles are there")


def _password(url: str, role: str, service: Service) -> str:
    """Of a URL of this role to this service's database; no value is repeated, it is a secret."""
    parts = urlsplit(url)
    if parts.username != role or parts.path != f"/{service.database}" or not parts.password:
        raise Failure(
            ExitCode.SETTINGS_WRONG, f"{service.name}: a URL must name {role}, its password and /{service.database}"
        )
    return unquote(parts.password)


def _migrate(service: Service, *, before_roll_out: bool) -> None:
    settings = load(MigrateSettings, prefix=service.prefix)
    with failures_told():
        applied = asyncio.run(
            apply_migrations(
                service,
                owner_url=settings.owner_database_url,
                service_role=settings.service_role,
                before_roll_out=before_roll_out,
            )
        )
    print_line("\n".join(applied) if applied else f"{service.name}: nothing to apply")
