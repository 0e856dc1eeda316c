"""How the wallet is put together. Open this first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import asyncpg
from aiohttp import web

from darbar_kit.bus import Bus
from darbar_kit.database import open_pool, queries
from darbar_kit.errors import Unavailable
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY
from darbar_kit.tokens import TokenReader
from darbar_wallet import http
from darbar_wallet.bus import serving
from darbar_wallet.engine.leader import Leader
from darbar_wallet.handlers import BusHandlers
from darbar_wallet.metrics import Metrics
from darbar_wallet.settings import Settings
from darbar_wallet.store.ledger_reader import LedgerReader

SETTINGS: web.AppKey[Settings] = web.AppKey("settings", Settings)
METRICS: web.AppKey[Metrics] = web.AppKey("metrics", Metrics)
QUERIES: web.AppKey[Mapping[str, str]] = web.AppKey("queries", Mapping)
POOL: web.AppKey[asyncpg.Pool[asyncpg.Record]] = web.AppKey("pool", asyncpg.Pool)
BUS: web.AppKey[Bus] = web.AppKey("bus", Bus)
LEADER: web.AppKey[Leader] = web.AppKey("leader", Leader)


def build_app(settings: Settings) -> web.Application:
    """The whole service; nothing is opened before it starts."""
    metrics = Metrics()
    app = web.Application(middlewares=[errors_middleware])
    app[SETTINGS] = settings
    app[METRICS] = metrics
    app[REGISTRY] = metrics.registry
    app[QUERIES] = queries("darbar_wallet.store")
    app[http.TOKENS] = TokenReader(settings.token_public_key)
    app.cleanup_ctx.extend([_open_database, _open_bus, _lead])
    app.add_routes([*http.routes, *health_routes(lambda: _missing(app)), metrics_route(metrics.registry)])
    return app


async def _open_database(app: web.Application) -> AsyncIterator[None]:
    settings = app[SETTINGS]
    app[POOL] = await open_pool(
        settings.database_url,
        size_max=settings.database_connections_max,
        unsafe_storage=settings.unsafe_storage,
    )
    app[http.READER] = LedgerReader(app[POOL], app[QUERIES])
    yield
    await app[POOL].close()


async def _open_bus(app: web.Application) -> AsyncIterator[None]:
    app[BUS] = await Bus.connect(app[SETTINGS].nats_url, name="wallet")
    yield
    await app[BUS].close()


async def _lead(app: web.Application) -> AsyncIterator[None]:
    app[LEADER] = leader = Leader(
        app[SETTINGS],
        pool=app[POOL],
        queries=app[QUERIES],
        bus=app[BUS],
        reader=app[http.READER],
        metrics=app[METRICS],
        serving=lambda writer: serving(app[BUS], BusHandlers(writer, app[http.READER])),
    )
    task = asyncio.create_task(leader.run())
    yield
    leader.stop()
    await task


async def _missing(app: web.Application) -> list[str]:
    missing = [] if app[BUS].connected else ["nats"]
    try:
        led = await app[LEADER].has_leader()
    except Unavailable:
        return [*missing, "database"]
    return missing if led else [*missing, "lease"]
