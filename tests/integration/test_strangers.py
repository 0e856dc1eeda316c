"""Nobody is told the id of somebody else's account: all that the server says, byte for byte, over a whole game."""

from __future__ import annotations

import random
import secrets
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
from mutated_requests import BODIES, Fields
from whole_games import BACKOFF, Game, in_the_middle_of_round

from darbar_client import Darbar, Player
from darbar_client.demo.local_server import LocalServer
from darbar_client.demo.playing import Participant, all_leave, joined
from darbar_contracts.api import TableRef
from darbar_contracts.public.routes import BY_SERVICE
from darbar_contracts.tables import alias_of, handle_of
from darbar_kit.testing import Tunnel

Known = dict[str, str]
Routes = set[tuple[str, str]]
PUBLIC = {
    (route.method, route.path)
    for routes in BY_SERVICE.values()
    for route in routes
    if not route.path.startswith("/v1/admin/")
}
# Nobody here has too few coins, a password, sends a voice note or gives up an account: all are asked for all the same.
REFUSED = {
    ("POST", "/v1/me/top-ups"),
    ("POST", "/v1/sessions"),
    ("DELETE", "/v1/me"),
    ("POST", "/v1/voice-notes"),
    ("GET", "/v1/voice-notes/{note_id}"),
    ("POST", "/v1/voice-notes/{note_id}/report"),
}


class Listener:
    """Somebody who keeps all that the server tells them. `player` None: a stranger without an account."""

    def __init__(self, tunnel: Tunnel, player: Player | None) -> None:
        self.player = player
        self._tunnel = tunnel
        self._address = ".".join(str(byte) for byte in (10, *secrets.token_bytes(3)))

    @property
    def heard(self) -> bytes:
        """As it came over the lines, in lower case, one connection after the other."""
        return b"\n".join(bytes(connection) for connection in self._tunnel.heard).lower()

    async def ask_everything(self, known: Known) -> Routes:
        """Every route of the product; those that gave what was asked for."""
        given = set()
        sent = {"X-Forwarded-For": self._address, "Accept-Encoding": "identity"}
        if self.player is not None:
            sent["Authorization"] = f"Bearer {await self.player.tokens.access()}"
        async with aiohttp.ClientSession(headers=sent) as session:
            for method, path in BODIES:
                async with session.request(
                    method,
                    self._tunnel.url + path.format_map(known),
                    data=body_of(method, path, known),
                    headers={"Idempotency-Key": secrets.token_urlsafe()},
                    allow_redirects=False,
                ) as response:
                    await response.read()
                    assert "Content-Encoding" not in response.headers, "what is packed can't be looked through"
                    if response.ok:
                        given.add((method, path))
        return given


async def test_no_answer_and_no_frame_has_the_id_of_another_account(server_behind_a_proxy: LocalServer) -> None:
    async with AsyncExitStack() as stack:
        listeners = [
            await stack.enter_async_context(listening(server_behind_a_proxy.url, has_account=number > 0))
            for number in range(7)
        ]
        players = [listener.player for listener in listeners if listener.player is not None]
        ref, given = await a_game_with_company(listeners, players)
        assert given >= PUBLIC - REFUSED
        for player in players:
            await player.tokens.renewed(await player.tokens.access())
        for listener in listeners:
            check(listener, ref.table_id, players)


async def a_game_with_company(listeners: Sequence[Listener], players: Sequence[Player]) -> tuple[TableRef, Routes]:
    """Four play, one looks on, one is sent away by the host; all of them and a stranger ask for everything before,
    while and after they play."""
    given: Routes = set()
    ref = await players[0].create_table("court_piece", visibility="public")
    *four, _, visitor = await joined(list(players), ref, random.Random(1))
    known = await known_of(ref, players)

    async def ask(listeners: Sequence[Listener]) -> None:
        for listener in listeners:
            given.update(await listener.ask_everything(known))

    async def ask_in_the_middle(participants: list[Participant]) -> None:
        await in_the_middle_of_round(participants[0].table, 2)
        participants[1].table.cut()
        await ask(listeners)

    await visitor.table.sit()
    assert visitor.table.seat is not None
    await four[0].table.send_player_away(visitor.table.seat)
    for participant in four[1:3]:
        await participant.table.sit()
    # A code opens while a seat is free. Who has no seat yet would take another one by asking for a table.
    await ask([listener for listener in listeners if listener.player is not players[3]])
    await four[3].table.sit()
    await Game(four).play(ask_in_the_middle)
    await all_leave(four)
    await ask(listeners)
    return ref, given


async def known_of(ref: TableRef, players: Sequence[Player]) -> Known:
    assert ref.socket.direct is not None
    return {
        "table_id": ref.table_id,
        "code": ref.code or "",
        "token": ref.invite_token or "",
        "game": "court_piece",
        "handle": (await players[1].profile()).handle,
        "version": "1",
        "account_id": "0" * 32,
        "note_id": "00000000-0000-4000-8000-000000000000",
        "process_id": ref.socket.direct.split("/")[3],
    }


@asynccontextmanager
async def listening(url: str, *, has_account: bool) -> AsyncIterator[Listener]:
    async with Tunnel.to(url, listening=True) as tunnel, Darbar(tunnel.url, backoff=BACKOFF) as darbar:
        yield Listener(tunnel, await darbar.guest() if has_account else None)


def body_of(method: str, path: str, known: Known) -> bytes | None:
    """One that gets what it asks for, and changes nobody's name or password."""
    bodies: dict[tuple[str, str], Fields | None] = {
        **BODIES,
        ("PATCH", "/v1/me"): {"avatar": b'"moon"'},
        ("POST", "/v1/tables"): {"game": b'"court_piece"', "bet_coins": b"100", "visibility": b'"public"'},
        ("POST", "/v1/me/blocks"): {"handle": b'"%s"' % known["handle"].encode()},
    }
    fields = bodies[method, path]
    if fields is None:
        return None
    return b"{" + b", ".join(b'"%s": %s' % (name.encode(), value) for name, value in fields.items()) + b"}"


def check(listener: Listener, table_id: str, players: Sequence[Player]) -> None:
    """The own id was heard and no other; of the four who played the handles were, and by players the aliases."""
    heard, own = listener.heard, listener.player
    others = [player.account.id for player in players if player is not own]
    assert [text for account in others for text in spellings(account) if text in heard] == []
    assert own is None or own.account.id.encode() in heard
    for account in (player.account.id for player in players[:4] if player is not own):
        handle = handle_of(account)
        assert handle.encode() in heard
        assert own is None or alias_of(table_id, account).encode() in heard
        assert alias_of(table_id, handle).encode() not in heard, "an alias is not made of a handle"


def spellings(account_id: str) -> tuple[bytes, bytes]:
    return account_id.encode(), str(uuid.UUID(account_id)).encode()
