"""The wiring of the table service: each part is made once. Begin reading here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import structlog
from aiohttp import web

from darbar_contracts.frames import TableReason
from darbar_kit.bus import Bus, Listening
from darbar_kit.database import open_pool, queries
from darbar_kit.errors import Unavailable
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY
from darbar_kit.tokens import TokenReader
from darbar_table import bus as wire
from darbar_table.handlers import Handlers
from darbar_table.house import House
from darbar_table.http import Pages
from darbar_table.inspection import Inspection
from darbar_table.metrics import Metrics
from darbar_table.opening import Opening
from darbar_table.refusals import refused
from darbar_table.settings import Settings
from darbar_table.socket import Door
from darbar_table.store import Store
from darbar_table.writer import FenceLost

log = structlog.get_logger()


READY_SECONDS_MAX = 30.0
NEW_LIFE_PAUSE_SECONDS = 0.5


class Service:
    """The parts of one process, and which life it lives."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.tokens = TokenReader(settings.token_public_key)
        self.house: House | None = None
        self.door: Door | None = None
        self.pages: Pages | None = None
        self.bus: Bus | None = None

    def present_house(self) -> House:
        """The present life; between two lives nobody is let in."""
        if self.house is None:
            raise Unavailable(TableReason.UNAVAILABLE, "the table service is starting")
        return self.house

    async def open(self, _app: web.Application) -> AsyncIterator[None]:
        """Database and bus, then one life after another until the process ends."""
        settings = self.settings
        pool = await open_pool(settings.database_url, unsafe_storage=settings.unsafe_storage)
        bus = self.bus = await Bus.connect(settings.nats_url, name="table")
        store = Store(pool, queries("darbar_table"))
        handlers = Handlers(store=store, bus=bus, house=self.present_house)
        opening = Opening(settings, store=store, handlers=handlers, house=self.present_house)
        inspection = Inspection(settings, store=store, house=self.present_house)
        self.door = Door(house=self.present_house, handlers=handlers, tokens=self.tokens)
        self.pages = Pages(inspection, self.tokens)
        opened = asyncio.Event()
        lives = asyncio.create_task(self._lives(store, bus, handlers=handlers, opening=opening, opened=opened))
        beats = asyncio.create_task(self.door.beat())
        try:
            await _first(opened, lives)
            await wire.serve_all(bus, handlers=handlers, inspection=inspection)
            yield
            if self.house is not None:
                await self.house.end()
        finally:
            for task in (beats, lives):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            await bus.close()
            await pool.close()

    async def shut(self, _app: web.Application) -> None:
        """Before requests in work are waited for: open sockets would never end by themselves."""
        if self.house is not None:
            self.house.close_sockets()

    async def ready(self) -> list[str]:
        """What is missing before players may come."""
        missing = []
        if self.house is None or not self.house.tenure.may_answer:
            missing.append("lease")
        if self.bus is None or not self.bus.connected:
            missing.append("nats")
        return missing

    async def _lives(
        self, store: Store, bus: Bus, *, handlers: Handlers, opening: Opening, opened: asyncio.Event
    ) -> None:
        """A process that was declared dead stores nothing any more: it starts afresh under a new id."""
        while True:
            house = House(self.settings, store=store, bus=bus, metrics=self.metrics, queries=queries("darbar_table"))
            listening: list[Listening] = []

            async def moved_in(house: House = house, listening: list[Listening] = listening) -> None:
                self.house = house
                listening += await wire.serve_house(bus, house, handlers=handlers, opening=opening)
                opened.set()

            try:
                await house.live(moved_in)
            except* FenceLost:
                log.error("fence_lost", process_id=house.process_id)
            finally:
                self.house = None
                house.close_sockets()
                for one in listening:
                    await one.stop()
            await asyncio.sleep(NEW_LIFE_PAUSE_SECONDS)

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """A path that names another process is misdirected: whoever routes must ask the right one."""
        assert self.door is not None
        process_id = request.match_info.get("process_id")
        if process_id is not None and process_id != self.present_house().process_id:
            raise refused(TableReason.NOT_OWNER)
        return await self.door.open(request)

    async def replay(self, request: web.Request) -> web.Response:
        assert self.pages is not None
        return await self.pages.replay(request)

    async def audit(self, request: web.Request) -> web.Response:
        assert self.pages is not None
        return await self.pages.audit(request)


SERVICE: web.AppKey[Service] = web.AppKey("table_service", Service)


async def _first(opened: asyncio.Event, lives: asyncio.Task[None]) -> None:
    """The first shards are loaded, or the reason why not is raised."""
    waiting = asyncio.ensure_future(opened.wait())
    await asyncio.wait({waiting, lives}, return_when=asyncio.FIRST_COMPLETED, timeout=READY_SECONDS_MAX)
    waiting.cancel()
    if lives.done():
        lives.result()
    if not opened.is_set():
        raise Unavailable(TableReason.UNAVAILABLE, "no shard could be taken in time")


def build_app(settings: Settings) -> web.Application:
    """The whole service for one process; every wiring calls this."""
    service = Service(settings)
    app = web.Application(middlewares=[errors_middleware])
    app[SERVICE] = service
    app[REGISTRY] = service.metrics.registry
    app.cleanup_ctx.append(service.open)
    app.on_shutdown.append(service.shut)
    app.add_routes(
        [
            web.get("/play/tables/{table_id}/socket", service.socket),
            web.get("/play/at/{process_id}/tables/{table_id}/socket", service.socket),
            web.get("/v1/tables/{table_id}/replay", service.replay),
            web.get("/v1/tables/{table_id}/audit", service.audit),
            *health_routes(service.ready),
            metrics_route(service.metrics.registry),
        ]
    )
    return app
