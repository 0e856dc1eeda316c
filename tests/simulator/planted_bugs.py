"""Mistakes that somebody could make in the product, each put in for a while. Open this to plant another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tables_statements import without_fence

from darbar_kit.database import queries as kit_queries
from darbar_kit.supervisor import Supervisor, TaskState
from darbar_table import app
from darbar_table.domain.seat_view import SeatFrames
from darbar_table.domain.state import Table
from darbar_table.engine import owner
from darbar_table.engine.live_table import Ids, LiveTable
from darbar_table.handlers.relayed import RelayedSocket
from darbar_table.shards.holdings import Holdings
from darbar_table.store.writer import Append, Lane, Outcome, Writer
from darbar_wallet.store.ledger_store import LedgerBatch

Planted = Callable[[], AbstractContextManager[None]]


@contextmanager
def _replaced(where: Any, name: str, other: object) -> Iterator[None]:
    before = getattr(where, name)
    setattr(where, name, other)
    try:
        yield
    finally:
        setattr(where, name, before)


def no_fence() -> AbstractContextManager[None]:
    """Events are stored by a process that was declared dead."""
    queries = kit_queries

    def unfenced(package: str) -> Mapping[str, str]:
        real = queries(package)
        return {**real, **{name: without_fence(real[name]) for name in ("append", "append_moves")}}

    return _replaced(app, "queries", unfenced)


def published_before_commit() -> AbstractContextManager[None]:
    """Everybody is told at once, and then it is stored."""
    offer = Writer.offer

    def hasty(writer: Writer, append: Append) -> None:
        told, append.done = append.done, lambda _outcome: None
        offer(writer, append)
        told(Outcome.STORED)

    return _replaced(Writer, "offer", hasty)


def forgotten_key() -> AbstractContextManager[None]:
    """The wallet does not know again what it has answered under a key."""
    answered = LedgerBatch._answered

    async def forgetful(batch: LedgerBatch, requests: Sequence[Any]) -> Any:
        known, closed = await answered(batch, requests)
        own = {getattr(request, "key", None) for request in requests}
        return {key: answer for key, answer in known.items() if key not in own}, closed

    return _replaced(LedgerBatch, "_answered", forgetful)


def no_redaction_on_the_relay() -> AbstractContextManager[None]:
    """A socket at another process is sent every seat's part."""
    send = owner._send

    def open_hearted(live: LiveTable, frames: SeatFrames, before: Table, after: Table) -> None:
        relayed = [socket for socket in live.sockets if isinstance(socket, RelayedSocket)]
        everything = b"".join(frames.tails.values())
        for socket in relayed:
            socket.seat = after.seat_of(socket.account_id)
            socket.send(b"%b%b}" % (frames.head, everything))
        rest = live.sockets
        live.sockets = [socket for socket in rest if socket not in relayed]
        send(live, frames, before, after)
        live.sockets = rest

    return _replaced(owner, "_send", open_hearted)


def shard_never_loaded() -> AbstractContextManager[None]:
    """What is claimed after the start is not loaded."""
    own = Holdings.own

    def once(holdings: Holdings, shards: Iterable[int]) -> None:
        known = [shard for shard in shards if not holdings._known or holdings.state(shard) is not None]
        own(holdings, known)

    return _replaced(Holdings, "own", once)


def supervisor_gives_up() -> AbstractContextManager[None]:
    """A task that has failed is not started again."""

    async def keep(supervisor: Supervisor, watched: Any) -> None:
        await supervisor._once(watched)
        watched.state = TaskState.ENDED

    return _replaced(Supervisor, "_keep", keep)


def forgotten_command_id() -> AbstractContextManager[None]:
    """A command that comes again is a new one."""

    def forgetful(_ids: Ids, _command_id: str) -> None:
        return None

    return _replaced(Ids, "find", forgetful)


def unknown_taken_for_not_stored() -> AbstractContextManager[None]:
    """After a lost connection nobody looks what became of the batch."""

    async def careless(_lane: Lane, batch: Sequence[Append]) -> Sequence[Append]:
        return batch

    return _replaced(Lane, "unstored", careless)


# With the promise that each breaks.
PLANTED: dict[Planted, str] = {
    no_fence: "one writer",
    published_before_commit: "stored before shown",
    forgotten_key: "no fault of ours",
    no_redaction_on_the_relay: "nothing hidden is shown",
    shard_never_loaded: "every game ends",
    supervisor_gives_up: "every game ends",
    forgotten_command_id: "acknowledged = stored",
    unknown_taken_for_not_stored: "one writer",
}
