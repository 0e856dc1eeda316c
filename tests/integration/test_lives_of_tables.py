"""People at a table of a whole server: they vanish, leave, come twice; the server is killed under the last trick."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import pytest_asyncio
from whole_games import BACKOFF, coins_add_up, local_server, new_folder

from darbar_client import CommandRefused, Darbar, Player, TableSocket
from darbar_client.demo.checks import FIRST_COINS
from darbar_client.demo.local_server import LocalServer
from darbar_contracts.api import Session, TableRef
from darbar_contracts.frames import EventFrame, Snapshot
from darbar_contracts.refusals import Reason
from darbar_kit.testing import Tunnel, eventually
from darbar_rules.cards import RANKS
from darbar_rules.decisions import PlayCard
from darbar_rules.game import Refusal
from darbar_rules.games.court_piece.piles import ends_round, trick_taken
from darbar_rules.games.court_piece.state import Middle
from darbar_rules.games.court_piece.view import CourtPieceView

BET_COINS = 100
# No round begins before everybody says "ready": a test looks at what came of the last one.
LONG_COUNT_IN = {"DARBAR_TABLE_COUNT_IN_SECONDS": "300"}
SEATS = 4
STEP_SECONDS_MAX = 30.0
# A connection that is cut is noticed at once, one that is silent within ten seconds; then come five of grace (TL-41,
# TL-42). A busy machine may take its time.
CUT_SECONDS_MAX = 5.0 + 3.0
SILENT_SECONDS_MAX = 15.0 + 3.0
# The table had moved on.
TOO_LATE = (Reason.STALE_TURN, Refusal.NOT_NOW)
# A player in a process of its own, who sits down and does nothing.
CHILD = """
import asyncio, sys, msgspec
from darbar_client import Darbar, Player
from darbar_contracts.api import Session, TableRef

async def main(url, ref):
    session = msgspec.json.decode(sys.stdin.buffer.readline(), type=Session)
    async with Darbar(url) as darbar, await Player(darbar, session).join(
        msgspec.json.decode(ref, type=TableRef), fair=False
    ) as table:
        await table.sit()
        print(table.seat, flush=True)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def life_server(stack_folder: Path) -> AsyncIterator[LocalServer]:
    async with local_server(new_folder(stack_folder, "life"), LONG_COUNT_IN) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def people(life_server: LocalServer) -> AsyncIterator[Darbar]:
    async with Darbar(life_server.url, backoff=BACKOFF) as opened:
        yield opened


class LastTrick(NamedTuple):
    """Whose card ends the round, which one it will be, and who wins by it."""

    last: TableSocket
    choice: PlayCard
    winning_team: int


class Child:
    """Somebody whose process can be hurt."""

    def __init__(self, process: asyncio.subprocess.Process, session: Session, seat: int) -> None:
        self._process = process
        self.session = session
        self.seat = seat

    @classmethod
    @asynccontextmanager
    async def seated(cls, darbar: Darbar, url: str, ref: TableRef) -> AsyncIterator[Child]:
        session = await darbar.http.ask("POST", "/v1/guests", Session, body={}, repeatable=False)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-c", CHILD, url, msgspec.json.encode(ref).decode(),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(session) + b"\n")
            yield cls(process, session, int(await asyncio.wait_for(process.stdout.readline(), STEP_SECONDS_MAX)))
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    def hurt(self, number: signal.Signals) -> None:
        os.kill(self._process.pid, number)


def is_away(seat: int) -> Callable[[TableSocket], bool]:
    return lambda table: table.now.seats[seat].away


def is_back(seat: int) -> Callable[[TableSocket], bool]:
    return lambda table: not table.now.seats[seat].away


async def plays(table: TableSocket, until: Callable[[TableSocket], object]) -> None:
    """The first choice at every turn of this seat, until all is as wanted."""
    while True:
        await table.until(lambda now: until(now) or now.on_turn, seconds=STEP_SECONDS_MAX)
        if until(table):
            return
        try:
            await table.decide(table.choices()[0])
        except CommandRefused as refused:
            if refused.code not in TOO_LATE:
                raise


async def four(darbar: Darbar, game: str, **options: object) -> tuple[list[Player], list[TableSocket]]:
    """Four people at a table of theirs, in the order of the seats; the first round is dealt."""
    players = [await darbar.guest() for _ in range(SEATS)]
    ref = await players[0].create_table(game, bet_coins=BET_COINS, turn_seconds=30, options=options)
    tables = [await player.join(ref, fair=False) for player in players]
    for seat, table in enumerate(tables[1:], start=1):
        await table.sit(seat)
    await tables[0].start_now()
    for table in tables:
        await table.until(lambda now: now.now.phase == "playing" and now.now.started, seconds=STEP_SECONDS_MAX)
    return players, tables


