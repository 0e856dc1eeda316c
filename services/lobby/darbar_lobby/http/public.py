"""The lobby's HTTP: who asks, how often, what is read and answered. Which routes there are is in the contracts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Handler

from darbar_contracts import documents
from darbar_contracts.api import (
    ChangeMe,
    EndSession,
    GamesQuery,
    LeaderboardQuery,
    ListQuery,
    Me,
    NewBlock,
    NewGuest,
    NewSession,
    NewTable,
    QuickPlay,
    Session,
    ToppedUp,
)
from darbar_contracts.own.data import DeleteMe
from darbar_contracts.public.routes import LOBBY
from darbar_contracts.refusals import Reason
from darbar_contracts.route import HTML, IDEMPOTENCY_KEY_HEADER, JSON
from darbar_contracts.tables import Person
from darbar_kit.errors import Refused
from darbar_kit.http import answer, bearer, read_body, read_query
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.tokens import Claims, TokenReader
from darbar_lobby.domain.addresses import INVITE_PATH
from darbar_lobby.domain.names import normalised_login_name
from darbar_lobby.handlers.accounts import Accounts, chosen_face, to_public
from darbar_lobby.handlers.admin.name_reports import NameReports
from darbar_lobby.handlers.catalogue import Games, GameUnknown
from darbar_lobby.handlers.grants import Grants
from darbar_lobby.handlers.invitation import HEADERS, invitation, no_invitation
from darbar_lobby.handlers.matchmaking import Matchmaker
from darbar_lobby.handlers.own.data import OwnData
from darbar_lobby.handlers.profiles import Blocks, Profiles
from darbar_lobby.handlers.table_creation import TableCreation
from darbar_lobby.handlers.tables import Tables
from darbar_lobby.limits import Limits
from darbar_lobby.store.intentions import StoredAnswer

DOCUMENT_KEPT_SECONDS = 300


class Routes:
    """One method for each route of the contracts, by its name; what they do is elsewhere."""

    def __init__(
        self,
        *,
        accounts: Accounts,
        tables: Tables,
        creation: TableCreation,
        matchmaker: Matchmaker,
        games: Games,
        grants: Grants,
        profiles: Profiles,
        blocks: Blocks,
        own_data: OwnData,
        name_reports: NameReports,
        reader: TokenReader,
        limits: Limits,
        addresses: ClientAddresses,
    ) -> None:
        self._accounts = accounts
        self._tables = tables
        self._creation = creation
        self._matchmaker = matchmaker
        self._games = games
        self._grants = grants
        self._profiles = profiles
        self._blocks = blocks
        self._own_data = own_data
        self._name_reports = name_reports
        self._reader = reader
        self._limits = limits
        self._addresses = addresses

    async def new_guest(self, request: web.Request) -> web.Response:
        face = chosen_face(await read_body(request, NewGuest))
        # After the name was found good: a refused one uses up nobody's guests.
        self._limits.guests.take(self._addresses.of(request))
        return answer(await self._accounts.new_guest(face), 201)

    async def new_session(self, request: web.Request) -> web.Response:
        body = await read_body(request, NewSession)
        match body:
            case NewSession(refresh_token=str(token), name_login=None, password=None):
                return answer(await self._accounts.refresh(token), 201)
            case NewSession(refresh_token=None, name_login=str(name_login), password=str(password)):
                # A refresh token can't be guessed, a password can.
                return answer(await self._sign_in(request, normalised_login_name(name_login), password), 201)
        raise Refused(Reason.SESSION_BODY_INVALID)

    async def end_sessions(self, request: web.Request) -> web.Response:
        body = await read_body(request, EndSession) if request.can_read_body else EndSession()
        if body.refresh_token is not None:
            await self._accounts.end_session(body.refresh_token)
        else:
            await self._accounts.end_sessions(self._claims(request).account_id)
        return web.Response(status=204)

    async def me(self, request: web.Request) -> web.Response:
        account = await self._accounts.account(self._claims(request).account_id)
        return answer(Me(to_public(account), await self._tables.seat_of(account.account_id)))

    async def change_me(self, request: web.Request) -> web.Response:
        account_id = self._claims(request).account_id
        body = await read_body(request, ChangeMe)
        if body.password_current is None:
            return answer(await self._accounts.change(account_id, body))
        with self._limits.password(self._addresses.of(request), account_id):
            return answer(await self._accounts.change(account_id, body))

    async def export_me(self, request: web.Request) -> web.Response:
        return answer(await self._own_data.export(self._claims(request).account_id))

    async def delete_me(self, request: web.Request) -> web.Response:
        account_id = self._claims(request).account_id
        body = await read_body(request, DeleteMe)
        with self._limits.password(self._addresses.of(request), account_id):
            await self._own_data.delete(account_id, body)
        return web.Response(status=204)

    async def top_up(self, request: web.Request) -> web.Response:
        return answer(ToppedUp(await self._grants.top_up(self._claims(request).account_id)), 201)

    async def my_profile(self, request: web.Request) -> web.Response:
        return answer(await self._profiles.own(self._claims(request).account_id))

    async def my_games(self, request: web.Request) -> web.Response:
        account_id = self._claims(request).account_id
        return answer(await self._profiles.own_games(account_id, read_query(request, GamesQuery)))

    async def blocks(self, request: web.Request) -> web.Response:
        return answer(await self._blocks.listed(self._claims(request).account_id))

    async def block(self, request: web.Request) -> web.Response:
        account_id = self._claims(request).account_id
        return answer(await self._blocks.block(account_id, await read_body(request, NewBlock)))

    async def unblock(self, request: web.Request) -> web.Response:
        return answer(await self._blocks.unblock(self._claims(request).account_id, request.match_info["handle"]))

    async def player(self, request: web.Request) -> web.Response:
        return answer(await self._profiles.player(request.match_info["handle"]))

    async def player_games(self, request: web.Request) -> web.Response:
        query = read_query(request, GamesQuery)
        return answer(await self._profiles.games_of_player(request.match_info["handle"], query))

    async def report_name(self, request: web.Request) -> web.Response:
        account_id = self._claims(request).account_id
        self._limits.names_reported.take(account_id)
        await self._name_reports.report(account_id, request.match_info["handle"])
        return web.Response(status=204)

    async def leaderboard(self, request: web.Request) -> web.Response:
        try:
            game = self._games.rules_of(request.match_info["game"]).name
        except GameUnknown:
            raise Refused(Reason.GAME_UNKNOWN) from None
        return answer(await self._profiles.leaderboard(game, read_query(request, LeaderboardQuery)))

    async def games(self, _request: web.Request) -> web.Response:
        return answer(self._games.catalogue)

    async def how_to_play(self, request: web.Request) -> web.Response:
        try:
            page = self._games.page(request.match_info["game"])
        except GameUnknown:
            raise Refused(Reason.RULES_PAGE_UNKNOWN) from None
        return web.Response(text=page, content_type="text/markdown")

    async def new_table(self, request: web.Request) -> web.Response:
        host = await self._host(request)
        body = await read_body(request, NewTable)
        self._limits.tables_made.take(host.account_id)
        return _stored(await self._creation.create(host, request.headers.get(IDEMPOTENCY_KEY_HEADER, ""), body))

    async def quick_play(self, request: web.Request) -> web.Response:
        host = await self._host(request)
        body = await read_body(request, QuickPlay)
        self._limits.tables_made.take(host.account_id)
        return _stored(await self._matchmaker.quick_play(host, request.headers.get(IDEMPOTENCY_KEY_HEADER), body))

    async def tables(self, request: web.Request) -> web.Response:
        return answer(await self._tables.listed(read_query(request, ListQuery)))

    async def table(self, request: web.Request) -> web.Response:
        return answer(await self._tables.table(request.match_info["table_id"], self._account_id(request)))

    async def code(self, request: web.Request) -> web.Response:
        address = self._addresses.of(request)
        self._limits.code_lookups.take(address)
        with self._limits.codes_wrong.guess(address, wrong=Reason.CODE_UNKNOWN):
            return answer(await self._tables.by_code(request.match_info["code"], self._account_id(request)))

    async def invite(self, request: web.Request) -> web.Response:
        return answer(await self._tables.by_invite(request.match_info["token"], self._account_id(request)))

    async def openapi(self, _request: web.Request) -> web.Response:
        return _document("openapi.json", JSON)

    async def asyncapi(self, _request: web.Request) -> web.Response:
        return _document("asyncapi.json", JSON)

    async def docs(self, _request: web.Request) -> web.Response:
        return _document("docs.html", HTML)

    async def invitation(self, request: web.Request) -> web.Response:
        """The address that people send each other, as a browser shows it: a page, not part of the API."""
        token = request.match_info["token"]
        try:
            seen = await self._tables.by_invite(token, None)
        except Refused:
            return web.Response(text=no_invitation(), status=404, content_type="text/html", headers=HEADERS)
        page = invitation(seen, self._games.rules_of(seen.table.terms.game).title, token)
        return web.Response(text=page, content_type="text/html", headers=HEADERS)

    async def _sign_in(self, request: web.Request, login_name: str | None, password: str) -> Session:
        address = self._addresses.of(request)
        self._limits.sign_ins.take(address)
        with self._limits.password(address, login_name or ""):
            return await self._accounts.sign_in(login_name, password)

    def _claims(self, request: web.Request) -> Claims:
        claims = bearer(request, self._reader)
        self._limits.by_account.take(claims.account_id)
        return claims

    def _account_id(self, request: web.Request) -> str | None:
        """For what may be seen without a token too; a token that is no good is refused all the same."""
        return self._claims(request).account_id if "Authorization" in request.headers else None

    async def _host(self, request: web.Request) -> Person:
        """With the name of now, not of when the token was written."""
        account = await self._accounts.player(self._claims(request).account_id)
        return Person(account.account_id, account.name, account.avatar)


ROUTES: web.AppKey[Routes] = web.AppKey("lobby_routes", Routes)

_Act = Callable[[Routes, web.Request], Awaitable[web.Response]]


def public_routes() -> list[web.RouteDef]:
    """Every public route; `app[ROUTES]` is there once the app has started."""
    described = [web.route(route.method, route.path, _on(getattr(Routes, route.name))) for route in LOBBY]
    return [*described, web.get(f"{INVITE_PATH}/{{token}}", _on(Routes.invitation))]


def _on(act: _Act) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return await act(request.app[ROUTES], request)

    return handle


def _document(name: documents.Name, media: str) -> web.Response:
    """A document of the API; it changes with a new release only."""
    headers = {**HEADERS, "Cache-Control": f"public, max-age={DOCUMENT_KEPT_SECONDS}"}
    response = web.Response(body=documents.document(name), content_type=media, charset="utf-8", headers=headers)
    response.enable_compression()
    return response


def _stored(stored: StoredAnswer) -> web.Response:
    return web.Response(body=stored.body, status=stored.status, content_type="application/json")
