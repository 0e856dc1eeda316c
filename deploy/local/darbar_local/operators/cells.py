"""`darbar keep-shards`: makes a table database one of several. Open this when one PostgreSQL is to become two."""

import argparse
import asyncio
import re
from importlib import import_module

import msgspec

from darbar_kit.settings import load
from darbar_local.console import print_line
from darbar_local.exit_codes import ExitCode, Failure, failures_told
from darbar_local.services import BY_NAME

_RANGE = re.compile(r"(\d{1,4})-(\d{1,4})")


class TableOwnerUrl(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_TABLE_OWNER_DATABASE_URL."""

    owner_database_url: str


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Once for each database, between its migrations and its first process."""
    keeps = commands.add_parser("keep-shards", help="make a table database one of several, with these shards")
    keeps.add_argument("shards", metavar="FIRST-LAST", help="of 0-1023, as in 512-1023")
    keeps.add_argument(
        "--remove", action="store_true", help="tables and logs of all others too: another database has them"
    )


def run(asked: argparse.Namespace) -> None:
    """Raises Failure and SettingsInvalid."""
    named = _RANGE.fullmatch(asked.shards)
    if named is None:
        raise Failure(ExitCode.SETTINGS_WRONG, "shards are named as in 512-1023")
    settings = load(TableOwnerUrl, prefix=BY_NAME["table"].prefix)
    # It brings a part of the table service, which no other command needs.
    split = import_module("darbar_table.shards.split")
    first, last = int(named[1]), int(named[2])
    try:
        with failures_told():
            logs = asyncio.run(split.keep_shards(settings.owner_database_url, first, last, removes=asked.remove))
    except split.SplitRefused as refused:
        raise Failure(ExitCode.REFUSED, str(refused)) from refused
    print_line(f"This database has the shards {first} to {last}; {logs} logs of others are removed")
