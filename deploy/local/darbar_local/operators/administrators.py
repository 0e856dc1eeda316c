"""`darbar admin`: who administers. Open this when one can't be made."""

import argparse
import asyncio
import getpass
import sys
from importlib import import_module
from pathlib import Path

from darbar_kit import logs
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.settings import environment, load
from darbar_local.console import print_line
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.servers import owner_url_of_running
from darbar_local.services import BY_NAME
from darbar_local.settings import PREFIX, GivenServers, OwnerUrl, UpSettings


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """`darbar admin create` and `darbar admin disable`."""
    admin = commands.add_parser("admin", help="make or disable an administrator")
    acts = admin.add_subparsers(dest="act", required=True, metavar="ACT")
    creates = acts.add_parser("create", help="make one; the password is asked for, or read from a pipe")
    creates.add_argument("name", metavar="NAME", help="3 to 32 of a-z, 0-9, _ . and -")
    creates.add_argument("--role", choices=["admin", "auditor"], default="admin", help="an auditor only reads (admin)")
    creates.add_argument(
        "--plays-as",
        action="append",
        default=[],
        metavar="HANDLE",
        help="an account of the same person, who never sees hands at a table where it sits",
    )
    disables = acts.add_parser("disable", help="end all sessions of one, and let no new one begin")
    disables.add_argument("name", metavar="NAME")
    for parser in (creates, disables):
        parser.add_argument("--data", metavar="FOLDER", help="of the `darbar up` that runs (DARBAR_DATA, ./var)")


def run(asked: argparse.Namespace) -> None:
    """Raises Failure."""
    logs.configure("", level="error")
    owner_url = _owner_url(asked.data)
    made_by = import_module("darbar_lobby.handlers.admin.administrators")
    try:
        if asked.act == "create":
            address = asyncio.run(
                made_by.create_administrator(
                    owner_url, asked.name, asked.role, _password(), handles=tuple(asked.plays_as)
                )
            )
            print_line(f"{asked.name} is made. For an authenticator app, told once and never again:\n{address}")
        elif asyncio.run(made_by.disable_administrator(owner_url, asked.name)):
            print_line(f"{asked.name} is disabled, and every session of {asked.name} has ended")
        else:
            raise Failure(ExitCode.REFUSED, f"no administrator who could be disabled is called {asked.name}")
    except Refused as refusal:
        raise Failure(ExitCode.REFUSED, str(refusal)) from refusal
    except (Unavailable, OSError) as error:
        raise Failure(ExitCode.SERVER_FAILED, f"can't reach the database of the lobby: {error}") from error


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Once more: ") != password:
        raise Failure(ExitCode.REFUSED, "the two passwords differ")
    return password


def _owner_url(data: str | None) -> str:
    environ = environment()
    given = load(OwnerUrl, prefix=BY_NAME["lobby"].prefix, environ=environ).owner_database_url
    if given:
        return given
    folder = Path(data or load(UpSettings, prefix=PREFIX, environ=environ).data)
    return owner_url_of_running(folder, load(GivenServers, prefix="", environ=environ), BY_NAME["lobby"])