async def bots_play_for(seats: set[int], table: TableSocket) -> None:
    """Reads on until a bot has decided in each of these seats; whoever reads plays too."""
    async with asyncio.timeout(STEP_SECONDS_MAX):
        async for frame in table.events():
            if isinstance(frame, EventFrame) and frame.public.get("by") == "bot":
                seats = seats - {frame.public["seat"]}
            if not seats:
                return
            if table.on_turn and frame.version == table.version:
                await table.decide(table.choices()[0])


async def read_to(version: int, table: TableSocket) -> list[EventFrame | Snapshot]:
    """All that a client was sent so far."""
    frames: list[EventFrame | Snapshot] = []
    async with asyncio.timeout(STEP_SECONDS_MAX):
        while not frames or frames[-1].version < version:
            frames.append(await anext(table.events()))
    return frames


@pytest.mark.ruling("TL-17")
@pytest.mark.ruling("TL-29")
@pytest.mark.ruling("TL-41")
@pytest.mark.ruling("TL-42")
async def test_tl_41_who_vanishes_is_played_by_a_bot_in_time_and_carries_on_with_all_that_was_missed(
    life_server: LocalServer, people: Darbar
) -> None:
    ann = await people.guest()
    ref = await ann.create_table("court_piece", turn_seconds=30, options={"trump": "open"})
    async with AsyncExitStack() as ends:
        table = await ends.enter_async_context(await ann.join(ref, fair=False))
        tunnel = await ends.enter_async_context(Tunnel.to(life_server.url))
        far_away = await ends.enter_async_context(Darbar(tunnel.url, backoff=BACKOFF))
        far = await ends.enter_async_context(await (await far_away.guest()).join(ref, fair=False))
        await far.sit()
        far_seat = far.seat or 0
        killed, stopped = [await ends.enter_async_context(Child.seated(people, life_server.url, ref)) for _ in range(2)]
        await table.start_now()
        await far.until(lambda now: now.now.phase == "playing" and now.turn >= 0, seconds=STEP_SECONDS_MAX)

        killed.hurt(signal.SIGKILL)
        stopped.hurt(signal.SIGSTOP)
        tunnel.fall_silent()
        had = far.version
        await table.until(is_away(killed.seat), seconds=CUT_SECONDS_MAX)
        await table.until(lambda now: is_away(stopped.seat)(now) and is_away(far_seat)(now), seconds=SILENT_SECONDS_MAX)
        await bots_play_for({killed.seat, stopped.seat, far_seat}, table)

        tunnel.speak_again()
        await table.until(is_back(far_seat), seconds=STEP_SECONDS_MAX)
        sent = [frame for frame in await read_to(table.version, far) if frame.version > had]
        assert [(type(frame), frame.version - had) for frame in sent] == [
            (EventFrame, number) for number in range(1, len(sent) + 1)
        ]
        playing = asyncio.create_task(plays(table, lambda now: False))
        await far.until(lambda now: now.on_turn, seconds=STEP_SECONDS_MAX)
        await far.decide(far.choices()[0])
        playing.cancel()

        stopped.hurt(signal.SIGCONT)
        back = await ends.enter_async_context(await Player(people, killed.session).join(ref, fair=False))
        for seat in (stopped.seat, killed.seat):
            await table.until(is_back(seat), seconds=STEP_SECONDS_MAX)
        assert (back.seat, table.now.round) == (killed.seat, 1)


@pytest.mark.ruling("TL-31")
@pytest.mark.ruling("TL-37")
async def test_tl_31_who_leaves_and_stays_away_loses_the_seat_and_has_quit_and_the_bet_stays_in_the_pot(
    people: Darbar,
) -> None:
    players, tables = await four(people, "king_short")
    await asyncio.gather(*(plays(table, lambda now: now.turn >= 2 * SEATS) for table in tables))
    await tables[3].leave()
    await tables[3].close()
    await asyncio.gather(*(plays(table, lambda now: now.now.seats[3].kind == "free") for table in tables[:3]))
    wallet = await players[3].wallet()
    expected = (FIRST_COINS - 2 * BET_COINS, BET_COINS, BET_COINS)
    assert (wallet.balance_coins, wallet.in_pots_coins, wallet.reserved_coins) == expected

    async def has_quit() -> bool:
        return [one.quits for one in (await players[3].profile()).statistics] == [1]

    await eventually(has_quit, seconds=STEP_SECONDS_MAX)
    assert (tables[0].now.phase, tables[0].now.started, tables[0].now.people) == ("waiting", True, (0, 1, 2))


