"""Odd HTTP requests at every route of every service: each is refused with a code, and none is a fault of ours."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec
from mutated_requests import BODIES, Mutator
from whole_games import BACKOFF

from darbar_client import Darbar, Player
from darbar_client.demo.local_server import LocalServer, missing_at
from darbar_contracts.public.routes import BY_SERVICE
from darbar_kit.tokens import new_private_key_pem, public_key_pem
from darbar_local.services import ALL, Service

REQUESTS = 2_000
SEED = 20261130
# Each of them may ask so often in a minute that no limit of an account hides what lies behind it.
ACCOUNTS = 40
CONNECTIONS_AT_ONCE = 48
# A body that never comes whole is waited for, and then refused.
ANSWER_SECONDS_MAX = 30.0
# No answer: what came was no HTTP, or the connection was left as a socket. More would mean that little was tried.
UNANSWERED_MAX = REQUESTS // 20
CODES_MIN = 25
OF_THE_GATEWAY = {("GET", path) for path in ("/", "/healthz", "/readyz", "/metrics")}

Count = Callable[[str], None]


def routes_of(service: Service) -> set[tuple[str, str]]:
    """What a service answers, but for what the gateway answers in its place."""
    key = new_private_key_pem()
    given = {
        "database_url": "postgresql://nobody@nowhere/nothing",
        "nats_url": "nats://nowhere",
        "public_url": "http://nowhere",
        "token_private_key": key,
        "token_public_key": public_key_pem(key),
        "ticket_key": "a key that nobody guesses",
    }
    names = set(service.settings_type.__struct_fields__)
    settings = msgspec.convert({name: value for name, value in given.items() if name in names}, service.settings_type)
    routes = service.build_app(settings).router.routes()
    found = {(route.method, route.resource.canonical) for route in routes if route.resource is not None}
    return {(method, path) for method, path in found if method != "HEAD"} - OF_THE_GATEWAY


async def test_two_thousand_mutated_requests_end_without_a_fault_of_ours(
    server_behind_a_proxy: LocalServer, count: Count
) -> None:
    async with Darbar(server_behind_a_proxy.url, backoff=BACKOFF) as darbar:
        seated, known, tokens = await something_to_ask_for(darbar)
        port = urlsplit(server_behind_a_proxy.url).port or 0
        mutator = Mutator(SEED, known=known, tokens=tokens)
        sent = [(route, request.written()) for route, request in (mutator.next() for _ in range(REQUESTS))]
        places = asyncio.Semaphore(CONNECTIONS_AT_ONCE)
        answers = await asyncio.gather(*(answer(port, request, places) for _, request in sent))
        assert (await seated.table(known["table_id"])).fresh

    statuses = Counter(status for status, _ in answers)
    codes = Counter(code for _, code in answers if code)
    count(f"{REQUESTS} requests at {len(BODIES)} routes, {dict(sorted(statuses.items()))}, {len(codes)} codes")
    assert [(both, request) for both, (_, request) in zip(answers, sent, strict=True) if both[0] >= 500] == []
    assert faults_in(server_behind_a_proxy.log.read_text()) == []
    assert await missing_at(server_behind_a_proxy.url) == ()
    assert statuses[0] <= UNANSWERED_MAX
    assert {101, 200, 201, 204, 400, 401, 404, 405, 408, 409, 413, 415, 422} <= statuses.keys()
    assert len(codes) >= CODES_MIN


def test_every_route_of_every_service_is_asked() -> None:
    assert set(BODIES) == OF_THE_GATEWAY.union(*(routes_of(service) for service in ALL))


def test_every_public_route_is_declared_in_the_contracts_but_for_sockets_and_a_page() -> None:
    declared = {(route.method, route.path) for routes in BY_SERVICE.values() for route in routes}
    undeclared = {path for method, path in set(BODIES) - OF_THE_GATEWAY - declared}
    assert declared < set(BODIES)
    assert {path for path in undeclared if not path.endswith("/socket")} == {"/join/{token}"}


async def something_to_ask_for(darbar: Darbar) -> tuple[Player, dict[str, str], list[str]]:
    """Who sits at a table, what paths can name of it, and tokens of many who ask, the first of them sitting there."""
    host = await darbar.guest()
    players = [await darbar.guest() for _ in range(ACCOUNTS)]
    made = await host.create_table("court_piece")
    table = await players[0].join(made, fair=False)
    await table.sit()
    assert made.socket.direct is not None
    known = {
        "table_id": made.table_id,
        "code": made.code or "",
        "token": made.invite_token or "",
        "game": "court_piece",
        "handle": (await players[0].profile()).handle,
        "version": "1",
        "account_id": "0" * 32,
        "note_id": "00000000-0000-4000-8000-000000000000",
        "process_id": made.socket.direct.split("/")[3],
    }
    return players[0], known, [await player.tokens.access() for player in players]


async def answer(port: int, request: bytes, places: asyncio.Semaphore) -> tuple[int, str]:
    """The status and, of a refusal, the code; 0 when the connection ended without an answer."""
    async with places:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            async with asyncio.timeout(ANSWER_SECONDS_MAX):
                return await received(reader, has_body=request.split(b" ", 1)[0].upper() != b"HEAD")
        except (ConnectionError, asyncio.IncompleteReadError):
            return 0, ""
        finally:
            writer.transport.abort()


async def received(reader: asyncio.StreamReader, *, has_body: bool) -> tuple[int, str]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    body = await reader.readexactly(int(length[1])) if length and has_body else b""
    code = re.match(rb'{"code":"(\w+)"', body)
    return int(head.split(b" ", 2)[1]), code[1].decode() if code else ""


def faults_in(log: str) -> list[str]:
    """Lines of a server's log that speak of a fault of ours."""
    lines = [line for line in log.splitlines() if line.startswith("{")]
    assert lines, "the log holds nothing that could be looked at"
    return [line for line in lines if msgspec.json.decode(line, type=dict)["level"] in ("error", "critical")]
