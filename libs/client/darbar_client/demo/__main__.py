"""Plays a whole game over real sockets, prints its rounds and proves it: `python -m darbar_client.demo --bots 3`.

All seats are players of the demo unless --bots says otherwise. It uses the server at --url, or the one on this
machine's port 8080, waiting until that is ready; or it starts one of its own for as long as it plays.
Exit code 0: every check is true; 1: one is not; 2: the game could not be played.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import get_type_hints

import msgspec

from darbar_client.darbar import Darbar
from darbar_client.demo.checks import checks, gather
from darbar_client.demo.local_server import LocalServer, ServerFailed, new_folder, until_ready
from darbar_client.demo.playing import Commentator, Participant, all_leave, joined, play_game, seated
from darbar_client.demo.score_sheet import ledger_lines, score_sheet
from darbar_client.demo.voice import voice_demo
from darbar_client.errors import DarbarError
from darbar_client.proofs.log import LogUnreadable
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_rules.options import OptionInvalid

URL = "http://127.0.0.1:8080"
BET_COINS = 25
POINTS = 10
POINTS_OPTION = "winning_points"
NAMES = ("Amina", "Bilal", "Chandra", "Daoud", "Esha", "Farid", "Gita", "Hasan", "Indra", "Jamal", "Kavya", "Latif")
NOT_TRUE, NOT_PLAYED = 1, 2


def print_line(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def game_name(text: str) -> str:
    """`king-20` is king_20: people write both."""
    return text.replace("-", "_")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m darbar_client.demo", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--game", default="court_piece", type=game_name, choices=sorted(BY_NAME))
    parser.add_argument(
        "--bots", nargs="?", type=int, const=-1, default=0, help="seats for bots; no number: all but one"
    )
    parser.add_argument("--url", help=f"a running server; otherwise {URL}, or one of the demo's own")
    parser.add_argument("--points", type=int, default=POINTS, help="points that win, where the game has such an option")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the table")
    parser.add_argument("--voice", default="", help="anything: a voice note instead of a game, on a server of its own")
    parser.add_argument("--seed", type=int, help="of the players' choices, to make them again")
    return parser.parse_args()


def options_from(game: AnyGame, points: int, given: list[str]) -> object:
    """The table's options. Raises OptionInvalid."""
    types = get_type_hints(game.options_type)
    names = {field.name for field in fields(game.options_type)}
    values: dict[str, object] = {POINTS_OPTION: points} if POINTS_OPTION in names else {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in names:
            raise OptionInvalid(name, f"is none of {', '.join(sorted(names))}")
        try:
            values[name] = msgspec.convert(value, types[name], strict=False)
        except msgspec.ValidationError as error:
            raise OptionInvalid(name, str(error)) from error
    options = game.options_type(**values)
    game.check_options(options)
    return options


@asynccontextmanager
async def server_url(given: str | None) -> AsyncIterator[str]:
    """A server that runs already, or one that runs until the end of this context."""
    url = given or URL
    if await until_ready(url, tell=print_line):
        yield url
        return
    if given:
        raise ServerFailed(f"there is no server on {given}")
    folder = new_folder()
    server = LocalServer(folder)
    try:
        print_line(f"No server on {URL}: starting one on {server.url}")
        await server.start()
        yield server.url
    finally:
        await server.stop()
        shutil.rmtree(folder, ignore_errors=True)


async def demo(given: argparse.Namespace) -> bool:
    """Plays and proves. Raises DarbarError and its like when there is nothing to prove."""
    game = BY_NAME[given.game]
    options = options_from(game, given.points, given.option)
    seats = game.seat_counts(options)[0]
    people = 1 if given.bots < 0 else max(1, seats - given.bots)
    dice = random.Random(given.seed)
    async with server_url(given.url) as url, Darbar(url) as darbar:
        players = [await darbar.guest(name) for name in NAMES[:people]]
        ref = await players[0].create_table(
            game.name, bet_coins=BET_COINS, options=msgspec.to_builtins(options), seats=seats
        )
        participants = await joined(players, ref, dice)
        who = f"{people} players and {seats - people} bots" if people < seats else f"{people} players"
        print_line(f"{game.title} at {url}: {who}, table {ref.table_id}, code {ref.code}")
        await seated(participants)
        commentator = Commentator(participants[0].table, print_line)
        await play_game(participants, commentator)
        names = [seat.name or "" for seat in participants[0].table.now.seats]
        await all_leave(participants)
        return await proven(participants, commentator, names)


async def proven(participants: list[Participant], commentator: Commentator, names: list[str]) -> bool:
    """Prints the sheet, the ledgers and the checks; whether every check is true."""
    evidence = await gather(participants, has_bots=len(participants) < len(names))
    print_line("\nScore sheet (points and coins of each seat)")
    for line in score_sheet(evidence.replay, names):
        print_line(line)
    print_line("\nLedgers")
    for line in ledger_lines(evidence.ledgers):
        print_line(line)
    pace = f"{commentator.moves} moves, {commentator.moves_a_second:.0f} moves a second"
    print_line(f"\n{len(evidence.replay.events)} events, {pace}\n")
    made = checks(evidence)
    for check in made:
        print_line(f"  {'true ' if check.holds else 'FALSE'}  {check.claim}: {check.said}")
        for wrong in check.wrong:
            print_line(f"         {wrong}")
    return all(check.holds for check in made)


def main() -> int:
    """What could not be done is told in a line; a fault of ours with its traceback."""
    failures: list[BaseException] = []
    is_proven = False
    try:
        given = arguments()
        is_proven = asyncio.run(voice_demo(given.game, print_line) if given.voice else demo(given))
    except* (DarbarError, OptionInvalid, ServerFailed, LogUnreadable, TimeoutError) as group:
        failures.extend(group.exceptions)
    for failure in failures:
        sys.stderr.write(f"the game could not be played: {str(failure) or type(failure).__name__}\n")
    if failures:
        return NOT_PLAYED
    return 0 if is_proven else NOT_TRUE


if __name__ == "__main__":
    sys.exit(main())
