"""Starts `darbar` with tiny services in place of the real ones. Open this when a launcher test can't start it.

The tiny services have the names of the real packages and lie before them on the path, so the whole command is real,
its child processes too; only what the services do is replaced.
"""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from darbar_local.testing import Darbar, run

NAMES = ("wallet", "media", "bot", "table", "lobby")

SETTINGS = """
import msgspec

class Settings(msgspec.Struct, frozen=True, kw_only=True):
    nats_url: str
    database_url: str = ""
    token_private_key: str = ""
    token_public_key: str = ""
    ticket_key: str = ""
    generation: int = 1
    public_url: str = ""
    process_address: str = ""
    unsafe_storage: bool = False
    trusted_proxies: tuple[str, ...] = ()
    rules_folder: str = ""
    guests_an_hour_max: int = 5
    fails: str = ""
"""

APP = """
import os
import secrets
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter
from darbar_kit.bus import Bus
from darbar_kit.database import open_pool
from darbar_kit.errors import Unavailable
from darbar_kit.http import answer, errors_middleware, health_routes, metrics_route
from darbar_kit.metrics import REGISTRY

NAME = __name__.split(".")[0].removeprefix("darbar_")

def build_app(settings):
    app = web.Application(middlewares=[errors_middleware, marked])
    app[REGISTRY] = registry = CollectorRegistry()
    app["asked"] = Counter("tiny_requests", "Requests.", registry=registry)
    app["settings"] = settings
    app["ill"] = []
    app["life"] = secrets.token_hex(4)
    app.cleanup_ctx.append(opened)
    app.add_routes([
        web.get("/play/at/{process}/tables/{table}/socket", socket_here),
        web.get("/play/tables/{table}/socket", socket),
        web.get("/v1/ill", ill),
        web.get("/v1/notes", notes),
        web.post("/v1/notes", note),
        web.route("*", "/v1/{path:.*}", echo),
        web.get("/join/{path:.*}", echo),
        *health_routes(ready, Health(app)),
        metrics_route(registry),
    ])
    return app

# In place of the supervisor of the real ones.
class Health:
    def __init__(self, app):
        self.app = app

    def not_ready(self):
        return []

    def not_healthy(self):
        return self.app["ill"]

async def ill(request):
    request.app["ill"].append("task:luck")
    return await echo(request)

@web.middleware
async def marked(request, handler):
    answered = await handler(request)
    if not answered.prepared:
        answered.headers["X-Served-By"] = NAME
    return answered

async def ready():
    return ["luck"] if os.environ.get("TINY_UNREADY") == NAME else []

async def opened(app):
    settings = app["settings"]
    if settings.fails == "start":
        raise Unavailable("nothing_works", "nothing works today")
    bus = await Bus.connect(settings.nats_url, name=NAME)
    pool = None
    if settings.database_url:
        pool = await open_pool(settings.database_url, unsafe_storage=settings.unsafe_storage)
    app["pool"] = pool
    yield
    if settings.fails == "stop":
        raise RuntimeError("can't stop")
    if pool is not None:
        await pool.close()
    await bus.close()

async def echo(request):
    request.app["asked"].inc()
    settings = request.app["settings"]
    return answer({
        "service": NAME,
        "process": os.getpid(),
        "life": request.app["life"],
        "path": request.raw_path,
        "forwarded_for": request.headers.get("X-Forwarded-For", ""),
        "address": settings.process_address,
        "public_url": settings.public_url,
        "trusted_proxies": settings.trusted_proxies,
        "guests_an_hour_max": settings.guests_an_hour_max,
        "body": (await request.read()).decode(),
    })

async def notes(request):
    return answer([row["text"] for row in await request.app["pool"].fetch("SELECT text FROM note")])

async def note(request):
    await request.app["pool"].execute("INSERT INTO note VALUES ($1)", (await request.read()).decode())
    return answer({}, 201)

async def socket_here(request):
    if request.match_info["process"] != request.app["settings"].process_address.replace(":", "-"):
        raise web.HTTPMisdirectedRequest
    return await socket(request)

async def socket(request):
    opened = web.WebSocketResponse(compress=False)
    await opened.prepare(request)
    async for message in opened:
        if message.data == "bye":
            await opened.close(code=4001, message=b"bye")
        else:
            await opened.send_str(f"{os.getpid()} {message.data}")
    return opened
"""

MIGRATION = "CREATE TABLE note (text text NOT NULL); GRANT SELECT, INSERT ON note TO :service_role;\n"


@pytest.fixture(scope="session")
def tiny_services(servers_folder: Path) -> Path:
    """The folder that has packages named like the services."""
    folder = servers_folder / "tiny-services"
    for name in NAMES:
        package = folder / f"darbar_{name}"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "settings.py").write_text(SETTINGS)
        (package / "app.py").write_text(APP)
        if name != "bot":
            (package / "migrations").mkdir()
            (package / "migrations" / "0001_pre_notes.sql").write_text(MIGRATION)
    return folder


@pytest.fixture
def data(servers_folder: Path) -> Path:
    """A folder for data that isn't there yet."""
    return servers_folder / f"var-{secrets.token_hex(4)}"


@pytest.fixture
def given(postgres_server: str, nats_server: str) -> dict[str, str]:
    """Servers that run already: for tests in which it doesn't matter whose they are."""
    return {"DATABASE_URL": postgres_server, "NATS_URL": nats_server}


@pytest.fixture
async def darbar(tiny_services: Path, data: Path) -> AsyncIterator[Callable[..., Awaitable[Darbar]]]:
    """Starts the command, `up` on `data` when no arguments are given; all are ended when the test ends."""
    async with AsyncExitStack() as stack:

        async def start(*arguments: str, folder: Path | None = None, **variables: str) -> Darbar:
            return await stack.enter_async_context(
                run(
                    *(arguments or ("up", "--data", str(data), "--port", "0")),
                    variables={"PYTHONPATH": str(tiny_services), "DARBAR_UNSAFE_STORAGE": "1", **variables},
                    folder=folder,
                )
            )

        yield start
