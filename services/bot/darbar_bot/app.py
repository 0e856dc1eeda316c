"""How the bot service is put together. Open this first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from darbar_bot.bus import serve
from darbar_bot.engine.workers import Workers
from darbar_bot.handlers import Handlers
from darbar_bot.metrics import Metrics
from darbar_bot.settings import Settings
from darbar_kit.bus import Bus
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY

SETTINGS: web.AppKey[Settings] = web.AppKey("settings", Settings)
METRICS: web.AppKey[Metrics] = web.AppKey("metrics", Metrics)
WORKERS: web.AppKey[Workers] = web.AppKey("workers", Workers)
BUS: web.AppKey[Bus] = web.AppKey("bus", Bus)


def build_app(settings: Settings) -> web.Application:
    """The whole service; nothing is opened before it starts."""
    metrics = Metrics()
    app = web.Application(middlewares=[errors_middleware])
    app[SETTINGS] = settings
    app[METRICS] = metrics
    app[REGISTRY] = metrics.registry
    app[WORKERS] = Workers(
        settings.workers, answer_seconds_max=settings.answer_seconds_max, on_end=metrics.children_ended.inc
    )
    app.cleanup_ctx.extend([_run_workers, _open_bus])
    app.add_routes([*health_routes(lambda: _missing(app)), metrics_route(metrics.registry)])
    return app


async def _run_workers(app: web.Application) -> AsyncIterator[None]:
    workers = app[WORKERS]
    app[METRICS].look_at(waiting=lambda: workers.waiting, ready=lambda: workers.ready)
    # Children take a moment to start. The port does not wait for them: requests do, and /readyz says so.
    running = asyncio.create_task(workers.run())
    yield
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def _open_bus(app: web.Application) -> AsyncIterator[None]:
    bus = await Bus.connect(app[SETTINGS].nats_url, name="bot")
    app[BUS] = bus
    await serve(bus, Handlers(app[WORKERS], app[METRICS]))
    yield
    await bus.close()


async def _missing(app: web.Application) -> list[str]:
    missing = [] if app[BUS].connected else ["nats"]
    return missing if app[WORKERS].ready else [*missing, "children"]
