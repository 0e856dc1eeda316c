"""What somebody sees who opens an invite in a browser. Open this when the link leads nowhere, or says too much."""

from __future__ import annotations

import pytest
from lobby_doubles import LobbyServer, open_lobby

from darbar_contracts.api import PlayerShown, SocketPaths, TableSeen, TableShown
from darbar_contracts.tables import TableTerms
from darbar_kit.testing import MakeDatabase, MakeNats
from darbar_lobby.handlers.invitation import invitation


async def page(lobby: LobbyServer, path: str) -> tuple[int, str]:
    async with lobby.client.get(path) as response:
        assert response.content_type == "text/html"
        assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert response.headers["Referrer-Policy"] == "no-referrer", "the invite is in the address"
        assert response.headers["Cache-Control"] == "no-store"
        return response.status, await response.text()


async def test_the_address_of_an_invite_says_what_it_is_and_how_to_join(lobby: LobbyServer) -> None:
    host = await lobby.guest(name="Zoya Khan")
    made = await host.make_table(lobby.key(), visibility="private", bet_coins=75)
    path = made.body["invite_url"].removeprefix("https://darbar.example")
    status, text = await page(lobby, path)
    assert status == 200
    for said in ("You are invited to Court Piece", "Zoya Khan", "3 seats free", "75 coins", made.body["invite_token"]):
        assert said in text
    assert f'href="/#/invite/{made.body["invite_token"]}"' in text
    assert made.body["code"] not in text, "who has the invite needs no code"
    assert (await lobby.stranger().get(f"/v1/invites/{made.body['invite_token']}")).status == 200


@pytest.mark.parametrize("path", ["/join/unknown", "/join/" + "x" * 500, "/join/%22%3E%3Cscript%3E"])
async def test_an_invite_that_opens_nothing_says_so(lobby: LobbyServer, path: str) -> None:
    status, text = await page(lobby, path)
    assert status == 404
    assert "This invite opens no table" in text
    assert "script" not in text


async def test_looking_at_invites_is_limited_like_all_that_comes_from_an_address(
    make_database: MakeDatabase, make_nats: MakeNats
) -> None:
    async with open_lobby(make_database, make_nats, requests_a_minute_max=2, trusted_proxies=()) as lobby:
        statuses = []
        for _ in range(3):
            async with lobby.client.get("/join/unknown") as response:
                statuses.append(response.status)
    assert statuses == [404, 404, 429]


def test_whatever_people_call_themselves_is_text() -> None:
    terms = TableTerms("court_piece", {}, 4, 100, 15, "private", "normal")
    host = PlayerShown("0" * 20, "<b onload=alert(1)>'\"&", "fox")
    shown = TableShown("t", terms, "waiting", (host, None, None, None), (), 0, 1, "p")
    seen = TableSeen(shown, fresh=True, free_seats=1, socket=SocketPaths(None, "/play/x"))
    text = invitation(seen, "Court <Piece>", "token<")
    assert "<b " not in text
    assert "&lt;b onload=alert(1)&gt;&#x27;&quot;&amp;" in text
    assert "Court &lt;Piece&gt;, 1 seat free" in text
    assert "token&lt;" in text
