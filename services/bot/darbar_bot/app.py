"""How the bot service is put together. Open this first."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from darbar_bot.bus import serve
from darbar_bot.engine.workers import Workers
from darbar_bot.handlers import Handlers
from darbar_bot.metrics import Metrics
from darbar_bot.settings import Settings
from darbar_kit.bus import Bus
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY
from darbar_kit.supervisor import Supervisor

# One pause of a child that keeps ending; its requests wait no longer than that.
RESTART_SECONDS_MAX = 5.0

SETTINGS: web.AppKey[Settings] = web.AppKey("bot_settings", Settings)
METRICS: web.AppKey[Metrics] = web.AppKey("bot_metrics", Metrics)
WORKERS: web.AppKey[Workers] = web.AppKey("bot_workers", Workers)
BUS: web.AppKey[Bus] = web.AppKey("bot_bus", Bus)


def build_app(settings: Settings) -> web.Application:
    """The whole service; nothing is opened before it starts."""
    metrics = Metrics()
    supervisor = Supervisor("bot", metrics.registry)
    workers = Workers(answer_seconds_max=settings.answer_seconds_max)
    metrics.look_at(waiting=lambda: workers.waiting, ready=lambda: workers.ready)
    # Children take a moment to start. The port does not wait for them: requests do, and /readyz says so.
    for number in range(1, settings.workers + 1):
        supervisor.watch(f"child_{number}", workers.live, pause_seconds_max=RESTART_SECONDS_MAX)
    app = web.Application(middlewares=[errors_middleware])
    app[SETTINGS] = settings
    app[METRICS] = metrics
    app[REGISTRY] = metrics.registry
    app[WORKERS] = workers
    app.cleanup_ctx.extend([supervisor.context, _open_bus])
    app.add_routes([*health_routes(lambda: _missing(app), supervisor), metrics_route(metrics.registry)])
    return app


async def _open_bus(app: web.Application) -> AsyncIterator[None]:
    bus = await Bus.connect(app[SETTINGS].nats_url, name="bot")
    app[BUS] = bus
    await serve(bus, Handlers(app[WORKERS], app[METRICS]))
    yield
    await bus.close()


async def _missing(app: web.Application) -> list[str]:
    missing = [] if app[BUS].connected else ["nats"]
    return missing if app[WORKERS].ready else [*missing, "children"]
