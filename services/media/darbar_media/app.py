"""How media is put together. Open this first."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from aiohttp import web

from darbar_kit.bus import Bus
from darbar_kit.database import Database, queries
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.metrics import REGISTRY
from darbar_kit.seals import Seal
from darbar_kit.supervisor import Supervisor
from darbar_kit.tokens import TokenReader
from darbar_media import http
from darbar_media.bus import serve
from darbar_media.engine.pipeline import Pipeline
from darbar_media.handlers.links import Links
from darbar_media.handlers.listeners import Listeners
from darbar_media.handlers.moderation import Moderation
from darbar_media.handlers.retention import Retention
from darbar_media.handlers.table_client import TableClient
from darbar_media.handlers.uploads import Uploads
from darbar_media.limits import Limits
from darbar_media.metrics import Metrics
from darbar_media.settings import Settings, bucket_of
from darbar_media.store.notes import NoteStore
from darbar_media.store.s3_sounds import S3Sounds
from darbar_media.store.sounds import JetStreamSounds


class Clock:
    """The time of day."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


SETTINGS: web.AppKey[Settings] = web.AppKey("media_settings", Settings)
METRICS: web.AppKey[Metrics] = web.AppKey("media_metrics", Metrics)
SUPERVISOR: web.AppKey[Supervisor] = web.AppKey("media_supervisor", Supervisor)
DATABASE: web.AppKey[Database] = web.AppKey("media_database", Database)
BUS: web.AppKey[Bus] = web.AppKey("media_bus", Bus)
# So that a test can let days pass.
CLOCK: web.AppKey[Clock] = web.AppKey("media_clock", Clock)


def build_app(settings: Settings) -> web.Application:
    """The whole service; nothing is opened before it starts."""
    metrics = Metrics()
    supervisor = Supervisor("media", metrics.registry)
    app = web.Application(middlewares=[errors_middleware])
    app[SETTINGS] = settings
    app[METRICS] = metrics
    app[SUPERVISOR] = supervisor
    app[REGISTRY] = metrics.registry
    app[CLOCK] = Clock()
    app.cleanup_ctx.extend([_open_database, _open_bus, _open_parts, supervisor.context])
    app.add_routes(http.public_routes())
    app.add_routes(health_routes(lambda: _missing(app), supervisor))
    app.add_routes([metrics_route(metrics.registry)])
    return app


async def _open_database(app: web.Application) -> AsyncIterator[None]:
    settings = app[SETTINGS]
    app[DATABASE] = await Database.open(
        settings.database_url, size_max=settings.database_connections_max, unsafe_storage=settings.unsafe_storage
    )
    yield
    await app[DATABASE].close()


async def _open_bus(app: web.Application) -> AsyncIterator[None]:
    app[BUS] = await Bus.connect(app[SETTINGS].nats_url, name="media")
    yield
    await app[BUS].close()


async def _open_parts(app: web.Application) -> AsyncIterator[None]:
    now, metrics, settings = app[CLOCK], app[METRICS], app[SETTINGS]
    notes = NoteStore(app[DATABASE], queries("darbar_media.store"))
    sounds = S3Sounds(bucket_of(settings.sounds_url)) if settings.sounds_url else JetStreamSounds(app[BUS].jetstream)
    seal = Seal(settings.ticket_key)
    links = Links(seal, now=now)
    moderation = Moderation(notes, links, now=now)
    pipeline = Pipeline(metrics, processes=settings.processes)
    app[SUPERVISOR].watch("pipeline", pipeline.keep_warm, must_run=False)
    uploads = Uploads(
        seal=seal,
        notes=notes,
        sounds=sounds,
        pipeline=pipeline,
        table_client=TableClient(app[BUS]),
        links=links,
        metrics=metrics,
        now=now,
    )
    app[http.ROUTES] = http.Routes(
        uploads=uploads,
        listeners=Listeners(notes, sounds, links, now=now),
        moderation=moderation,
        tokens=TokenReader(settings.token_public_key, clock=now),
        limits=Limits(
            requests_a_minute_max=settings.requests_a_minute_max,
            uploads_a_minute_max=settings.uploads_a_minute_max,
            clock=time.monotonic,
        ),
        addresses=ClientAddresses(settings.trusted_proxies),
        metrics=metrics,
    )
    app[SUPERVISOR].watch("retention", Retention(notes, sounds, metrics, now=now).run, must_run=False)
    await serve(app[BUS], moderation)
    yield


async def _missing(app: web.Application) -> list[str]:
    missing = [] if await app[DATABASE].answers() else ["database"]
    return missing if app[BUS].connected else [*missing, "nats"]
