"""Puts the lobby together, once, in one place. Open this to see which part needs which."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from itertools import chain

from aiohttp import web

from darbar_contracts.subjects import TABLE_SERVED
from darbar_contracts.tables import ShardsServed
from darbar_kit.bus import Bus
from darbar_kit.database import Database, queries
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.metrics import REGISTRY
from darbar_kit.supervisor import Supervisor
from darbar_kit.tokens import TokenReader, TokenWriter, public_key_pem
from darbar_lobby.bus import serve, serve_audits
from darbar_lobby.handlers.accounts import Accounts
from darbar_lobby.handlers.admin.acts import Acts
from darbar_lobby.handlers.admin.coins import Coins
from darbar_lobby.handlers.admin.moderation import Moderation
from darbar_lobby.handlers.admin.name_reports import NameReports
from darbar_lobby.handlers.admin.people import People
from darbar_lobby.handlers.admin.sessions import AdminSessions
from darbar_lobby.handlers.admin.table_inspector import TableInspector
from darbar_lobby.handlers.catalogue import Games
from darbar_lobby.handlers.directory_projector import DirectoryProjector
from darbar_lobby.handlers.grants import Grants
from darbar_lobby.handlers.matchmaking import Matchmaker
from darbar_lobby.handlers.milestones import Milestones
from darbar_lobby.handlers.own.data import OwnData
from darbar_lobby.handlers.passwords import Passwords
from darbar_lobby.handlers.profiles import Blocks, Profiles
from darbar_lobby.handlers.questions import Questions
from darbar_lobby.handlers.statistics_rebuild import RebuildProgress, StatisticsRebuild
from darbar_lobby.handlers.table_client import TableClient
from darbar_lobby.handlers.table_creation import TableCreation
from darbar_lobby.handlers.tables import Tables
from darbar_lobby.http.admin import ADMIN_ROUTES, AdminRoutes, admin_routes
from darbar_lobby.http.public import ROUTES, Routes, public_routes
from darbar_lobby.limits import Limits
from darbar_lobby.metrics import Metrics
from darbar_lobby.middlewares import Middlewares
from darbar_lobby.milestone_consumer import MilestoneConsumer
from darbar_lobby.settings import Settings
from darbar_lobby.store.accounts import AccountStore
from darbar_lobby.store.administrators import AdministratorStore
from darbar_lobby.store.audit_log import AuditLog
from darbar_lobby.store.bans import BanStore
from darbar_lobby.store.blocks import BlockStore
from darbar_lobby.store.directory import DirectoryStore
from darbar_lobby.store.intentions import IntentionStore
from darbar_lobby.store.maintenance import MaintenanceStore
from darbar_lobby.store.name_reports import NameReportStore
from darbar_lobby.store.parked import ParkedStore
from darbar_lobby.store.quick_play import QuickPlayStore
from darbar_lobby.store.search import TableSearch
from darbar_lobby.store.statistics import StatisticsStore
from darbar_rules.games import ALL

TIDY_SECONDS = 600.0
COUNT_SECONDS = 60.0

SETTINGS: web.AppKey[Settings] = web.AppKey("lobby_settings", Settings)
METRICS: web.AppKey[Metrics] = web.AppKey("lobby_metrics", Metrics)
LIMITS: web.AppKey[Limits] = web.AppKey("lobby_limits", Limits)
ADDRESSES: web.AppKey[ClientAddresses] = web.AppKey("lobby_addresses", ClientAddresses)
DATABASE: web.AppKey[Database] = web.AppKey("lobby_database", Database)
BUS: web.AppKey[Bus] = web.AppKey("lobby_bus", Bus)
STORE: web.AppKey[AccountStore] = web.AppKey("lobby_store", AccountStore)
GRANTS: web.AppKey[Grants] = web.AppKey("lobby_grants", Grants)
CONSUMER: web.AppKey[MilestoneConsumer] = web.AppKey("lobby_consumer", MilestoneConsumer)
SUPERVISOR: web.AppKey[Supervisor] = web.AppKey("lobby_supervisor", Supervisor)


def build_app(settings: Settings) -> web.Application:
    """The database must have been migrated."""
    metrics = Metrics()
    limits = Limits(
        guests_an_hour_max=settings.guests_an_hour_max,
        requests_a_minute_max=settings.requests_a_minute_max,
        code_lookups_a_minute_max=settings.code_lookups_a_minute_max,
        clock=time.monotonic,
    )
    addresses = ClientAddresses(settings.trusted_proxies)
    middlewares = Middlewares(limits=limits, metrics=metrics, addresses=addresses, cors_origins=settings.cors_origins)
    app = web.Application(middlewares=middlewares.around(errors_middleware))
    for limit in limits.all:
        metrics.limit_keys.labels(limit.name).set_function(partial(len, limit))
    app[SETTINGS] = settings
    app[REGISTRY] = metrics.registry
    app[METRICS] = metrics
    app[LIMITS] = limits
    app[ADDRESSES] = addresses
    supervisor = Supervisor("lobby", metrics.registry)
    app[SUPERVISOR] = supervisor
    app.cleanup_ctx.extend([open_database, open_bus, open_parts, open_admin_parts, open_questions, supervisor.context])
    app.add_routes(public_routes())
    app.add_routes(admin_routes())
    app.add_routes(health_routes(lambda: _missing(app), supervisor))
    app.add_routes([metrics_route(metrics.registry)])
    return app


async def rebuild_statistics(
    database_url: str, nats_url: str, tell: Callable[[RebuildProgress], None]
) -> RebuildProgress:
    """Beside the lobbies that run, as one of them by its rights. Raises Unavailable when it has to be begun again."""
    # Whether the storage is safe is asked when a lobby starts.
    database = await Database.open(database_url, size_max=1, unsafe_storage=True)
    try:
        bus = await Bus.connect(nats_url, name="lobby")
        try:
            sql = statements()
            rebuild = StatisticsRebuild(
                directory=DirectoryStore(database, sql),
                statistics=StatisticsStore(database, sql),
                table_client=TableClient(bus),
            )
            return await rebuild.run(tell)
        finally:
            await bus.close()
    finally:
        await database.close()


async def open_database(app: web.Application) -> AsyncIterator[None]:
    settings = app[SETTINGS]
    app[DATABASE] = await Database.open(
        settings.database_url,
        size_max=settings.database_connections_max,
        unsafe_storage=settings.unsafe_storage,
    )
    yield
    await app[DATABASE].close()


async def open_bus(app: web.Application) -> AsyncIterator[None]:
    bus = await Bus.connect(app[SETTINGS].nats_url, name="lobby")
    app[BUS] = bus
    yield
    await bus.close()


async def open_parts(app: web.Application) -> AsyncIterator[None]:
    settings, bus, database, metrics = app[SETTINGS], app[BUS], app[DATABASE], app[METRICS]
    sql = statements()
    store, directory, table_client = AccountStore(database, sql), DirectoryStore(database, sql), TableClient(bus)
    await bus.listen(TABLE_SERVED, ShardsServed, table_client.served)
    projector = DirectoryProjector(directory)
    games = Games(ALL, limits=settings.terms, rules_folder=settings.rules_folder)
    app[STORE] = store
    app[GRANTS] = grants = Grants(store, bus, metrics)
    app[CONSUMER] = _watch_tasks(app, directory, projector, table_client)
    intentions = IntentionStore(database, sql)
    creation = _creation(app, intentions, projector, table_client=table_client, games=games)
    tables = Tables(directory=directory, table_client=table_client, public_url=settings.public_url)
    statistics = StatisticsStore(database, sql)
    accounts, profiles = _accounts(app), Profiles(statistics)
    blocks = Blocks(store=BlockStore(database, sql), statistics=statistics, tables=tables, bus=bus)
    app[ROUTES] = Routes(
        accounts=accounts,
        tables=tables,
        creation=creation,
        matchmaker=Matchmaker(
            directory=directory,
            quick_play=QuickPlayStore(database, sql),
            intentions=intentions,
            creation=creation,
            table_client=table_client,
        ),
        games=games,
        grants=grants,
        profiles=profiles,
        blocks=blocks,
        name_reports=_name_reports(app),
        own_data=OwnData(accounts=accounts, profiles=profiles, blocks=blocks, store=BanStore(database, sql), bus=bus),
        reader=_reader(app),
        limits=app[LIMITS],
        addresses=app[ADDRESSES],
    )
    yield


async def open_admin_parts(app: web.Application) -> AsyncIterator[None]:
    sql = statements()
    audit_log = AuditLog(app[DATABASE], sql)
    sessions = AdminSessions(
        store=AdministratorStore(app[DATABASE], sql),
        audit_log=audit_log,
        # Their own: however many players sign in, no administrator waits for them.
        passwords=Passwords(),
        reader=_reader(app),
        metrics=app[METRICS],
        clock=time.time,
    )
    acts, search = Acts(audit_log), TableSearch(app[DATABASE], sql)
    await serve_audits(app[BUS], search, audit_log)
    app[ADMIN_ROUTES] = AdminRoutes(
        sessions=sessions,
        audit_log=audit_log,
        tables=TableInspector(
            search=search,
            bus=app[BUS],
            table_client=TableClient(app[BUS]),
            acts=acts,
        ),
        coins=Coins(app[BUS], acts),
        people=People(
            store=BanStore(app[DATABASE], sql),
            accounts=app[STORE],
            directory=DirectoryStore(app[DATABASE], sql),
            profiles=Profiles(StatisticsStore(app[DATABASE], sql)),
            bus=app[BUS],
            acts=acts,
        ),
        moderation=Moderation(app[BUS], acts),
        name_reports=_name_reports(app),
        limits=app[LIMITS],
        addresses=app[ADDRESSES],
    )
    yield


async def open_questions(app: web.Application) -> AsyncIterator[None]:
    """Its bus ends it."""
    bus, database, sql = app[BUS], app[DATABASE], statements()
    questions = Questions(
        maintenance=MaintenanceStore(database, sql),
        blocks=BlockStore(database, sql),
        bans=BanStore(database, sql),
        bus=bus,
    )
    await serve(bus, questions)
    yield


def statements() -> Mapping[str, str]:
    """All of the lobby's SQL, by name."""
    others = (
        queries("darbar_lobby.store", f"{name}.sql")
        for name in ("statistics", "administrators", "search", "name_reports")
    )
    return {**queries("darbar_lobby"), **dict(chain.from_iterable(some.items() for some in others))}


