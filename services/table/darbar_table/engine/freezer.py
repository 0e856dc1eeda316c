"""A fault of ours at one table stops that table and no other. Open this beside the operators' commands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Iterator
from uuid import UUID

import msgspec
import structlog

from darbar_contracts.frames import TableReason
from darbar_kit.backoff import Backoff
from darbar_kit.database import DatabaseAway
from darbar_kit.errors import Refused
from darbar_table.domain.commands import Command
from darbar_table.domain.refusals import refused
from darbar_table.engine.live_table import LiveTable
from darbar_table.metrics import Metrics
from darbar_table.store.store import Store

AGAIN_SECONDS_MIN = 0.1
AGAIN_SECONDS_MAX = 2.0

log = structlog.get_logger()


class Freezer:
    """Everything that is done for one table alone is done inside `guard`."""

    def __init__(self, store: Store, *, metrics: Metrics, spawn: Callable[[Coroutine[None, None, None]], None]) -> None:
        self._store = store
        self._metrics = metrics
        self._spawn = spawn
        self.unreadable: set[UUID] = set()  # Frozen before they could be held.
        self.unstored: set[UUID] = set()  # Frozen in memory alone so far: nobody may thaw them before it is stored.

    @contextlib.contextmanager
    def guard(self, live: LiveTable, command: Command | None = None) -> Iterator[None]:
        """An exception inside freezes this table and ends here. Refusals go through."""
        try:
            yield
        except Refused:
            raise
        except Exception as error:  # noqa: BLE001  # What a fault of ours at one table may cost is that table.
            self.failed(live, error, command)

    @contextlib.contextmanager
    def answering(self, live: LiveTable) -> Iterator[None]:
        """Like `guard`, for what somebody asks of this table: they are refused `table_frozen`."""
        with self.guard(live):
            yield
            return
        raise refused(TableReason.TABLE_FROZEN)

    def failed(self, live: LiveTable, error: Exception, command: Command | None) -> None:
        """To be called where the exception is handled: it is logged with its traceback."""
        log.exception("table_failed", table_id=str(live.table_id))
        self.freeze(live, type(error).__name__, command)

    def freeze(self, live: LiveTable, reason: str, command: Command | None) -> None:
        """Everybody there is told; what was asked for is kept for an admin. A table is frozen once."""
        if live.frozen:
            return
        live.frozen = True
        live.stop_timers()
        self._metrics.frozen.inc()
        log.error("table_frozen", table_id=str(live.table_id), reason=reason)
        self._keep(live.table_id, reason, _readable(command))
        refusal = refused(TableReason.TABLE_FROZEN)
        live.dismiss(refusal.code, refusal.message)

    def freeze_unread(self, table_id: UUID, error: Exception) -> None:
        """A log that can't be taken: nothing is guessed."""
        log.error("table_not_loaded", table_id=str(table_id), error=f"{type(error).__name__}: {error}")
        self.unreadable.add(table_id)
        self._metrics.frozen.inc()
        self._keep(table_id, f"not loaded: {type(error).__name__}: {error}", None)

    def _keep(self, table_id: UUID, reason: str, command: str | None) -> None:
        self.unstored.add(table_id)
        self._spawn(self._stored(table_id, reason, command))

    async def _stored(self, table_id: UUID, reason: str, command: str | None) -> None:
        """Until the database has it. Should we end before, the next owner meets the same log, or a healthy table."""
        backoff = Backoff(seconds_min=AGAIN_SECONDS_MIN, seconds_max=AGAIN_SECONDS_MAX)
        try:
            while True:
                try:
                    return await self._store.freeze(table_id, reason=reason, command=command)
                except DatabaseAway:
                    log.warning("freezing_not_stored", table_id=str(table_id))
                    await backoff.pause()
        finally:
            self.unstored.discard(table_id)


def _readable(command: Command | None) -> str | None:
    """The command as JSON for an admin; what JSON can't say is written as text."""
    return None if command is None else msgspec.json.encode(command, enc_hook=repr).decode()
