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
from darbar_wallet.holding import Holding
from darbar_wallet.metrics import Metrics
from darbar_wallet.reading import Reader
from darbar_wallet.settings import Settings

PACKAGE = "darbar_wallet"

SETTINGS: web.AppKey[Settings] = web.AppKey("settings", Settings)
METRICS: web.AppKey[Metrics] = web.AppKey("metrics", Metrics)
QUERIES: web.AppKey[Mapping[str, str]] = web.AppKey("queries", Mapping)
POOL: web.AppKey[asyncpg.Pool[asyncpg.Record]] = web.AppKey("pool", asyncpg.Pool)
BUS: web.AppKey[Bus] = web.AppKey("bus", Bus)
HOLDING: web.AppKey[Holding] = web.AppKey("holding", Holding)


def build_app(settings: Settings) -> web.Application:
    """The whole service; nothing is opened before it starts."""
    metrics = Metrics()
    app = web.Application(middlewares=[errors_middleware])
    app[SETTINGS] = settings
    app[METRICS] = metrics
    app[REGISTRY] = metrics.registry
    app[QUERIES] = queries(PACKAGE)
    app[http.TOKENS] = TokenReader(settings.token_public_key)
    app.cleanup_ctx.extend([_open_database, _open_bus, _hold])
    app.add_routes([*http.routes, *health_routes(lambda: _missing(app)), metrics_route(metrics.registry)])
    return app


async def _open_database(app: web.Application) -> AsyncIterator[None]:
    settings = app[SETTINGS]
    app[POOL] = await open_pool(
        settings.database_url,
        size_max=settings.database_connections_max,
        unsafe_storage=settings.unsafe_storage,
    )
    app[http.READER] = Reader(app[POOL], app[QUERIES])
    yield
    await app[POOL].close()


async def _open_bus(app: web.Application) -> AsyncIterator[None]:
    app[BUS] = await Bus.connect(app[SETTINGS].nats_url, name="wallet")
    yield
    await app[BUS].close()


async def _hold(app: web.Application) -> AsyncIterator[None]:
    app[HOLDING] = holding = Holding(
        app[SETTINGS],
        pool=app[POOL],
        queries=app[QUERIES],
        bus=app[BUS],
        reader=app[http.READER],
        metrics=app[METRICS],
    )
    task = asyncio.create_task(holding.run())
    yield
    holding.stop()
    await task


async def _missing(app: web.Application) -> list[str]:
    missing = [] if app[BUS].connected else ["nats"]
    try:
        written = await app[HOLDING].is_written()
    except Unavailable:
        return [*missing, "database"]
    return missing if written else [*missing, "writer"]