def _creation(
    app: web.Application,
    intentions: IntentionStore,
    projector: DirectoryProjector,
    *,
    table_client: TableClient,
    games: Games,
) -> TableCreation:
    return TableCreation(
        intentions=intentions,
        projector=projector,
        table_client=table_client,
        games=games,
        metrics=app[METRICS],
        public_url=app[SETTINGS].public_url,
    )


def _name_reports(app: web.Application) -> NameReports:
    return NameReports(
        store=NameReportStore(app[DATABASE], statements()),
        accounts=_accounts(app),
        acts=Acts(AuditLog(app[DATABASE], statements())),
    )


def _reader(app: web.Application) -> TokenReader:
    return TokenReader(public_key_pem(app[SETTINGS].token_private_key))


def _accounts(app: web.Application) -> Accounts:
    return Accounts(
        store=app[STORE],
        bans=BanStore(app[DATABASE], statements()),
        writer=TokenWriter(app[SETTINGS].token_private_key),
        passwords=Passwords(),
        grants=app[GRANTS],
        metrics=app[METRICS],
    )


def _watch_tasks(
    app: web.Application, directory: DirectoryStore, projector: DirectoryProjector, table_client: TableClient
) -> MilestoneConsumer:
    """Everything that is to run for ever begins with the supervisor."""
    milestones = Milestones(
        directory=directory,
        projector=projector,
        parked=ParkedStore(app[DATABASE], statements()),
        table_client=table_client,
        metrics=app[METRICS],
    )
    consumer = MilestoneConsumer(bus=app[BUS], milestones=milestones)
    supervisor, store = app[SUPERVISOR], app[STORE]
    supervisor.watch("milestones", consumer.run)
    supervisor.watch("parked_tables", milestones.run)
    supervisor.watch("grants", app[GRANTS].run)
    supervisor.watch("tidying", lambda: _tidying(store), must_run=False)
    names = NameReportStore(app[DATABASE], statements())
    supervisor.watch("names", lambda: _counting(names, app[METRICS]), must_run=False)
    return consumer


async def _missing(app: web.Application) -> list[str]:
    """What is needed and not there; the supervisor adds the tasks that do not run."""
    missing = [] if await app[DATABASE].answers() else ["database"]
    if not app[BUS].connected:
        missing.append("nats")
    if not app[CONSUMER].subscribed:
        missing.append("milestones")
    return missing


async def _tidying(store: AccountStore) -> None:
    while True:
        await store.tidy()
        await asyncio.sleep(TIDY_SECONDS)


async def _counting(names: NameReportStore, metrics: Metrics) -> None:
    while True:
        metrics.names_reported.set(await names.count_waiting())
        await asyncio.sleep(COUNT_SECONDS)
