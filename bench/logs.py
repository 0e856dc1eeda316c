"""Logs of tables, played in memory. Open this when a benchmark needs another kind of log."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import asyncpg

from darbar_contracts.frames import Leave, Ready, Sit
from darbar_contracts.tables import CreateTable, Person, TableTerms
from darbar_contracts.wallet import WalletAnswer
from darbar_rules.games import BY_NAME
from darbar_table.domain import decide, events
from darbar_table.domain.commands import Act, Command, Context, Create, Decide, WalletAnswered
from darbar_table.domain.state import Phase, Table, unopened
from darbar_table.domain.visibility import at_rest
from darbar_table.settings import Settings
from darbar_table.shards.placement import shard_of
from darbar_table.store.chain import first_link, link
from darbar_table.store.codec import Codecs

# Of the table `event`.
COLUMNS = ("table_id", "version", "kind", "body", "at", "chain")
GAME = "court_piece"
RULES = BY_NAME[GAME]
PEOPLE = tuple(Person(f"bench-player-{name}", name.capitalize(), "fox") for name in ("ann", "bob", "cyn", "dan"))
SETTINGS = Settings(database_url="", nats_url="", token_public_key="")


class StoredRow(NamedTuple):
    """One row of the event table, but for its table's id."""

    kind: str
    body: bytes


class Script:
    """A table in memory, told things until its log is long enough."""

    def __init__(self) -> None:
        seeds = itertools.count(1)
        settings = SETTINGS
        context = Context(settings=settings, fresh_seed=lambda: f"{next(seeds):064x}", now=lambda: datetime.now(UTC))
        table_id = str(uuid4())
        terms = TableTerms(GAME, {"trump": "hidden"}, len(PEOPLE), 100, 10, "public", "normal")
        self._context = context
        self._ids = itertools.count(1)
        self.table: Table = unopened(table_id, RULES)
        self.log: list[events.TableEvent] = []
        self._tell(Create(CreateTable(table_id, terms, PEOPLE[0]), balance_coins=10**6))

    def play(self, count: int) -> list[events.TableEvent]:
        """Sit down and play until there are so many events."""
        for person in PEOPLE[1:]:
            self._act(person, Sit(id=self._id()))
        while len(self.log) < count:
            self._step()
        return self.log[:count]

    def visit(self, person: Person) -> None:
        """Sit down and leave again."""
        self._act(person, Sit(id=self._id()))
        self._act(person, Leave(id=self._id()))

    def play_to_rest(self, count: int) -> list[events.TableEvent]:
        """Sit down and play until there are so many events and no round is under way."""
        self.play(count)
        while not at_rest(self.table):
            self._step()
        return self.log

    def _step(self) -> None:
        table = self.table
        if table.phase is Phase.COUNTING_IN:
            for person in PEOPLE:
                self._act(person, Ready(id=self._id()))
        elif table.phase is Phase.PLAYING:
            turn = table.rules.turn(table.state)
            self._decide(turn.seats[0], turn.round, turn.turn)
        else:
            assert table.asked is not None
            self._tell(WalletAnswered(key=table.asked.key, answer=WalletAnswer(done=True)))

    def _decide(self, seat: int, round_number: int, turn: int) -> None:
        legal = self.table.rules.legal(self.table.state, seat)
        kind, card = ("play_card", legal.play[0]) if legal.play else ("choose_trump", legal.name[0])
        decision = RULES.decisions[kind](card)
        person = self.table.seats[seat].player
        assert person is not None
        self._tell(Decide(person, self._id(), 123456789, round_number, turn, kind, decision))

    def _act(self, person: Person, frame: Any) -> None:
        self._tell(Act(person=person, frame=frame, digest=123456789, balance_coins=10**6))

    def _tell(self, command: Command) -> None:
        draft = decide.decide(self.table, command, self._context)
        self.table = draft.table
        self.log += draft.events

    def _id(self) -> str:
        return f"bench-{next(self._ids):016d}"


def stored(log: Iterable[events.TableEvent]) -> list[StoredRow]:
    """These events as they are stored."""
    codec = Codecs().of(GAME)[1]
    return [StoredRow(codec.kind_of(event), codec.encode(event)) for event in log]


async def plant(connection: asyncpg.Connection[Any], table_id: UUID, rows: Sequence[StoredRow], at: datetime) -> None:
    """An open table with this log, to be loaded by whoever takes its shard."""
    await connection.copy_records_to_table("event", records=records(table_id, rows, at), columns=COLUMNS)
    await connection.copy_records_to_table(
        "open_table", records=[(table_id, shard_of(table_id), GAME)], columns=["table_id", "shard", "game"]
    )


def records(table_id: UUID, rows: Sequence[StoredRow], at: datetime) -> list[tuple[Any, ...]]:
    """Rows for COLUMNS, with their chain."""
    found = []
    chain = first_link(table_id)
    for version, row in enumerate(rows, start=1):
        chain = link(chain, table_id, version, kind=row.kind, at=at, body=row.body)
        found.append((table_id, version, row.kind, row.body.decode(), at, chain))
    return found