@pytest.mark.ruling("TL-41")
@pytest.mark.ruling("GEN-4")
async def test_tl_41_two_tabs_have_one_seat_and_of_two_clicks_one_counts(people: Darbar) -> None:
    players, tables = await four(people, "court_piece", trump="open")
    tab = await players[1].join(tables[1].table_id, fair=False)
    others = [tables[0], *tables[2:]]
    waiting = [asyncio.create_task(plays(table, lambda now: False)) for table in others]
    await tables[1].until(lambda now: now.on_turn, seconds=STEP_SECONDS_MAX)
    await tab.until(lambda now: now.version >= tables[1].version, seconds=STEP_SECONDS_MAX)
    assert (await tab.refresh()).game == (await tables[1].refresh()).game
    assert (tab.seat, tab.legal) == (1, tables[1].legal)
    choice = tab.choices()[0]
    clicks = await asyncio.gather(*(one.decide(choice) for one in (tab, tables[1])), return_exceptions=True)
    refused = [click for click in clicks if isinstance(click, CommandRefused)]
    assert [one.code in TOO_LATE for one in refused] == [True]
    await tables[1].close()
    version = tab.version
    await plays(tab, lambda now: now.version > version + SEATS)
    assert not tab.now.seats[1].away
    for task in waiting:
        task.cancel()


@pytest.mark.ruling("TL-20")
@pytest.mark.ruling("TL-43")
async def test_tl_43_a_server_that_is_killed_under_the_last_trick_of_a_round_changes_no_winner_and_no_coin(
    life_server: LocalServer, people: Darbar
) -> None:
    players, tables = await four(people, "court_piece", trump="open")
    while (trick := await last_trick(tables)) is None:
        for on_turn in [table for table in tables if table.on_turn]:
            await on_turn.decide(on_turn.choices()[0])
        if all(table.now.phase == "counting_in" for table in tables):
            for table in tables:
                await table.ready()
        await eventually(lambda: is_somebody_asked(tables), seconds=STEP_SECONDS_MAX)
    before = [(await player.wallet()).balance_coins for player in players]
    await life_server.kill()
    await life_server.start()
    await trick.last.until(lambda now: now.caught_up and now.on_turn, seconds=STEP_SECONDS_MAX)
    await trick.last.decide(trick.choice)
    for table in tables:
        await table.until(lambda now: now.caught_up and now.now.phase == "counting_in", seconds=STEP_SECONDS_MAX)
    wallets = [await player.wallet() for player in players]
    # The reserve comes back to everybody, and the pot goes to the winners.
    assert [wallet.balance_coins for wallet in wallets] == [
        coins + BET_COINS + (2 * BET_COINS if seat % 2 == trick.winning_team else 0)
        for seat, coins in enumerate(before)
    ]
    assert not any(wallet.in_pots_coins or wallet.reserved_coins for wallet in wallets)
    assert await coins_add_up(life_server)
    assert [quits for player in players for quits in await quits_of(player)] == []
    assert all(seat.kind == "player" and not seat.away for seat in tables[0].now.seats)


def is_somebody_asked(tables: list[TableSocket]) -> bool:
    """For a decision, or whether they are ready."""
    return any(table.on_turn for table in tables) or all(table.now.phase == "counting_in" for table in tables)


async def last_trick(tables: list[TableSocket]) -> LastTrick | None:
    """None while the next card does not end a round; else what it does, by the rules."""
    on_turn = [table for table in tables if table.on_turn]
    if len(on_turn) != 1:
        return None
    last = on_turn[0]
    await last.refresh()
    view, choice = last.view, last.choices()[0]
    if not isinstance(view, CourtPieceView) or not isinstance(choice, PlayCard) or len(view.trick) != SEATS - 1:
        return None
    lying = next(seen.card for seen in view.trick if seen.seat == view.winning)
    assert lying is not None
    assert last.seat is not None
    wins = choice.card[1] == view.trump if choice.card[1] != lying[1] else rank(choice.card) > rank(lying)
    winner = last.seat if wins else view.winning
    assert winner is not None
    middle = Middle(
        pile=view.pile, collected=view.collected, streak=view.streak, tricks_finished=sum(view.collected) + view.pile
    )
    taken = trick_taken(view.options, middle, winner, 0, win_counts=True)
    if not ends_round(taken, middle.tricks_finished + 1) or min(taken.collected) == 0:
        return None
    return LastTrick(last, choice, taken.collected.index(max(taken.collected)))


def rank(card: str) -> int:
    return RANKS.index(card[0])


async def quits_of(player: Player) -> list[int]:
    return [one.quits for one in (await player.profile()).statistics if one.quits]
