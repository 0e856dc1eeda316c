"""How HTTP answers and refuses. Open this when an error has the wrong form or status."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any

import aiohttp
import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry, Counter

from darbar_kit import http
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.http import (
    BODY_BYTES_MAX,
    answer,
    bearer,
    errors_middleware,
    health_routes,
    metrics_route,
    read_body,
    read_query,
)
from darbar_kit.limits import TooManyRequests
from darbar_kit.tokens import Claims, TokenReader, TokenWriter, new_private_key_pem, public_key_pem

KEY = new_private_key_pem()


class Bet(msgspec.Struct, frozen=True):
    coins: int


class Order(msgspec.Struct, frozen=True):
    name: str
    bet: Bet


async def echo(request: web.Request) -> web.Response:
    return answer(await read_body(request, Order), 201)


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    limit: int = 10
    after: int | None = None
    since: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


async def page(request: web.Request) -> web.Response:
    return answer(read_query(request, Page))


async def fail(request: web.Request) -> web.Response:
    match request.match_info["how"]:
        case "refused":
            raise Refused("seat_taken", "somebody sits there", {"seat": 3})
        case "unavailable":
            raise Unavailable("wallet_silent", retry=3)
        case "unreadable":
            msgspec.json.decode(b"{}", type=Order)  # What we have stored ourselves, for instance.
            raise AssertionError
        case "limited":
            raise TooManyRequests("orders", 2.1)
        case "gone":
            raise web.HTTPGone
        case "moved":
            raise web.HTTPFound("/healthz")
        case _:
            raise ZeroDivisionError("a bug")


async def whoami(request: web.Request) -> web.Response:
    return answer(bearer(request, TokenReader(public_key_pem(KEY))))


@pytest.fixture
async def missing() -> list[str]:
    return []


@pytest.fixture
async def client(missing: list[str]) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    async def ready() -> list[str]:
        return missing

    registry = CollectorRegistry()
    Counter("orders", "Orders taken.", registry=registry).inc()
    app = web.Application(middlewares=[errors_middleware])
    app.add_routes(
        [web.post("/orders", echo), web.get("/fail/{how}", fail), web.get("/me", whoami), web.get("/page", page)]
    )
    app.add_routes([*health_routes(ready), metrics_route(registry)])
    async with TestClient(TestServer(app)) as opened:
        yield opened


Client = TestClient[web.Request, web.Application]


async def problem(response: aiohttp.ClientResponse) -> tuple[int, dict[str, Any]]:
    body = await response.json()
    assert body.keys() == {"code", "message", "details"}
    return response.status, body


async def test_a_body_becomes_a_value_and_back(client: Client) -> None:
    response = await client.post("/orders", json={"name": "ann", "bet": {"coins": 5}})

    assert (response.status, await response.json()) == (201, {"name": "ann", "bet": {"coins": 5}})


@pytest.mark.parametrize(
    ("body", "status", "code", "details"),
    [
        (b'{"name": "ann", "bet": {"coins": "x"}}', 400, "body_invalid", {"field": "coins", "path": "$.bet.coins"}),
        (b'{"name": "ann", "bet": {}}', 400, "body_invalid", {"field": "coins", "path": "$.bet"}),
        (b'{"bet": {"coins": 1}}', 400, "body_invalid", {"field": "name", "path": "$"}),
        (b"[]", 400, "body_invalid", {"field": "", "path": "$"}),
        (b"{", 400, "body_not_json", {}),
        (b"", 400, "body_not_json", {}),
        (b'{"name": "\xff", "bet": {"coins": 1}}', 400, "body_not_json", {}),
        (b" " * (BODY_BYTES_MAX + 1), 413, "body_too_large", {"bytes_max": BODY_BYTES_MAX}),
    ],
)
async def test_a_wrong_body_is_refused(
    client: Client, body: bytes, status: int, code: str, details: dict[str, object]
) -> None:
    answered, problem_body = await problem(await client.post("/orders", data=body))

    assert (answered, problem_body["code"], problem_body["details"]) == (status, code, details)


async def test_a_body_in_pieces_is_measured_too(client: Client) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(BODY_BYTES_MAX // 1024 + 1):
            yield b" " * 1024

    assert (await problem(await client.post("/orders", data=pieces())))[1]["code"] == "body_too_large"


async def test_a_refusal_has_its_code_and_details(client: Client) -> None:
    assert await problem(await client.get("/fail/refused")) == (
        409,
        {"code": "seat_taken", "message": "somebody sits there", "details": {"seat": 3}},
    )


async def test_an_outage_says_when_to_come_back(client: Client) -> None:
    response = await client.get("/fail/unavailable")

    assert response.headers["Retry-After"] == "3"
    assert (await problem(response))[1]["code"] == "wallet_silent"
    assert response.status == 503


async def test_a_limit_says_which_one_and_when_to_come_back(client: Client) -> None:
    response = await client.get("/fail/limited")

    assert (response.headers["Retry-After"], response.headers["Cache-Control"]) == ("3", "no-store")
    status, body = await problem(response)
    assert (status, body["code"], body["details"]) == (
        429,
        "too_many_requests",
        {"limit": "orders", "retry_seconds": 3},
    )


@pytest.mark.parametrize("bug", ["bug", "unreadable"])
async def test_a_bug_tells_nothing_of_itself(client: Client, bug: str) -> None:
    status, body = await problem(await client.get(f"/fail/{bug}"))

    assert (status, body["code"]) == (500, "internal")
    assert "a bug" not in str(body)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/orders", 405, "method_not_allowed"),
        ("GET", "/fail/gone", 410, "bad_request"),
    ],
)
async def test_what_aiohttp_refuses_has_the_same_form(
    client: Client, method: str, path: str, status: int, code: str
) -> None:
    answered, body = await problem(await client.request(method, path))

    assert (answered, body["code"]) == (status, code)


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/fail/bug", "/fail/limited", "/metrics"])
async def test_every_answer_keeps_to_its_type_and_tells_no_versions(client: Client, path: str) -> None:
    response = await client.get(path)

    assert (response.headers["Server"], response.headers["X-Content-Type-Options"]) == ("Darbar", "nosniff")


async def test_a_redirection_stays_one(client: Client) -> None:
    assert (await client.get("/fail/moved", allow_redirects=False)).status == 302


async def test_readiness_says_what_is_missing(client: Client, missing: list[str]) -> None:
    assert (await client.get("/readyz")).status == 200

    missing.append("database")

    response = await client.get("/readyz")
    assert (response.status, await response.json()) == (503, {"status": "waiting", "missing": ["database"]})
    assert (await client.get("/healthz")).status == 200


async def test_metrics_are_served(client: Client) -> None:
    assert "orders_total 1.0" in await (await client.get("/metrics")).text()


async def test_a_bearer_is_known_by_the_token(client: Client) -> None:
    token = TokenWriter(KEY).write(Claims("a1", "Ann", "fox", "player"))

    response = await client.get("/me", headers={"Authorization": f"Bearer {token}"})

    assert (await response.json())["account_id"] == "a1"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "token_missing"),
        ({"Authorization": "Basic YTpi"}, "token_missing"),
        ({"Authorization": "Bearer "}, "token_missing"),
        ({"Authorization": "Bearer x"}, "token_invalid"),
    ],
)
async def test_a_request_without_a_good_token_is_refused(client: Client, headers: dict[str, str], code: str) -> None:
    status, body = await problem(await client.get("/me", headers=headers))

    assert (status, body["code"]) == (401, code)


def test_the_limit_of_a_body_is_what_the_documents_say() -> None:
    assert http.BODY_BYTES_MAX == 16 * 1024


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=many", "limit"),
        ("limit=", "limit"),
        ("limits=1", "limits"),
        ("limit=1&limit=2", "limit"),
        ("after=null", "after"),
        ("after=NULL", "after"),
        ("since=0.5", "since"),
        ("since=1764460800", "since"),
        ("since=2026-11-30", "since"),
    ],
)
async def test_a_parameter_that_could_be_misread_is_refused_by_its_name(client: Client, query: str, field: str) -> None:
    status, refused = await problem(await client.get(f"/page?{query}"))
    assert (status, refused["code"], refused["details"]["field"]) == (400, "query_invalid", field)
    async with client.get("/page?limit=3&since=2026-11-30T12:00:00Z") as good:
        assert await good.json() == {"limit": 3, "after": None, "since": "2026-11-30T12:00:00Z"}
