"""The wiring of the table service: each part is made once. Begin reading here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import structlog
from aiohttp import web

from darbar_contracts.frames import TableReason
from darbar_kit.bus import Bus, Subscription
from darbar_kit.database import open_pool, queries
from darbar_kit.errors import Unavailable
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY
from darbar_kit.tokens import TokenReader
from darbar_table.bus import serve_node, serve_process
from darbar_table.domain.refusals import refused
from darbar_table.engine.node import TableNode
from darbar_table.handlers.create import TableCreator
from darbar_table.handlers.inspection import Inspection
from darbar_table.handlers.questions import Questions
from darbar_table.http import Pages
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.socket.handler import SocketHandler
from darbar_table.store.store import Store
from darbar_table.store.writer import FenceLost

log = structlog.get_logger()


READY_SECONDS_MAX = 30.0
NEW_NODE_PAUSE_SECONDS = 0.5


class Service:
    """The parts of one process, and the node that it is at present."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.tokens = TokenReader(settings.token_public_key)
        self.node: TableNode | None = None
        self.socket_handler: SocketHandler | None = None
        self.pages: Pages | None = None
        self.bus: Bus | None = None

    def present_node(self) -> TableNode:
        """The present node; between two of them nobody is let in."""
        if self.node is None:
            raise Unavailable(TableReason.UNAVAILABLE, "the table service is starting")
        return self.node

    async def open(self, _app: web.Application) -> AsyncIterator[None]:
        """Database and bus, then one node after another until the process ends."""
        settings = self.settings
        pool = await open_pool(settings.database_url, unsafe_storage=settings.unsafe_storage)
        bus = self.bus = await Bus.connect(settings.nats_url, name="table")
        store = Store(pool, queries("darbar_table.store"))
        questions = Questions(store=store, bus=bus, node=self.present_node)
        creator = TableCreator(questions=questions, node=self.present_node)
        inspection = Inspection(settings, store=store, node=self.present_node)
        self.socket_handler = SocketHandler(settings, node=self.present_node, questions=questions, tokens=self.tokens)
        self.pages = Pages(inspection, self.tokens)
        opened = asyncio.Event()
        nodes = asyncio.create_task(self._run_nodes(store, bus, questions=questions, creator=creator, opened=opened))
        beats = asyncio.create_task(self.socket_handler.beat())
        try:
            await _first(opened, nodes)
            await serve_process(bus, questions=questions, inspection=inspection)
            yield
            if self.node is not None:
                await self.node.end()
        finally:
            for task in (beats, nodes):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            await bus.close()
            await pool.close()

    async def shut(self, _app: web.Application) -> None:
        """Before requests in work are waited for: open sockets would never end by themselves."""
        if self.node is not None:
            self.node.close_sockets()

    async def ready(self) -> list[str]:
        """What is missing before players may come."""
        missing = []
        if self.node is None or not self.node.lease.may_answer:
            missing.append("lease")
        if self.bus is None or not self.bus.connected:
            missing.append("nats")
        return missing

    async def _run_nodes(
        self, store: Store, bus: Bus, *, questions: Questions, creator: TableCreator, opened: asyncio.Event
    ) -> None:
        """A process that was declared dead stores nothing any more: it starts afresh under a new id."""
        while True:
            node = TableNode(
                self.settings, store=store, bus=bus, metrics=self.metrics, queries=queries("darbar_table.store")
            )
            listening: list[Subscription] = []

            async def on_ready(node: TableNode = node, listening: list[Subscription] = listening) -> None:
                self.node = node
                listening += await serve_node(bus, node, questions=questions, creator=creator)
                opened.set()

            try:
                await node.run(on_ready)
            except* FenceLost:
                log.error("fence_lost", process_id=node.process_id)
            finally:
                self.node = None
                node.close_sockets()
                for one in listening:
                    await one.stop()
            await asyncio.sleep(NEW_NODE_PAUSE_SECONDS)

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """A path that names another process is misdirected: whoever routes must ask the right one."""
        assert self.socket_handler is not None
        process_id = request.match_info.get("process_id")
        if process_id is not None and process_id != self.present_node().process_id:
            raise refused(TableReason.NOT_OWNER)
        return await self.socket_handler.open(request)

    async def replay(self, request: web.Request) -> web.Response:
        assert self.pages is not None
        return await self.pages.replay(request)

    async def audit(self, request: web.Request) -> web.Response:
        assert self.pages is not None
        return await self.pages.audit(request)


SERVICE: web.AppKey[Service] = web.AppKey("table_service", Service)


async def _first(opened: asyncio.Event, nodes: asyncio.Task[None]) -> None:
    """The first shards are loaded, or the reason why not is raised."""
    waiting = asyncio.ensure_future(opened.wait())
    await asyncio.wait({waiting, nodes}, return_when=asyncio.FIRST_COMPLETED, timeout=READY_SECONDS_MAX)
    waiting.cancel()
    if nodes.done():
        nodes.result()
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
