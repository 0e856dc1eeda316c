"""The way in: a server, players, their tables. Open this to see what the client can ask over HTTP."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import TypeVar

import aiohttp
import msgspec

from darbar_client.backoff import Backoff
from darbar_client.errors import DarbarError
from darbar_client.event_stream import EVENTS_UNREAD_MAX
from darbar_client.http import Http
from darbar_client.table import TableSocket
from darbar_client.tokens import Tokens
from darbar_contracts.api import (
    Account,
    BlockList,
    Catalogue,
    Leaderboard,
    Me,
    Profile,
    Replay,
    Session,
    SocketPaths,
    TableAudit,
    TableRef,
    TableSeen,
)
from darbar_contracts.frames import AnyServerFrame
from darbar_contracts.reading import DecisionFrames
from darbar_contracts.route import IDEMPOTENCY_KEY_HEADER
from darbar_contracts.tables import BotLevel, Visibility
from darbar_contracts.voice import UPLOAD_TICKET_HEADER, NoteSent, note_path
from darbar_contracts.wallet import WalletEntry, WalletView

UNAUTHORIZED = 401
# A page that brings nothing new ends a walk over pages, whatever it says of more.
PAGES_MAX = 10_000
LEDGER_PAGE = 200

_Answer = TypeVar("_Answer")


class Darbar:
    """A server, for as long as the `async with` lasts; all sockets opened from it end with it.

    `web_socket_type`: another kind of aiohttp's, to look at what is said or to lose some of it.
    """

    def __init__(
        self,
        base_url: str,
        *,
        backoff: Backoff | None = None,
        web_socket_type: type[aiohttp.ClientWebSocketResponse] = aiohttp.ClientWebSocketResponse,
    ) -> None:
        self._base_url = base_url
        self._web_socket_type = web_socket_type
        self._backoff = backoff or Backoff()
        self._tasks = asyncio.TaskGroup()
        self._sockets: set[TableSocket] = set()

    async def __aenter__(self) -> Darbar:
        # A load generator holds thousands of sockets: the server has limits, this end needs none.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), ws_response_class=self._web_socket_type
        )
        self._http = Http(self._session, self._base_url, self._backoff)
        self._decisions = DecisionFrames()
        self._decoder = msgspec.json.Decoder(AnyServerFrame)
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            for socket in list(self._sockets):
                await socket.close()
            # The tasks have ended; what went wrong outside is not the group's, and is raised as it is.
            await self._tasks.__aexit__(None, None, None)
        finally:
            await self._session.close()

    async def guest(self, name: str | None = None, avatar: str | None = None) -> Player:
        """A new account; what is left out is chosen for it."""
        body = {"name": name, "avatar": avatar}
        return Player(self, await self._http.ask("POST", "/v1/guests", Session, body=body, repeatable=False))

    async def sign_in(self, name_login: str, password: str) -> Player:
        """An account that has a login name."""
        body = {"name_login": name_login, "password": password}
        return Player(self, await self._http.ask("POST", "/v1/sessions", Session, body=body))

    async def games(self) -> Catalogue:
        """The catalogue: each game with the schema of its options."""
        return await self._http.ask("GET", "/v1/games", Catalogue)

    @property
    def http(self) -> Http:
        return self._http

    async def open(self, ref: TableRef, player: Player, *, fair: bool, events_unread_max: int) -> TableSocket:
        """`Player.join` is the way to call this."""
        socket = TableSocket(
            ref,
            http=self._http,
            tokens=player.tokens,
            find=lambda: player.paths(ref.table_id),
            decisions=self._decisions,
            decoder=self._decoder,
            backoff=self._backoff,
            fair=fair,
            events_unread_max=events_unread_max,
        )
        self._sockets = {known for known in self._sockets if known.failure is None} | {socket}
        await socket.open(self._tasks)
        return socket


class Player:
    """A signed-in account. Its tokens are renewed by themselves."""

    def __init__(self, darbar: Darbar, session: Session) -> None:
        self._darbar = darbar
        self.tokens = Tokens(darbar.http, session)

    @property
    def account(self) -> Account:
        return self.tokens.account

    @property
    def name(self) -> str:
        return self.account.name

    async def create_table(
        self,
        game: str,
        *,
        bet_coins: int = 25,
        options: Mapping[str, object] | None = None,
        seats: int | None = None,
        turn_seconds: int = 15,
        visibility: Visibility = "private",
        bot_level: BotLevel = "normal",
    ) -> TableRef:
        """A table with this player as its host in seat 0; made once, however often it has to be asked for."""
        body = {
            "game": game,
            "bet_coins": bet_coins,
            "options": dict(options or {}),
            "seats": seats,
            "turn_seconds": turn_seconds,
            "visibility": visibility,
            "bot_level": bot_level,
        }
        return await self._ask("POST", "/v1/tables", TableRef, body=body, headers=_idempotency_key())

    async def quick_play(self, game: str, *, bet_coins: int = 25) -> TableRef:
        """A public table of this game and bet with a free seat, or a new one."""
        body = {"game": game, "bet_coins": bet_coins}
        return await self._ask("POST", "/v1/quick-play", TableRef, body=body, headers=_idempotency_key())

    async def look_up(self, code: str) -> TableRef:
        """The table with this code."""
        return (await self._ask("GET", f"/v1/codes/{code}", TableSeen)).ref

    async def look_up_invite(self, invite_token: str) -> TableRef:
        """The table of an invite link."""
        return (await self._ask("GET", f"/v1/invites/{invite_token}", TableSeen)).ref

    async def table(self, table_id: str) -> TableSeen:
        """What the lobby shows of a table."""
        return await self._ask("GET", f"/v1/tables/{table_id}", TableSeen)

    async def paths(self, table_id: str) -> SocketPaths:
        """Where a table's socket is now; asked once, for who is about to try again anyway."""
        return (await self._ask("GET", f"/v1/tables/{table_id}", TableSeen, seconds=0)).socket

    async def me(self) -> Me:
        """The account, and the table where it sits."""
        return await self._ask("GET", "/v1/me", Me)

    async def profile(self, handle: str | None = None) -> Profile:
        """What this player has played, or the player with this handle."""
        path = "/v1/me/profile" if handle is None else f"/v1/players/{handle}"
        return await self._ask("GET", path, Profile)

    async def blocks(self) -> BlockList:
        """Whom this player has blocked."""
        return await self._ask("GET", "/v1/me/blocks", BlockList)

    async def block(self, table_id: str, seat: int) -> BlockList:
        """The player in this seat: not met again by quick play (TL-8)."""
        return await self._ask("POST", "/v1/me/blocks", BlockList, body={"table_id": table_id, "seat": seat})

    async def unblock(self, handle: str) -> BlockList:
        return await self._ask("DELETE", f"/v1/me/blocks/{handle}", BlockList)

    async def report_name(self, handle: str) -> None:
        """A player's name, as it is now; nobody is told who did."""
        await self._ask("POST", f"/v1/players/{handle}/name-reports", type(None))

    async def leaderboard(self, game: str, *, week: str | None = None) -> Leaderboard:
        """The first page of a week like 2026-W48, of this week without one."""
        query = {} if week is None else {"week": week}
        return await self._ask("GET", f"/v1/leaderboards/{game}", Leaderboard, query=query)

    async def wallet(self) -> WalletView:
        """The coins, with the newest entries of the ledger."""
        return await self._ask("GET", "/v1/me/wallet", WalletView)

    async def ledger(self) -> tuple[WalletEntry, ...]:
        """Every entry of the ledger, the newest first; together they are the balance."""
        entries: list[WalletEntry] = []
        query = {"limit": str(LEDGER_PAGE)}
        for _ in range(PAGES_MAX):
            page = await self._ask("GET", "/v1/me/wallet", WalletView, query=query)
            entries.extend(page.entries)
            if page.next_before is None:
                break
            query["before"] = str(page.next_before)
        return tuple(entries)

    async def replay(self, table_id: str) -> Replay:
        """The log of a table as far as its rounds are over, all pages of it."""
        replay = await self._replay_page(table_id, 0)
        events = list(replay.events)
        for _ in range(PAGES_MAX):
            if not replay.more or not replay.events:
                break
            replay = await self._replay_page(table_id, events[-1].version)
            events.extend(replay.events)
        return msgspec.structs.replace(replay, events=tuple(events), more=False)

    async def audit(self, table_id: str) -> TableAudit:
        """The server's own comparison of store and memory, for who sits there; refused while a round is played."""
        return await self._ask("GET", f"/v1/tables/{table_id}/audit", TableAudit)

    async def send_note(self, ticket: str, recording: bytes, media_type: str) -> NoteSent:
        """A voice note, with the ticket of `TableSocket.ask_microphone`. Its microphone is gone whatever comes back."""
        sent = {"Content-Type": media_type, UPLOAD_TICKET_HEADER: ticket}
        return await self._ask("POST", "/v1/voice-notes", NoteSent, body=recording, headers=sent, seconds=0.0)

    async def note_sound(self, path: str) -> bytes:
        """What a `note_ready` leads to, as Ogg/Opus."""
        return await self._darbar.http.fetch(path)

    async def report_note(self, note_id: str) -> None:
        """Soon after it was heard."""
        await self._ask("POST", f"{note_path(note_id)}/report", type(None))

    async def join(
        self, table: TableRef | str, *, fair: bool = True, events_unread_max: int = EVENTS_UNREAD_MAX
    ) -> TableSocket:
        """A socket at a table, given by what made or found it, or by its id. `sit()` takes a seat.

        `fair`: adds a random string of this client to the chance of each deal.
        """
        ref = table if isinstance(table, TableRef) else (await self.table(table)).ref
        return await self._darbar.open(ref, self, fair=fair, events_unread_max=events_unread_max)

    async def _replay_page(self, table_id: str, after: int) -> Replay:
        return await self._ask("GET", f"/v1/tables/{table_id}/replay", Replay, query={"after": str(after)})

    async def _ask(
        self,
        method: str,
        path: str,
        answer_type: type[_Answer],
        *,
        body: Mapping[str, object] | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> _Answer:
        """Once more with a new token when the present one is refused."""
        token = await self.tokens.access()
        for is_last in (False, True):
            sent = {"Authorization": f"Bearer {token}", **(headers or {})}
            try:
                return await self._darbar.http.ask(
                    method, path, answer_type, body=body, headers=sent, query=query, seconds=seconds
                )
            except DarbarError as error:
                if error.status != UNAUTHORIZED or is_last:
                    raise
            token = await self.tokens.renewed(token)
        raise AssertionError("the last try answers or raises")


def _idempotency_key() -> dict[str, str]:
    return {IDEMPOTENCY_KEY_HEADER: secrets.token_urlsafe()}
