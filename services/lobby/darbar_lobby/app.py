"""Puts the lobby together, once, in one place. Open this to see which part needs which."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry

from darbar_kit.bus import Bus
from darbar_kit.database import open_pool, queries
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY
from darbar_kit.tokens import TokenReader, TokenWriter, public_key_pem
from darbar_lobby.accounts import Accounts
from darbar_lobby.bookkeeper import Bookkeeper
from darbar_lobby.bus import MilestoneConsumer
from darbar_lobby.catalogue import Games
from darbar_lobby.database import Database
from darbar_lobby.directory import Directory
from darbar_lobby.edge import Edge
from darbar_lobby.grants import Grants
from darbar_lobby.handlers import Tables
from darbar_lobby.http import ROUTES, Routes, public_routes
from darbar_lobby.limits import Limits
from darbar_lobby.metrics import Counters
from darbar_lobby.owners import Owners
from darbar_lobby.passwords import Passwords
from darbar_lobby.settings import Settings
from darbar_lobby.store import Store
from darbar_rules.games import ALL

TIDY_SECONDS = 600.0
RESTART_SECONDS = 1.0

SETTINGS: web.AppKey[Settings] = web.AppKey("lobby_settings", Settings)
COUNTERS: web.AppKey[Counters] = web.AppKey("lobby_counters", Counters)
LIMITS: web.AppKey[Limits] = web.AppKey("lobby_limits", Limits)
EDGE: web.AppKey[Edge] = web.AppKey("lobby_edge", Edge)
DATABASE: web.AppKey[Database] = web.AppKey("lobby_database", Database)
BUS: web.AppKey[Bus] = web.AppKey("lobby_bus", Bus)
STORE: web.AppKey[Store] = web.AppKey("lobby_store", Store)
GRANTS: web.AppKey[Grants] = web.AppKey("lobby_grants", Grants)
MILESTONES: web.AppKey[MilestoneConsumer] = web.AppKey("lobby_milestones", MilestoneConsumer)

_log = structlog.get_logger()


def build_app(settings: Settings) -> web.Application:
    """The database must have been migrated."""
    registry = CollectorRegistry()
    counters = Counters(registry)
    limits = Limits(
        guests_an_hour_max=settings.guests_an_hour_max,
        requests_a_minute_max=settings.requests_a_minute_max,
        code_lookups_a_minute_max=settings.code_lookups_a_minute_max,
        clock=time.monotonic,
    )
    edge = Edge(
        limits=limits,
        counters=counters,
        trusted_proxies=settings.trusted_proxies,
        cors_origins=settings.cors_origins,
    )
    app = web.Application(middlewares=edge.middlewares(errors_middleware))
    app[SETTINGS] = settings
    app[REGISTRY] = registry
    app[COUNTERS] = counters
    app[LIMITS] = limits
    app[EDGE] = edge
    app.cleanup_ctx.extend([open_database, open_bus, open_parts, open_tasks])
    app.add_routes(public_routes())
    app.add_routes(health_routes(lambda: missing(app)))
    app.add_routes([metrics_route(registry)])
    return app


async def open_database(app: web.Application) -> AsyncIterator[None]:
    settings = app[SETTINGS]
    pool = await open_pool(
        settings.database_url,
        size_max=settings.database_connections_max,
        unsafe_storage=settings.unsafe_storage,
    )
    app[DATABASE] = Database(pool)
    yield
    await pool.close()


async def open_bus(app: web.Application) -> AsyncIterator[None]:
    bus = await Bus.connect(app[SETTINGS].nats_url, name="lobby")
    app[BUS] = bus
    yield
    await bus.close()


async def open_parts(app: web.Application) -> AsyncIterator[None]:
    settings, bus, database, counters = app[SETTINGS], app[BUS], app[DATABASE], app[COUNTERS]
    sql = queries("darbar_lobby")
    store, directory, owners = Store(database, sql), Directory(database, sql), Owners(bus)
    games = Games(ALL, rules_folder=settings.rules_folder)
    bookkeeper = Bookkeeper(directory)
    grants = Grants(store, bus, counters)
    app[STORE] = store
    app[GRANTS] = grants
    app[MILESTONES] = MilestoneConsumer(bus=bus, owners=owners, bookkeeper=bookkeeper, counters=counters)
    app[ROUTES] = Routes(
        accounts=Accounts(
            store=store,
            writer=TokenWriter(settings.token_private_key),
            passwords=Passwords(),
            grants=grants,
            counters=counters,
        ),
        tables=Tables(
            directory=directory,
            bookkeeper=bookkeeper,
            owners=owners,
            games=games,
            counters=counters,
            public_url=settings.public_url,
        ),
        games=games,
        grants=grants,
        reader=TokenReader(public_key_pem(settings.token_private_key)),
        limits=app[LIMITS],
        edge=app[EDGE],
    )
    yield


async def open_tasks(app: web.Application) -> AsyncIterator[None]:
    """The three tasks of the lobby, ended before anything that they use."""
    store = app[STORE]
    tasks = [
        asyncio.create_task(_for_ever("milestones", app[MILESTONES].run)),
        asyncio.create_task(_for_ever("grants", app[GRANTS].run)),
        asyncio.create_task(_for_ever("tidying", lambda: _tidying(store))),
    ]
    yield
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def missing(app: web.Application) -> list[str]:
    """What is needed and not there."""
    found = [] if await app[DATABASE].answers() else ["database"]
    if not app[BUS].connected:
        found.append("bus")
    if not app[MILESTONES].subscribed:
        found.append("milestones")
    return found


async def _tidying(store: Store) -> None:
    while True:
        await store.tidy()
        await asyncio.sleep(TIDY_SECONDS)


async def _for_ever(name: str, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await work()
        except Exception:  # noqa: BLE001  # The outermost loop of a task: whatever went wrong, the work goes on.
            _log.exception("task_failed", task=name)
        await asyncio.sleep(RESTART_SECONDS)
