"""Routes of administrators. Whom one lets in stands in the contracts, and is seen to here, before anything is read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from darbar_contracts.admin.api import (
    Adjustment,
    Administrator,
    AdminTablesQuery,
    AuditLogQuery,
    ConfirmSession,
    DismissName,
    LiftBan,
    LogQuery,
    NamesQuery,
    NewAdminSession,
    NewBan,
    NewJudgement,
    NotesQuery,
    Reasoned,
    StateQuery,
)
from darbar_contracts.admin.routes import ADMIN
from darbar_contracts.refusals import Reason
from darbar_contracts.route import IDEMPOTENCY_KEY_HEADER, NDJSON, Route
from darbar_contracts.wallet import EntriesQuery
from darbar_kit.http import answer, bearer_token, read_body, read_query, streamed
from darbar_kit.http.client_address import ClientAddresses
from darbar_lobby.handlers.admin.coins import Coins
from darbar_lobby.handlers.admin.moderation import Moderation
from darbar_lobby.handlers.admin.name_reports import NameReports
from darbar_lobby.handlers.admin.people import People
from darbar_lobby.handlers.admin.sessions import AdminSessions
from darbar_lobby.handlers.admin.table_inspector import TableInspector
from darbar_lobby.limits import Limits
from darbar_lobby.store.administrators import SignedIn
from darbar_lobby.store.audit_log import AuditLog

_LINES = msgspec.json.Encoder()


class AdminRoutes:
    """One method for each route of administrators, by its name. What it is given is who asks, let in already."""

    def __init__(
        self,
        *,
        sessions: AdminSessions,
        audit_log: AuditLog,
        tables: TableInspector,
        coins: Coins,
        people: People,
        moderation: Moderation,
        name_reports: NameReports,
        limits: Limits,
        addresses: ClientAddresses,
    ) -> None:
        self.sessions = sessions
        self._audit_log = audit_log
        self._tables = tables
        self._coins = coins
        self._people = people
        self._moderation = moderation
        self._name_reports = name_reports
        self.limits = limits
        self._addresses = addresses

    async def new_admin_session(self, request: web.Request) -> web.Response:
        body = await read_body(request, NewAdminSession)
        address = self._addresses.of(request)
        self.limits.sign_ins.take(address)
        with self.limits.password(address, f"administrator {body.name}"):
            return answer(await self.sessions.sign_in(body), 201)

    async def confirm_admin_session(self, request: web.Request) -> web.Response:
        token = bearer_token(request)
        who = await self.sessions.of(token)
        body = await read_body(request, ConfirmSession)
        # By name alone: whoever comes here knows the password.
        with self.limits.codes_of_administrators.guess(who.name, wrong=Reason.SECOND_FACTOR_WRONG):
            return answer(await self.sessions.confirm(token, who, body), 201)

    async def end_admin_session(self, request: web.Request) -> web.Response:
        token = bearer_token(request)
        await self.sessions.end(token, await self.sessions.of(token))
        return web.Response(status=204)

    async def administrator(self, _request: web.Request, who: SignedIn) -> web.Response:
        return answer(Administrator(who.name, who.role))

    async def audit_log(self, request: web.Request, _who: SignedIn) -> web.Response:
        return answer(await self._audit_log.page(read_query(request, AuditLogQuery)))

    async def admin_tables(self, request: web.Request, who: SignedIn) -> web.Response:
        return answer(await self._tables.found(who, read_query(request, AdminTablesQuery)))

    async def table_events(self, request: web.Request, who: SignedIn) -> web.StreamResponse:
        pages = self._tables.events(who, request.match_info["table_id"], read_query(request, LogQuery))
        return await streamed(request, NDJSON, (_LINES.encode_lines(page.events) async for page in pages))

    async def table_state(self, request: web.Request, who: SignedIn) -> web.Response:
        asked = request.match_info
        query = read_query(request, StateQuery)
        return answer(await self._tables.state(who, asked["table_id"], asked["version"], query))

    async def frozen_tables(self, _request: web.Request, _who: SignedIn) -> web.Response:
        return answer(await self._tables.frozen())

    async def resume_table(self, request: web.Request, who: SignedIn) -> web.Response:
        body = await read_body(request, Reasoned)
        return answer(await self._tables.operate(who, request.match_info["table_id"], "resume", body.reason))

    async def void_table(self, request: web.Request, who: SignedIn) -> web.Response:
        body = await read_body(request, Reasoned)
        return answer(await self._tables.operate(who, request.match_info["table_id"], "void", body.reason))

    async def account_wallet(self, request: web.Request, who: SignedIn) -> web.Response:
        query = read_query(request, EntriesQuery)
        return answer(await self._coins.wallet(who, request.match_info["account_id"], query))

    async def adjust_coins(self, request: web.Request, who: SignedIn) -> web.Response:
        body, key = await read_body(request, Adjustment), request.headers.get(IDEMPOTENCY_KEY_HEADER, "")
        return answer(await self._coins.adjust(who, request.match_info["account_id"], key, body), 201)

    async def ledger_audit(self, _request: web.Request, _who: SignedIn) -> web.Response:
        return answer(await self._coins.audit())

    async def admin_account(self, request: web.Request, who: SignedIn) -> web.Response:
        return answer(await self._people.account(who, request.match_info["account_id"]))

    async def ban_account(self, request: web.Request, who: SignedIn) -> web.Response:
        await self._people.ban(who, request.match_info["account_id"], await read_body(request, NewBan))
        return web.Response(status=204)

    async def lift_ban(self, request: web.Request, who: SignedIn) -> web.Response:
        await self._people.lift(who, request.match_info["account_id"], await read_body(request, LiftBan))
        return web.Response(status=204)

    async def reset_name(self, request: web.Request, who: SignedIn) -> web.Response:
        body = await read_body(request, Reasoned)
        return answer(await self._people.reset_name(who, request.match_info["account_id"], body.reason))

    async def reported_names(self, request: web.Request, _who: SignedIn) -> web.Response:
        return answer(await self._name_reports.waiting(read_query(request, NamesQuery)))

    async def dismiss_name(self, request: web.Request, who: SignedIn) -> web.Response:
        account_id = request.match_info["account_id"]
        await self._name_reports.dismiss(who, account_id, await read_body(request, DismissName))
        return web.Response(status=204)

    async def reported_notes(self, request: web.Request, _who: SignedIn) -> web.Response:
        return answer(await self._moderation.reported(read_query(request, NotesQuery)))

    async def note_link(self, request: web.Request, who: SignedIn) -> web.Response:
        return answer(await self._moderation.link(who, request.match_info["note_id"]))

    async def judge_note(self, request: web.Request, who: SignedIn) -> web.Response:
        body = await read_body(request, NewJudgement)
        return answer(await self._moderation.judge(who, request.match_info["note_id"], body))


ADMIN_ROUTES: web.AppKey[AdminRoutes] = web.AppKey("lobby_admin_routes", AdminRoutes)


def admin_routes() -> list[web.RouteDef]:
    """Every route of administrators; `app[ADMIN_ROUTES]` is there once the app has started."""
    return [web.route(route.method, route.path, _on(route)) for route in ADMIN]


def _on(route: Route) -> Handler:
    role = route.role
    if role is None:
        open_to_all: Callable[[AdminRoutes, web.Request], Awaitable[web.StreamResponse]]
        open_to_all = getattr(AdminRoutes, route.name)

        async def handle(request: web.Request) -> web.StreamResponse:
            return await open_to_all(request.app[ADMIN_ROUTES], request)

        return handle
    act: Callable[[AdminRoutes, web.Request, SignedIn], Awaitable[web.StreamResponse]]
    act = getattr(AdminRoutes, route.name)

    async def handle_for(request: web.Request) -> web.StreamResponse:
        routes = request.app[ADMIN_ROUTES]
        who = await routes.sessions.admit(bearer_token(request), role)
        routes.limits.by_account.take(f"administrator {who.name}")
        return await act(routes, request, who)

    return handle_for
