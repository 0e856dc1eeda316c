"""The wiring of the table service: each part is made once. Begin reading here."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic

import msgspec
import structlog
from aiohttp import web

from darbar_contracts import subjects
from darbar_contracts.api import Replay, TableAudit
from darbar_contracts.frames import TableReason
from darbar_contracts.lobby import AccountShutOut
from darbar_contracts.public.routes import TABLE
from darbar_contracts.reading import DecisionFrames, client_frame_type
from darbar_contracts.tables import ProcessRetired, ShardsServed
from darbar_kit.bus import Bus, Subscription
from darbar_kit.database import Database, FenceLost, queries
from darbar_kit.errors import Unavailable
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY
from darbar_kit.supervisor import Supervisor
from darbar_kit.tokens import TokenReader
from darbar_table.bus import serve_logs, serve_node, serve_process
from darbar_table.domain.refusals import refused
from darbar_table.engine.node import TableNode
from darbar_table.handlers.create import TableCreator
from darbar_table.handlers.disclosure import Disclosure
from darbar_table.handlers.elsewhere import AskedByCells, AuditRequest, Elsewhere, Question, ReplayRequest
from darbar_table.handlers.gateway import LocalGateway
from darbar_table.handlers.inspection import Inspection
from darbar_table.handlers.lobby_news.announcer import Announcer
from darbar_table.handlers.lobby_news.blocks import Blocks
from darbar_table.handlers.lobby_news.shut_outs import ShutOuts
from darbar_table.handlers.operate import Operations
from darbar_table.handlers.questions import Questions
from darbar_table.handlers.relay import AnyGateway, Relay
from darbar_table.handlers.relayed import RelayedSockets
from darbar_table.handlers.talk import Talk
from darbar_table.http import Pages
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings
from darbar_table.shards.cells import Cells
from darbar_table.shards.pace import Pace
from darbar_table.socket.handler import SocketHandler
from darbar_table.store.archiver import Archiver
from darbar_table.store.registry import Registry
from darbar_table.store.store import Store

log = structlog.get_logger()


START_SECONDS_MAX = 30.0
NEW_NODE_PAUSE_SECONDS = 0.5
SEED_BYTES = 32


class Service:
    """The parts of one process, and the node that it is at present."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.metrics.outbox_oldest_seconds.set_function(self._oldest_milestone_seconds)
        self.metrics.shards.set_function(lambda: 0 if self.node is None else self.node.shards_served)
        self.metrics.tables_frozen.set_function(lambda: 0 if self.node is None else self.node.tables_frozen)
        self.supervisor = Supervisor("table", self.metrics.registry)
        self.tokens = TokenReader(settings.token_public_key)
        self.decisions = DecisionFrames()
        self.decoder = msgspec.json.Decoder(client_frame_type(self.decisions))
        self.node: TableNode | None = None
        self.gateway: LocalGateway | None = None
        self.relay: Relay | None = None
        self.socket_handler: SocketHandler | None = None
        self.pages: Pages | None = None
        self.bus: Bus | None = None
        # In hex. Chance comes in from outside, so that a test can have the same one twice.
        self.fresh_seed: Callable[[], str] = partial(secrets.token_hex, SEED_BYTES)
        self.cells = Cells()
        self._known = asyncio.Event()
        self._stopping = False

    def present_node(self) -> TableNode:
        """The present node; between two of them nobody is let in."""
        if self.node is None:
            raise Unavailable(TableReason.UNAVAILABLE, "the table service is starting")
        return self.node

    def present_gateway(self) -> LocalGateway:
        """The way to the present node's tables."""
        if self.gateway is None:
            raise Unavailable(TableReason.UNAVAILABLE, "the table service is starting")
        return self.gateway

    async def open(self, _app: web.Application) -> AsyncIterator[None]:
        """What all nodes of this process share: database, bus, and what it answers for players and services."""
        settings = self.settings
        sql = queries("darbar_table.store")
        database = await Database.open(settings.database_url, unsafe_storage=settings.unsafe_storage)
        try:
            bus = self.bus = await Bus.connect(settings.nats_url, name="table")
            try:
                store = Store(database, sql)
                await bus.listen(subjects.TABLE_SERVED, ShardsServed, self._heard)
                self.cells.listen()
                elsewhere = Elsewhere(bus, self.cells, store)
                questions = Questions(store=store, bus=bus, node=self.present_node, seat_elsewhere=elsewhere.seat_of)
                announcer, blocks = Announcer(bus=bus, node=self.present_node), Blocks(bus, clock=monotonic)
                open_gateway = partial(
                    LocalGateway,
                    questions=questions,
                    announcer=announcer,
                    talk=Talk(phrases_a_minute_max=settings.phrases_a_minute_max, blocks=blocks),
                    decisions=self.decisions,
                )
                asked = await self._serve_logs(bus, elsewhere, store)
                await self._open_sockets(bus)
                run_nodes = partial(
                    self._run_nodes,
                    database,
                    sql,
                    bus=bus,
                    questions=questions,
                    open_gateway=open_gateway,
                    asked=asked,
                )
                self.supervisor.watch("node", run_nodes)
                self._watch_jobs(store, announcer)
                await serve_process(bus, questions=questions, announcer=announcer, blocks=blocks, retired=self._retired)
                yield
            finally:
                await bus.close()
        finally:
            await database.close()

    async def _serve_logs(self, bus: Bus, elsewhere: Elsewhere, store: Store) -> list[AskedByCells]:
        """What this process answers out of its database for other cells."""
        inspection = Inspection(self.settings, store=store, node=self.present_node)
        replay = Question(subjects.TABLE_REPLAY, ReplayRequest, Replay, inspection.replay)
        audit = Question(subjects.TABLE_AUDIT, AuditRequest, TableAudit, inspection.audit)
        self.pages = Pages(self.tokens, replay=elsewhere.of_table(replay), audit=elsewhere.of_table(audit))
        served = await serve_logs(bus, elsewhere, inspection, Disclosure(self.settings, store))
        return [replay, audit, *served]

    def _watch_jobs(self, store: Store, announcer: Announcer) -> None:
        """Nobody plays worse while one of these is away."""
        archiver = Archiver(store, after_days=self.settings.archive_after_days, metrics=self.metrics)
        self.supervisor.watch("announcements", announcer.run, must_run=False)
        self.supervisor.watch("archiver", archiver.run, must_run=False)

    async def _open_sockets(self, bus: Bus) -> None:
        """Of all nodes: a socket outlives the node under which it was opened, where its table is at another process."""
        relay = self.relay = Relay(bus, node=self.present_node)
        await relay.listen()
        self.socket_handler = SocketHandler(
            self.settings,
            node=self.present_node,
            gateway=AnyGateway(node=self.present_node, local=self.present_gateway, relay=relay),
            decoder=self.decoder,
            tokens=self.tokens,
            metrics=self.metrics,
        )
        self.supervisor.watch("relay", relay.run)
        self.supervisor.watch("sockets", self.socket_handler.look)
        self.supervisor.watch("heartbeats", self.socket_handler.beat)
        shut_outs = ShutOuts(bus, tokens=self.tokens, close_sockets=self.socket_handler.close_those)
        await bus.listen(subjects.LOBBY_SHUT_OUT, AccountShutOut, shut_outs.changed)
        self.supervisor.watch("shut_outs", shut_outs.run, must_run=False)

    async def start(self, _app: web.Application) -> AsyncIterator[None]:
        """The start is over when the shards are loaded. What takes longer is told by readiness."""
        with suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS_MAX):
                await self._known.wait()
                if self.node is not None:
                    await self.node.holdings.completed()
        if self.node is None:
            raise Unavailable(TableReason.UNAVAILABLE, "the process could not be registered in time")
        yield

    async def stop(self, _app: web.Application) -> None:
        """First of all the tables go to other processes; then requests in work are waited for."""
        self._stopping = True
        node, bus, relay = self.node, self.bus, self.relay  # The node may end, and be forgotten, while it stops.
        if node is not None and bus is not None and relay is not None:
            # At one pace: players of our tables, and those here whose tables are elsewhere.
            pace = Pace(node.sockets + relay.sockets)
            await asyncio.gather(node.stop(pace), relay.close(pace))
            with suppress(Unavailable):
                await bus.publish(subjects.TABLE_RETIRED, ProcessRetired(node.process_id))
        if self.socket_handler is not None:
            self.socket_handler.close()

    async def ready(self) -> list[str]:
        """What is missing before players may come."""
        missing = []
        if self.node is None or not self.node.lease.may_answer:
            missing.append("lease")
        if self.node is None or not self.node.holdings.is_complete:
            missing.append("shards")
        if self.node is not None and self.node.writer.is_stuck:
            missing.append("storage")
        if self.cells.kept_out:
            missing.append("cells")
        if self.bus is None or not self.bus.connected:
            missing.append("nats")
        if self._oldest_milestone_seconds() > self.settings.milestones_late_seconds:
            missing.append("milestones")
        return missing

    def _oldest_milestone_seconds(self) -> float:
        return 0.0 if self.node is None else self.node.outbox.oldest_seconds

    async def _heard(self, message: ShardsServed) -> None:
        self.cells.hear(message)

    async def _retired(self, _message: ProcessRetired) -> None:
        """Another process has left its shards: they need not wait for the next look."""
        if self.node is not None:
            self.node.survey.look_soon()

    async def _run_nodes(
        self,
        database: Database,
        sql: Mapping[str, str],
        *,
        bus: Bus,
        questions: Questions,
        open_gateway: Callable[[TableNode], LocalGateway],
        asked: Sequence[AskedByCells],
    ) -> None:
        """A process that was declared dead stores nothing any more: it starts afresh under a new id."""
        while not self._stopping:
            node = TableNode(
                self.settings,
                store=Store(database, sql),
                registry=Registry(database, sql),
                bus=bus,
                metrics=self.metrics,
                queries=sql,
                supervisor=self.supervisor,
                fresh_seed=self.fresh_seed,
                cells=self.cells,
            )
            gateway = open_gateway(node)
            relayed = RelayedSockets(node.process_id, bus=bus, gateway=gateway, decoder=self.decoder)
            async with self.supervisor.watching({"relayed": relayed.run}):
                await self._run_node(node, bus, questions, gateway=gateway, relayed=relayed, asked=asked)
            await asyncio.sleep(NEW_NODE_PAUSE_SECONDS)
        await asyncio.get_running_loop().create_future()

    async def _run_node(
        self,
        node: TableNode,
        bus: Bus,
        questions: Questions,
        *,
        gateway: LocalGateway,
        relayed: RelayedSockets,
        asked: Sequence[AskedByCells],
    ) -> None:
        listening: list[Subscription] = []

        async def began() -> None:
            self.node, self.gateway = node, gateway
            self._known.set()
            creator = TableCreator(questions=questions, node=self.present_node)
            operations = Operations(node=self.present_node)
            served = await serve_node(
                bus,
                node,
                questions=questions,
                creator=creator,
                operations=operations,
                relayed=relayed,
                asked=asked,
            )
            listening.extend(served)

        try:
            await node.run(began)
        except* FenceLost:
            log.error("fence_lost", process_id=node.process_id, expected=self._stopping)
        finally:
            self.node = self.gateway = None
            node.close_sockets()
            for one in listening:
                await one.stop()

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


def build_app(settings: Settings) -> web.Application:
    """The whole service for one process; every wiring calls this."""
    service = Service(settings)
    app = web.Application(middlewares=[errors_middleware])
    app[SERVICE] = service
    app[REGISTRY] = service.metrics.registry
    app.cleanup_ctx.extend([service.open, service.supervisor.context, service.start])
    app.on_shutdown.append(service.stop)
    app.add_routes(
        [
            web.get("/play/tables/{table_id}/socket", service.socket),
            web.get("/play/at/{process_id}/tables/{table_id}/socket", service.socket),
            *(web.route(route.method, route.path, getattr(service, route.name)) for route in TABLE),
            *health_routes(service.ready, service.supervisor),
            metrics_route(service.metrics.registry),
        ]
    )
    return app
