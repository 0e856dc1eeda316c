"""Several services in one process. Open this when one of them hinders another."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from darbar_kit.http import answer, health_routes
from darbar_kit.service import listen, reserve
from darbar_local.gateway.one_process import build_root
from darbar_local.restarts import Restarts


def build(name: str, steps: list[str], *, fails: str = "", missing: str = "") -> web.Application:
    async def opened(_app: web.Application) -> AsyncIterator[None]:
        if fails == "start":
            raise ConnectionError(name)
        steps.append(f"{name} opened")
        yield
        steps.append(f"{name} closed")
        if fails == "stop":
            raise ConnectionError(name)

    async def shut(_app: web.Application) -> None:
        steps.append(f"{name} shut")

    async def ready() -> list[str]:
        return [missing] if missing else []

    async def echo(request: web.Request) -> web.Response:
        return answer({"name": name, "app": request.app is app, "table": request.match_info.get("table")})

    app = web.Application()
    app.cleanup_ctx.append(opened)
    app.on_shutdown.append(shut)
    app.add_routes([web.get("/v1/tables/{table}", echo), web.get("/v1/tables/{table}/replay", echo)])
    app.add_routes(health_routes(ready))
    return app


async def test_each_app_sees_its_paths_as_it_does_alone() -> None:
    root = build_root({name: build(name, []) for name in ("table", "lobby")}, Restarts())
    async with TestClient(TestServer(root)) as client:
        lobby = await (await client.get("/v1/tables/7")).json()
        table = await (await client.get("/v1/tables/7/replay")).json()

    assert lobby == {"name": "lobby", "app": True, "table": "7"}
    assert table == {"name": "table", "app": True, "table": "7"}


async def test_what_one_app_misses_is_told_with_its_name() -> None:
    root = build_root({"table": build("table", [], missing="lease"), "lobby": build("lobby", [])}, Restarts())
    async with TestClient(TestServer(root)) as client:
        response = await client.get("/readyz")

        assert (response.status, (await response.json())["missing"]) == (503, ["table: lease"])


async def test_apps_start_in_their_order_and_stop_in_the_other() -> None:
    steps: list[str] = []
    runner = await listen(
        build_root({name: build(name, steps) for name in ("a", "b")}, Restarts()), reserve("127.0.0.1", 0)
    )

    await runner.cleanup()

    assert steps == ["a opened", "b opened", "a shut", "b shut", "b closed", "a closed"]


async def test_an_app_that_cannot_start_lets_the_others_stop() -> None:
    steps: list[str] = []
    root = build_root({"a": build("a", steps), "b": build("b", steps, fails="start")}, Restarts())

    with pytest.raises(ConnectionError):
        await listen(root, reserve("127.0.0.1", 0))

    assert steps[0] == "a opened"
    assert steps[-1] == "a closed"


async def test_an_app_that_cannot_stop_lets_the_others_stop() -> None:
    steps: list[str] = []
    apps = {"a": build("a", steps), "b": build("b", steps, fails="stop"), "c": build("c", steps)}
    runner = await listen(build_root(apps, Restarts()), reserve("127.0.0.1", 0))

    with pytest.raises(ConnectionError):
        await runner.cleanup()

    assert steps[-3:] == ["c closed", "b closed", "a closed"]
