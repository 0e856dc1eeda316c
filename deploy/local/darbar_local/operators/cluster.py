"""`darbar secrets` and `darbar replicate`: what a cluster needs once. Open this when a secret has a wrong key."""

import argparse
import asyncio
import secrets
from collections.abc import Mapping
from importlib import import_module
from urllib.parse import quote

import msgspec

from darbar_contracts.subjects import MILESTONE_STREAM, SOUND_BUCKET, SOUND_BUCKET_REPORTED, sound_stream
from darbar_kit import logs
from darbar_kit.bus import Bus, bus_errors, ensure_stream
from darbar_kit.database.provision import owner_role, service_role
from darbar_kit.embedded.nats import OPERATOR
from darbar_kit.embedded.nats_rights import users
from darbar_kit.errors import Unavailable
from darbar_kit.settings import load
from darbar_kit.tokens import new_private_key_pem, public_key_pem
from darbar_local.console import print_line
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.servers import PERMISSIONS_OF_USERS
from darbar_local.services import ALL
from darbar_local.settings import GivenServers

PASSWORD_BYTES = 24
POSTGRES_ADMIN = "postgres"
REPLICAS_MAX = 5
STREAMS = (MILESTONE_STREAM, sound_stream(SOUND_BUCKET), sound_stream(SOUND_BUCKET_REPORTED))


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Both are for whoever sets up a cluster."""
    makes = commands.add_parser("secrets", help="print new secrets, once for each cluster")
    makes.add_argument("--form", choices=["kubernetes", "compose"], default="kubernetes", help="for whom (kubernetes)")
    makes.add_argument("--namespace", default="darbar", help="where they belong (darbar)")
    makes.add_argument("--postgres", default="postgres", metavar="HOST", help="of the database server (postgres)")
    makes.add_argument("--nats", default="nats", metavar="HOST", help="of the NATS server (nats)")
    replicates = commands.add_parser(
        "replicate", help="keep every stream on several NATS servers, as NATS_URL's operator"
    )
    replicates.add_argument("replicas", type=int, choices=range(1, REPLICAS_MAX + 1))


def run(asked: argparse.Namespace) -> None:
    """Raises Failure."""
    if asked.command == "secrets":
        made = new_secrets(postgres=asked.postgres, nats=asked.nats)
        print_line(for_kubernetes(made, asked.namespace) if asked.form == "kubernetes" else for_compose(made))
        return
    logs.configure("", level="error")
    asyncio.run(_replicate(load(GivenServers, prefix="").nats_url, asked.replicas))
    print_line(f"{len(STREAMS)} streams are kept by {asked.replicas} servers")


def new_secrets(*, postgres: str, nats: str) -> dict[str, dict[str, str]]:
    """By name: what the manifests refer to, every password new. They belong to nobody but the cluster."""
    private_key, admin_password = new_private_key_pem(), _password()
    nats_passwords = {name: _password() for name in (*PERMISSIONS_OF_USERS, OPERATOR)}
    made = {
        "darbar-tokens": {"private-key": private_key, "public-key": public_key_pem(private_key)},
        "darbar-tickets": {"ticket-key": _password()},
        "darbar-postgres-admin": {
            "username": POSTGRES_ADMIN,
            "password": admin_password,
            "database-url": _postgres_url(POSTGRES_ADMIN, admin_password, postgres, "postgres"),
        },
        "darbar-nats": {"users.conf": _nats_users(nats_passwords)},
        "darbar-nats-operator": {
            "nats-url": _nats_url(OPERATOR, nats_passwords, nats),
            "admin-nats-url": _nats_url("admin", nats_passwords, nats),
        },
    }
    for service in ALL:
        made[f"darbar-{service.name}"] = {"nats-url": _nats_url(service.name, nats_passwords, nats)}
        if service.database:
            for secret, role in (("", service_role(service.database)), ("-owner", owner_role(service.database))):
                url = _postgres_url(role, _password(), postgres, service.database)
                made.setdefault(f"darbar-{service.name}{secret}", {})["database-url"] = url
    return made


def for_compose(made: Mapping[str, Mapping[str, str]]) -> str:
    """A file of variables. What stands between such quotes is taken as it is, over several lines too."""
    return "\n".join(f"{_variable(name, key)}='{value}'" for name, keys in made.items() for key, value in keys.items())


def _variable(secret: str, key: str) -> str:
    return f"{secret}_{key}".upper().replace("-", "_").replace(".", "_")


def for_kubernetes(made: Mapping[str, Mapping[str, str]], namespace: str) -> str:
    """As `kubectl apply` takes it."""
    items = [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
            "stringData": dict(values),
        }
        for name, values in made.items()
    ]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    return msgspec.json.format(msgspec.json.encode(listed), indent=2).decode()


def _password() -> str:
    return secrets.token_urlsafe(PASSWORD_BYTES)


def _postgres_url(role: str, password: str, host: str, database: str) -> str:
    return f"postgresql://{role}:{quote(password, safe='')}@{host}:5432/{database}"


def _nats_url(user: str, passwords: Mapping[str, str], host: str) -> str:
    return f"nats://{user}:{passwords[user]}@{host}:4222"


def _nats_users(passwords: Mapping[str, str]) -> str:
    """What the server's configuration includes; its format is a superset of JSON."""
    operator: dict[str, object] = {"user": OPERATOR, "password": passwords[OPERATOR]}
    listed = [operator, *users(PERMISSIONS_OF_USERS, passwords.__getitem__)]
    return msgspec.json.encode({"authorization": {"users": listed}}).decode()


async def make_streams(bus: Bus) -> None:
    """Every stream, as the services themselves would make it. Raises Unavailable."""
    with bus_errors("making streams"):
        await ensure_stream(bus.jetstream, import_module("darbar_table.store.outbox").MILESTONES)
    await import_module("darbar_media.store.sounds").JetStreamSounds(bus.jetstream).make()


async def _replicate(nats_url: str, replicas: int) -> None:
    """Makes what no service has made yet: it would have one copy for ever, for services may change no stream."""
    if not nats_url:
        raise Failure(ExitCode.SETTINGS_WRONG, "NATS_URL is missing: an operator's, who may change streams")
    try:
        bus = await Bus.connect(nats_url, name=OPERATOR)
        try:
            await make_streams(bus)
            for stream in STREAMS:
                with bus_errors(f"changing {stream}"):
                    config = (await bus.jetstream.stream_info(stream)).config
                    await bus.jetstream.update_stream(config.evolve(num_replicas=replicas))
        finally:
            await bus.close()
    except Unavailable as error:
        raise Failure(ExitCode.UNANSWERED, f"{error}; try again") from error
