"""Whole games of every kind, each from its seed, and what is proven of each. Open this to play something else."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from fault_stack import lasts
from unruly_sockets import Answers
from whole_games import false_checks

from darbar_client import Darbar, TableRef
from darbar_client.darbar import Player
from darbar_client.demo.checks import gather
from darbar_client.demo.playing import Participant, all_leave, joined, seated
from darbar_client.errors import DarbarError, Unreachable
from darbar_contracts.refusals import Reason
from darbar_kit.testing import eventually

PEOPLE_MIN, PEOPLE_MAX = 2, 4
CLOSED_SECONDS_MAX = 60.0
COINS_SECONDS_MAX = 60.0
PAUSE_SECONDS = 0.5
GUEST_SECONDS_MAX = 60.0
DRAINING_SECONDS_MAX = 60.0
# A whole game of King has a thousand cards, a round of Kings and Rebels fifty: the short ones are played more often.
EVERY_GAME: Mapping[str, int] = {
    "court_piece": 40,
    "kings_and_rebels": 45,
    "king_short": 8,
    "king_20": 5,
    "king_long": 2,
}
SHORT_GAMES: Mapping[str, int] = {"court_piece": 50, "kings_and_rebels": 50}


class Plan(NamedTuple):
    """What follows from a seed."""

    seed: int
    game: str
    options: Mapping[str, object]
    people: int

    @classmethod
    def of(cls, seed: int, weights: Mapping[str, int]) -> Plan:
        dice = random.Random(seed)
        [game] = dice.choices(list(weights), list(weights.values()))
        options: dict[str, object] = {}
        if game == "court_piece":
            options = {"trump": dice.choice(("hidden", "open", "kaat"))}
        elif game == "kings_and_rebels":
            options = {"seats": dice.randint(4, 6), "rounds": dice.randint(1, 2)}
        return cls(seed, game, options, people=dice.randint(PEOPLE_MIN, PEOPLE_MAX))


class SeededGame:
    """One game at a table of its own; bots have the seats that are left over."""

    def __init__(self, plan: Plan, participants: list[Participant]) -> None:
        self.plan = plan
        self.participants = participants
        self.is_over = False

    @property
    def table_id(self) -> str:
        return self.participants[0].table.table_id

    @property
    def version(self) -> int:
        """The last one that anybody was shown."""
        return max(participant.table.version for participant in self.participants)

    @property
    def where(self) -> str:
        """It stands there, for whoever looks for what went wrong."""
        shown = [(one.table.seat, one.table.version, one.table.caught_up) for one in self.participants]
        return f"seed {self.plan.seed}, table {self.table_id}: {self.participants[0].table.now.phase}, {shown}"

    async def play(self) -> None:
        """To its end."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for participant in self.participants:
                    tasks.create_task(participant.play())
        finally:
            self.is_over = True

    async def proven(self) -> tuple[int, int]:
        """Everybody leaves, and what was shown is compared with the log: replay, chain, deals, coins. How many events
        and frames it were. Raises AssertionError."""
        has_bots = len(self.participants) < len(self.participants[0].table.now.seats)
        await all_leave(self.participants)
        await eventually(self._is_closed, seconds=CLOSED_SECONDS_MAX)
        evidence = await gather(self.participants, has_bots=has_bots)
        assert false_checks(evidence) == []
        return len(evidence.replay.events), len(evidence.seen)

    def _is_closed(self) -> bool:
        return all(participant.table.failure is not None for participant in self.participants)


async def opened(darbar: Darbar, plan: Plan, *, turn_seconds: int) -> SeededGame:
    """Everybody has sat down."""
    players = [await eventually(lambda: guest(darbar), seconds=GUEST_SECONDS_MAX) for _ in range(plan.people)]
    for player in players:
        await eventually(partial(_has_coins, player), seconds=COINS_SECONDS_MAX)
    create = partial(players[0].create_table, plan.game, options=plan.options, turn_seconds=turn_seconds)
    ref = await eventually(partial(_made, create), seconds=DRAINING_SECONDS_MAX)
    participants = await joined(players, ref, random.Random(plan.seed))
    await seated(participants)
    return SeededGame(plan, participants)


async def _made(create: Callable[[], Awaitable[TableRef]]) -> TableRef | None:
    """While an operator lets no new tables be made it is asked for again."""
    try:
        return await create()
    except DarbarError as refused:
        if refused.code != Reason.DRAINING:
            raise
    await lasts(PAUSE_SECONDS)
    return None


async def guest(darbar: Darbar) -> Player | None:
    """Nobody misses an account whose answer was lost: another one is made."""
    try:
        return await darbar.guest()
    except Unreachable:
        return None


async def _has_coins(player: Player) -> bool:
    """The first ones come when the wallet is there; it lets nobody ask all the time."""
    if (await player.wallet()).balance_coins > 0:
        return True
    await lasts(PAUSE_SECONDS)
    return False


class Row(NamedTuple):
    """What is read of a stored event: the id of the command that made it, the turn that a card ended."""

    version: int
    kind: str
    id: str | None
    turn: int | None


# With these the rows of a log are made.
LOG = """
SELECT version, kind, body->>'id', (body->'event'->>'turn')::int FROM event
 WHERE table_id = $1::text::uuid ORDER BY version
"""


class Compared:
    """How much was looked at, and what was wrong."""

    def __init__(self) -> None:
        self.acknowledged = self.refused = self.cards = 0
        self.wrong: list[str] = []

    def compare(self, answers: Answers, log: Sequence[Row]) -> None:
        """What the players of a table wrote down with what is stored."""
        stored = {row.id: row for row in log if row.id is not None}
        versions = {command_id: {row.version} for command_id, row in stored.items()}
        cards = _cards(log)
        self.wrong += [f"done twice: {twice}" for twice in _twice([row.id for row in log if row.id is not None])]
        self.wrong += [f"decided twice: round, turn {twice}" for twice in _twice(cards)]
        self.wrong += [
            f"acknowledged at {sorted(told)} and stored at {sorted(versions.get(command_id, ()))}: {command_id}"
            for command_id, told in answers.acknowledged.items()
            if (command_id in answers.stored or command_id in stored) and told != versions.get(command_id)
        ]
        self.wrong += [
            f"refused with {code} and stored: {command_id}"
            for command_id, code in answers.refused.items()
            if command_id in stored
            and command_id not in answers.acknowledged
            and not _is_told_again(stored[command_id], code)
        ]
        self.acknowledged += len(answers.acknowledged)
        self.refused += len(answers.refused)
        self.cards += len(cards)


def _is_told_again(row: Row, code: str) -> bool:
    """Of somebody who has left the table remembers nothing: a repeat hears that they have no seat."""
    return row.kind == "seat_freed" and code == Reason.NOT_SEATED


def _cards(log: Sequence[Row]) -> list[tuple[int, int | None]]:
    """Deal and turn of each card."""
    deal, cards = 0, []
    for row in log:
        deal += row.kind == "round_started"
        if row.kind == "card_played":
            cards.append((deal, row.turn))
    return cards


def _twice(things: Iterable[Any]) -> list[Any]:
    return [thing for thing, count in Counter(things).items() if count > 1]
