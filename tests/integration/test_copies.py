"""Two processes of every service: any of them may die, and whoever plays at a table far from their socket plays on."""

from __future__ import annotations

import random
import signal
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import msgspec
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest_asyncio
from fault_stack import FaultStack, fault_stack
from long_games import LongGuest, LongTable, long_table, moved_on, played
from whole_games import SEATS

from darbar_client import Darbar, DarbarError
from darbar_client.darbar import Player
from darbar_client.demo.playing import joined, seated
from darbar_contracts.api import SocketPaths
from darbar_contracts.refusals import Reason
from darbar_kit.testing import eventually

TABLES = 2
BACK_SECONDS_MAX = 30.0
Count = Callable[[str], None]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stack(stack_folder: Path) -> AsyncIterator[FaultStack]:
    arguments = ("--processes", "--tables", "2", "--copies", "2")
    async with fault_stack(stack_folder, *arguments, table_better_place_seconds="1") as started:
        yield started


async def test_any_one_of_two_is_killed_and_everything_goes_on(stack: FaultStack, guests: Darbar, count: Count) -> None:
    """Also what it was just asked: a guest who comes, stakes, and what the bots decide."""
    tables = [await long_table(guests, seed=seed, people=seed + 3) for seed in range(TABLES)]
    killed = 0
    async with played(tables):
        for number in (1, 2):
            for service in ("lobby", "wallet", "bot"):
                _child(stack, f"{service}-{number}").kill()
                killed += 1
            newcomer = await guests.guest()
            await eventually(partial(_has_coins, newcomer), seconds=BACK_SECONDS_MAX)
            await newcomer.create_table("court_piece")
            await moved_on(tables)
            await stack.ready()
    events = sum([await table.proven() for table in tables])
    count(f"{killed} processes killed, one of each service at a time; {len(tables)} tables, {events} events proven")


async def test_players_far_from_their_table_play_on_when_its_owner_is_killed_or_stopped(
    stack: FaultStack, guests: Darbar, count: Count
) -> None:
    """Their sockets are at the other process, and stay open."""
    tables = [await _far_table(guests, seed=seed) for seed in range(TABLES)]
    async with played(tables):
        for number in (signal.SIGKILL, signal.SIGTERM):
            owner = await stack.owner()
            owner.process.send_signal(number)
            await eventually(partial(_has_ended, owner.process), seconds=BACK_SECONDS_MAX)
            await moved_on(tables)
            await stack.ready()
    events = sum([await table.proven() for table in tables])
    count(f"an owner killed, one stopped: {len(tables)} far tables, {events} events proven")


async def _has_coins(newcomer: Player) -> bool:
    """What a new account gets comes as soon as a wallet gives it; who asks too often is not answered for a while."""
    try:
        return (await newcomer.wallet()).balance_coins > 0
    except DarbarError as refused:
        if refused.code != Reason.TOO_MANY_REQUESTS:
            raise
        return False


async def _far_table(darbar: Darbar, *, seed: int) -> LongTable:
    """Like `long_table`, but every socket is opened where any process answers."""
    players = [await darbar.guest() for _ in range(SEATS)]
    ref = await players[0].create_table("court_piece", turn_seconds=15)
    anywhere = msgspec.structs.replace(ref, socket=SocketPaths(direct=None, any=ref.socket.any))
    guests = await joined(players, anywhere, random.Random(seed))
    await seated(guests)
    return LongTable([LongGuest(guest) for guest in guests])


def _child(stack: FaultStack, name: str) -> psutil.Process:
    assert stack.run is not None
    return stack.run.children()[name]


def _has_ended(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
