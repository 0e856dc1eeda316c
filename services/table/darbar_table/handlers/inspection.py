"""Looking at a table's log from outside: replays of finished rounds, chain and state checked. Open this for audits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from darbar_contracts.api import Replay, ReplayEvent, TableAudit
from darbar_contracts.frames import TableReason
from darbar_contracts.tables import (
    MILESTONES_ANSWERED_MAX,
    Milestone,
    MilestonesAnswer,
    MilestonesRequest,
)
from darbar_kit.errors import Unavailable
from darbar_kit.tokens import Claims
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.evolve import evolve
from darbar_table.domain.milestones import milestone_of
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import unopened
from darbar_table.engine.node import TableNode
from darbar_table.engine.owner import at_rest
from darbar_table.settings import Settings
from darbar_table.store.chain import first_link, link
from darbar_table.store.codec import Codecs
from darbar_table.store.replay import decode, replay
from darbar_table.store.store import AWAY, Store, StoredEvent

EVENTS_ANSWERED_MAX = 1000


class Inspection:
    """Only logs, only what is finished, only for those who sat there unless the table is public."""

    def __init__(self, settings: Settings, *, store: Store, node: Callable[[], TableNode]) -> None:
        self._settings = settings
        self._store = store
        self._node = node
        self._codecs = Codecs()

    async def replay(self, table_id: UUID, claims: Claims, *, after: int) -> Replay:
        """Raises Refused table_unknown, table_private."""
        rows = await self._rows(table_id)
        first = msgspec.json.decode(rows[0].body, type=events.TableCreated)
        _, codec = self._codecs.of(first.terms.game)
        logged = list(decode(rows, codec))
        if first.terms.visibility == "private" and claims.account_id not in _sitters(logged):
            raise refused(TableReason.TABLE_PRIVATE)
        last, bags_shown = _finished(logged)
        shown = [
            _shown(row, event, bags_shown)
            for row, event in zip(rows[:last], logged, strict=False)
            if row.version > after
        ]
        return Replay(
            table_id=str(table_id),
            terms=first.terms,
            events=tuple(shown[:EVENTS_ANSWERED_MAX]),
            more=len(shown) > EVENTS_ANSWERED_MAX,
        )

    async def audit(self, table_id: UUID, claims: Claims) -> TableAudit:
        """The log against the chain and against memory. Between rounds, for those who sit or sat there."""
        held = self._node().owner.live_tables.get(table_id)
        # What is in memory is stored, and more may be stored before the rows are here.
        live = None if held is None else held.table
        rows = (await self._rows(table_id))[: None if live is None else live.version]
        first = msgspec.json.decode(rows[0].body, type=events.TableCreated)
        rules, codec = self._codecs.of(first.terms.game)
        if claims.account_id not in _sitters(list(decode(rows, codec))):
            raise refused(TableReason.TABLE_PRIVATE)
        replayed = replay(table_id, rows, rules, codec)
        if not at_rest(replayed):
            raise refused(Refusal.NOT_NOW)
        return TableAudit(
            version=len(rows),
            events=len(rows),
            chain_holds=chain_fault(table_id, rows) is None,
            replay_equals_live=live is None or fingerprint(replayed) == fingerprint(live),
        )

    async def milestones(self, request: MilestonesRequest) -> MilestonesAnswer:
        """The milestones of a table after a number, made again from its events."""
        table_id = UUID(request.table_id)
        found = self._all_milestones(table_id, await self._rows(table_id))
        wanted = [note for note in found if note.number > request.after]
        return MilestonesAnswer(
            milestones=tuple(wanted[:MILESTONES_ANSWERED_MAX]), more=len(wanted) > MILESTONES_ANSWERED_MAX
        )

    def _all_milestones(self, table_id: UUID, rows: Sequence[StoredEvent]) -> list[Milestone]:
        first = msgspec.json.decode(rows[0].body, type=events.TableCreated)
        rules, codec = self._codecs.of(first.terms.game)
        table = unopened(str(table_id), rules)
        notes: list[Milestone | None] = []
        for row in rows:
            event = codec.decode(row.kind, row.body)
            table = evolve(table, event)
            notes.append(milestone_of(event, table, at=row.at, generation=self._settings.generation))
        return [note for note in notes if note is not None]

    async def _rows(self, table_id: UUID) -> list[StoredEvent]:
        try:
            rows = (await self._store.events_of([table_id]))[table_id]
        except AWAY as error:
            raise Unavailable(TableReason.UNAVAILABLE, "the database is away") from error
        if not rows:
            raise refused(TableReason.TABLE_UNKNOWN)
        return rows


def chain_fault(table_id: UUID, rows: Sequence[StoredEvent]) -> int | None:
    """The first version whose chain does not follow from the one before; None when the log is as it was written."""
    previous = first_link(table_id)
    for expected, row in enumerate(rows, start=1):
        due = link(previous, table_id, row.version, kind=row.kind, at=row.at, body=row.body.encode())
        if row.version != expected or due != row.chain:
            return expected
        previous = row.chain
    return None


def fingerprint(table: Any) -> str:
    """Everything a state holds, in words: equal states have equal ones."""
    return repr(msgspec.structs.replace(table, chance=None))


def _sitters(logged: Sequence[events.Event]) -> set[str]:
    hosts = {event.host.account_id for event in logged if isinstance(event, events.TableCreated)}
    return hosts | {event.account_id for event in logged if isinstance(event, events.SeatTaken)}


def _finished(logged: Sequence[events.Event]) -> tuple[int, set[int]]:
    """How many events belong to rounds whose result is stored, and which bags have been shown."""
    last, bags = 0, set()
    for version, event in enumerate(logged, start=1):
        if isinstance(event, events.SeedsShown):
            last = version
            if event.bag_seed is not None:
                bags.add(event.bag)
        elif last and isinstance(event, events.SettleAsked | events.Settled | events.GameEnded):
            last = version
    return last, bags


def _shown(row: StoredEvent, event: events.Event, bags_shown: set[int]) -> ReplayEvent:
    """A bag's seed tells the flags of rounds to come, so it stays hidden until the bag is empty."""
    hidden = isinstance(event, events.BagOpened) and event.bag not in bags_shown
    return ReplayEvent(row.version, row.kind, row.at, None if hidden else row.body, row.chain.hex())
