"""What `darbar` reads from the environment, before anything starts. Open this to add a setting of the command itself.

What a service can be told is in its own settings.py.
"""

from collections.abc import Mapping

import msgspec

from darbar_kit.settings import SettingsInvalid, load, names, unknown
from darbar_local.services import ALL, Service
from darbar_local.wiring import READY_SECONDS_MAX, example, variables

PREFIX = "DARBAR_"
ADMIN_PREFIX = "DARBAR_ADMIN_"
GATEWAY_PREFIX = "DARBAR_GATEWAY_"
WEB_PREFIX = "DARBAR_WEB_"
# Of test runs; whoever starts `darbar` in one need not hide them.
_OF_TESTS = "DARBAR_TEST_"


class UpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_DATA and so on; an option on the command line is stronger."""

    data: str = "var"
    web: str = "web/dist"
    host: str = "127.0.0.1"
    port: int = 8080
    lan: bool = False
    tls: bool = False
    tls_port: int = 8443
    unsafe_storage: bool = False
    ready_seconds_max: float = READY_SECONDS_MAX
    log_level: str = "info"


class GivenServers(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DATABASE_URL (of an admin, who may make databases and roles) and NATS_URL."""

    database_url: str = ""
    nats_url: str = ""


class AdminSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_ADMIN_NATS_URL: how an operator reaches tables that no `darbar up` here serves."""

    nats_url: str = ""


class ServeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_<SERVICE>_HTTP_HOST and so on, beside the service's own."""

    http_host: str = "127.0.0.1"
    http_port: int = 8080
    log_level: str = "info"


class GatewaySettings(ServeSettings, frozen=True, kw_only=True):
    """Read from DARBAR_GATEWAY_TABLE and so on: for each service where its processes are, as `http://host:port`. `web`
    is where the web client is served, if anywhere."""

    lobby: tuple[str, ...]
    table: tuple[str, ...]
    wallet: tuple[str, ...]
    media: tuple[str, ...]
    web: tuple[str, ...] = ()


class WebSettings(ServeSettings, frozen=True, kw_only=True):
    """Read from DARBAR_WEB_FOLDER and so on: `folder` has the built web client."""

    folder: str = "web/dist"


class MigrateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_<SERVICE>_OWNER_DATABASE_URL and so on."""

    owner_database_url: str
    service_role: str


class ProvisionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_<SERVICE>_OWNER_DATABASE_URL and so on: the roles with the passwords that they shall have."""

    owner_database_url: str
    database_url: str


class LobbyUrls(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_LOBBY_DATABASE_URL and DARBAR_LOBBY_NATS_URL, by who acts as the lobby beside it."""

    database_url: str = ""
    nats_url: str = ""


class OwnerUrl(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_LOBBY_OWNER_DATABASE_URL, by who sets administrators."""

    owner_database_url: str = ""


def load_up(environ: Mapping[str, str]) -> UpSettings:
    """Raises SettingsInvalid with all that is wrong, for any service, too: it would be found later one by one."""
    problems: list[str] = []
    try:
        settings = load(UpSettings, prefix=PREFIX, environ=environ)
    except SettingsInvalid as error:
        problems += error.problems
    wiring = example()
    for service in ALL:
        try:
            service.settings(variables(service, wiring, address="127.0.0.1:1", given=environ))
        except SettingsInvalid as error:
            problems += error.problems
    commands = (
        (UpSettings, PREFIX),
        (AdminSettings, ADMIN_PREFIX),
        (GatewaySettings, GATEWAY_PREFIX),
        (WebSettings, WEB_PREFIX),
    )
    own = [name for settings_type, prefix in commands for name in names(settings_type, prefix)]
    known = [*own, *(name for service in ALL for name in _names_of(service))]
    problems += unknown(_without_tests(environ), known, prefix=PREFIX)
    if problems:
        raise SettingsInvalid(problems)
    return settings


def load_serve(service: Service, environ: Mapping[str, str]) -> tuple[ServeSettings, msgspec.Struct]:
    """How the service is served, and its own settings. Raises SettingsInvalid with all that is wrong."""
    problems = unknown(environ, _names_of(service), prefix=service.prefix)
    loaded: list[msgspec.Struct] = []
    for settings_type in (ServeSettings, service.settings_type):
        try:
            loaded.append(load(settings_type, prefix=service.prefix, environ=environ))
        except SettingsInvalid as error:
            problems += error.problems
    if problems:
        raise SettingsInvalid(problems)
    serve, own = loaded
    assert isinstance(serve, ServeSettings)
    return serve, own


def _names_of(service: Service) -> list[str]:
    types = (service.settings_type, ServeSettings, *((MigrateSettings,) if service.database else ()))
    return [name for settings_type in types for name in names(settings_type, service.prefix)]


def _without_tests(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if not name.startswith(_OF_TESTS)}
