"""How the wallet is put together. Open this first."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping

from aiohttp import web

from darbar_contracts.wallet import WalletAudit
from darbar_kit.bus import Bus
from darbar_kit.database import Database, DatabaseAway, queries
from darbar_kit.http import errors_middleware, health_routes, metrics_route
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.metrics import REGISTRY
from darbar_kit.supervisor import Supervisor
from darbar_kit.tokens import TokenReader
from darbar_wallet import http
from darbar_wallet.bus import serve_administrators, serving
from darbar_wallet.engine.auditor import TABLES_PASS_EVERY_SECONDS, TABLES_WAIT_SECONDS_MAX, Auditor
from darbar_wallet.engine.leader import Leader
from darbar_wallet.engine.tables_comparison import TablesComparison
from darbar_wallet.limits import Limits
from darbar_wallet.metrics import Metrics
from darbar_wallet.settings import Settings
from darbar_wallet.store.ledger_audit import audited
from darbar_wallet.store.ledger_reader import LedgerReader

SETTINGS: web.AppKey[Settings] = web.AppKey("wallet_settings", Settings)
METRICS: web.AppKey[Metrics] = web.AppKey("wallet_metrics", Metrics)
QUERIES: web.AppKey[Mapping[str, str]] = web.AppKey("wallet_queries", Mapping)
DATABASE: web.AppKey[Database] = web.AppKey("wallet_database", Database)
BUS: web.AppKey[Bus] = web.AppKey("wallet_bus", Bus)
SUPERVISOR: web.AppKey[Supervisor] = web.AppKey("wallet_supervisor", Supervisor)
AUDITOR: web.AppKey[Auditor[WalletAudit]] = web.AppKey("wallet_auditor", Auditor)
LEADER: web.AppKey[Leader] = web.AppKey("wallet_leader", Leader)


def build_app(settings: Settings) -> web.Application:
    """The whole service; nothing is opened before it starts."""
    metrics = Metrics()
    supervisor = Supervisor("wallet", metrics.registry)
    app = web.Application(middlewares=[errors_middleware])
    app[SETTINGS] = settings
    app[METRICS] = metrics
    app[SUPERVISOR] = supervisor
    app[REGISTRY] = metrics.registry
    app[QUERIES] = sql = queries("darbar_wallet.store")
    app[http.TOKENS] = TokenReader(settings.token_public_key)
    app[http.ADDRESSES] = ClientAddresses(settings.trusted_proxies)
    app[http.LIMITS] = Limits(
        requests_a_minute_max=settings.requests_a_minute_max,
        clock=time.monotonic,
    )
    app[AUDITOR] = Auditor(lambda: audited(settings.database_url, sql), metrics.note_audit)
    supervisor.watch("auditor", app[AUDITOR].run, must_run=False)
    app.cleanup_ctx.extend([_open_database, _open_bus, _open_leader, supervisor.context])
    app.on_shutdown.append(_stop_leading)
    app.add_routes(http.public_routes())
    app.add_routes(health_routes(lambda: _missing(app), supervisor))
    app.add_routes([metrics_route(metrics.registry)])
    return app


async def _open_database(app: web.Application) -> AsyncIterator[None]:
    settings = app[SETTINGS]
    app[DATABASE] = database = await Database.open(
        settings.database_url, size_max=settings.database_connections_max, unsafe_storage=settings.unsafe_storage
    )
    app[http.READER] = LedgerReader(database, app[QUERIES])
    yield
    await database.close()


async def _open_bus(app: web.Application) -> AsyncIterator[None]:
    app[BUS] = await Bus.connect(app[SETTINGS].nats_url, name="wallet")
    comparison = TablesComparison(app[DATABASE], app[QUERIES], app[BUS])
    tables_auditor = Auditor(
        comparison.run,
        app[METRICS].note_tables_audit,
        every_seconds=TABLES_PASS_EVERY_SECONDS,
        wait_seconds_max=TABLES_WAIT_SECONDS_MAX,
    )
    app[SUPERVISOR].watch("tables_auditor", tables_auditor.run, must_run=False)
    await serve_administrators(app[BUS], app[http.READER], app[AUDITOR], tables_auditor)
    yield
    await app[BUS].close()


async def _open_leader(app: web.Application) -> AsyncIterator[None]:
    app[LEADER] = leader = Leader(
        app[SETTINGS],
        database=app[DATABASE],
        queries=app[QUERIES],
        bus=app[BUS],
        metrics=app[METRICS],
        serving=lambda writer: serving(app[BUS], writer),
    )
    app[SUPERVISOR].watch("leader", leader.run)
    yield


async def _stop_leading(app: web.Application) -> None:
    await app[LEADER].stop()


async def _missing(app: web.Application) -> list[str]:
    missing = [] if app[BUS].connected else ["nats"]
    if app[LEADER].is_stuck:
        missing.append("storage")
    try:
        led = await app[LEADER].has_leader()
    except DatabaseAway:
        return [*missing, "database"]
    return missing if led else [*missing, "lease"]
