"""`darbar load`: whole games at many tables, and how long the server took. Open this to add an option."""

import argparse
import asyncio

from darbar_client import DarbarError
from darbar_client.demo.load import TABLES_MAX, Load, run_load
from darbar_local.console import print_line
from darbar_local.exit_codes import ExitCode, Failure
from darbar_rules.games import BY_NAME

PEOPLE_MAX = 4


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """For a server of one's own, whose limits by address are off."""
    loads = commands.add_parser("load", help="play whole games at many tables, and tell how long decisions took")
    loads.add_argument("--tables", type=int, choices=range(1, TABLES_MAX + 1), metavar="N", required=True)
    loads.add_argument("--think", type=float, default=0.0, metavar="MS", help="what a player thinks, on average (0)")
    loads.add_argument(
        "--people", type=int, choices=range(1, PEOPLE_MAX + 1), default=PEOPLE_MAX, help="at a table (4)"
    )
    loads.add_argument("--game", default=next(iter(BY_NAME)), help=f"as the catalogue names it ({next(iter(BY_NAME))})")
    loads.add_argument("--seed", type=int, default=1, help="of what the players choose (1)")
    loads.add_argument("--url", default="http://127.0.0.1:8080", help="of the server (http://127.0.0.1:8080)")


def run(asked: argparse.Namespace) -> None:
    """Raises Failure."""
    load = Load(
        url=asked.url,
        tables=asked.tables,
        think_seconds=asked.think / 1000,
        people=asked.people,
        game=asked.game,
        seed=asked.seed,
    )
    refused: list[Exception] = []
    try:
        result = asyncio.run(run_load(load, print_line))
    except* DarbarError as errors:
        refused.append(errors)
    if refused:
        raise Failure(ExitCode.REFUSED, str(_first(refused[0])))
    print_line(result.line())
    print_line("From sending a decision to its acknowledgement:")
    print_line("\n".join(result.decisions.lines()))


def _first(error: Exception) -> Exception:
    """Of a group, and of the groups in it."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
