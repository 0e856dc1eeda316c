"""Where the product is held by the simulation: its driver, its client of NATS, its clocks, its log. Open this to see
what is not the product's own in a history.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

import asyncpg
import structlog
from aiohttp import web
from database_double import ConnectionDouble, PoolDouble, connect
from nats_double import ClientDouble

from darbar_kit.bus import connection as bus_connection
from darbar_kit.database import DatabaseAway
from darbar_table.engine import node, timer_wheel
from darbar_table.handlers import relay
from darbar_table.shards import placement, survey

if TYPE_CHECKING:
    from table_company import Company

# Somebody else has stored a version of a table that this process owned.
FOREIGN_VERSION = "table_reloading"
SHARDS = 16
# Twice as long as in the product.
TICK_SECONDS = 0.1
RELAY_LOOK_SECONDS = 0.2
_driver: Any = asyncpg
_bus: Any = bus_connection
# Of our own doing, and no fault: the end of a process id, and what is said again while something else is away.
NO_FAULTS = frozenset(("fence_lost", "append_refused", "wallet_silent", "answer_lost", "stopped_with_appends_waiting"))


class Seams:
    """They are the product's own again after each history."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._logged: list[str] = []
        self._before: tuple[Any, ...] = ()

    def __enter__(self) -> Seams:
        self._before = (_driver.connect, _driver.create_pool, _bus.Client, structlog.get_config())
        ClientDouble.broker = self._company.broker
        _driver.connect, _driver.create_pool, _bus.Client = self._connect, self._create_pool, ClientDouble
        structlog.configure(
            processors=[self._note],
            wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
            cache_logger_on_first_use=False,
        )
        return self

    def __exit__(self, *_error: object) -> None:
        _driver.connect, _driver.create_pool, _bus.Client, config = self._before
        structlog.configure(**config)

    def faults(self) -> list[str]:
        """What the product itself calls a fault of its own."""
        return [*self._logged, *self._company.loop.faults]

    async def _connect(self, url: str, *, command_timeout: float | None = None, **_limits: Any) -> ConnectionDouble:
        return await connect(self._company.server, url, command_timeout)

    async def _create_pool(self, url: str, *, command_timeout: float | None = None, **_limits: Any) -> PoolDouble:
        pool = PoolDouble(lambda: self._connect(url, command_timeout=command_timeout))
        await pool.release(await pool.acquire())
        return pool

    def _note(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
        loop, what = self._company.loop, str(event.get("event"))
        error = event.get("exc_info")
        if error is True:
            error = sys.exc_info()[1]
        is_ours = what not in NO_FAULTS and not isinstance(error, DatabaseAway)
        if is_ours and not loop.is_over and not loop.current.is_dead:
            told = {name: value for name, value in event.items() if name not in ("event", "exc_info", "level")}
            promise = "one writer" if what == FOREIGN_VERSION else "no fault of ours"
            self._logged.append(f"{promise}: {loop.current.name} logs {what} {told} {error!r}")
        raise structlog.DropEvent


@contextlib.contextmanager
def little_idling() -> Iterator[None]:
    """Looks are most of what a process does while nothing happens: here they are fewer, and at a hundredth of the
    shards. No page is served, so none gets a route."""
    before = [(where, name, getattr(where, name)) for where, name, _ in _IDLING]
    for where, name, instead in _IDLING:
        setattr(where, name, instead)
    try:
        yield
    finally:
        for where, name, own in before:
            setattr(where, name, own)


def _no_routes(_app: web.Application, _routes: object) -> list[Any]:
    return []


_IDLING: tuple[tuple[Any, str, object], ...] = (
    (placement, "SHARDS", SHARDS),
    (survey, "SHARDS", SHARDS),
    (node, "TICK_SECONDS", TICK_SECONDS),
    (timer_wheel, "TICK_SECONDS", TICK_SECONDS),
    (relay, "LOOK_SECONDS", RELAY_LOOK_SECONDS),
    (web.Application, "add_routes", _no_routes),
)
