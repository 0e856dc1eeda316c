"""One public port before many processes. Open this when a request doesn't reach its service.

It does for `darbar up --processes` what an ingress does in a cluster: it chooses by path and passes on.
"""

import contextlib
import random
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import aiohttp
from aiohttp import web

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.http import errors_middleware
from darbar_kit.metrics import collected, parsed, render
from darbar_local.gateway import origin
from darbar_local.gateway.proxy import Misdirected, Unreached, forward
from darbar_local.gateway.socket_pipe import SocketPipes
from darbar_local.restarts import NAME, Restarts
from darbar_local.services import owner

BODY_BYTES_MAX = 1024 * 1024
PLACES_REMEMBERED_MAX = 1000
# Among the base URLs: whoever serves the web client, and is asked for whatever belongs to no service.
WEB = "web"

_NAMED_PROCESS = re.compile(r"/play/at/([^/]+)/")


def build_gateway(
    base_urls: Mapping[str, Sequence[str]], restarts: Restarts, web_folder: Path | None = None
) -> web.Application:
    """`base_urls`: for each service, where its processes are. Without WEB among them the client comes from a folder."""
    app = web.Application(middlewares=[errors_middleware], client_max_size=BODY_BYTES_MAX)
    gateway = Gateway(base_urls, restarts)
    app.cleanup_ctx.append(gateway.open)
    if WEB not in base_urls:
        app.add_routes(origin.page_routes(web_folder))
    app.add_routes(origin.status_routes(gateway))
    app.router.add_route("*", "/{path:.*}", gateway.handle)
    return app


class Gateway:
    """Knows which process is asked what."""

    def __init__(self, base_urls: Mapping[str, Sequence[str]], restarts: Restarts) -> None:
        self._base_urls = base_urls
        self._restarts = restarts
        # Which process answers to which id: learned by asking, forgotten when it is wrong.
        self._places: dict[str, str] = {}
        self._opened: aiohttp.ClientSession | None = None
        self._pipes = SocketPipes()

    async def open(self, _app: web.Application) -> AsyncIterator[None]:
        """Bodies are passed on as they are, compressed or not, and no cookie of one person is sent with another's
        request."""
        async with aiohttp.ClientSession(
            auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar(), connector=aiohttp.TCPConnector(limit=0)
        ) as self._opened:
            yield
            self._pipes.close()

    @property
    def _session(self) -> aiohttp.ClientSession:
        assert self._opened is not None
        return self._opened

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Any path that isn't the gateway's own."""
        places = self._base_urls.get(owner(request.path) or WEB, ())
        if not places:
            raise web.HTTPNotFound
        if named := _NAMED_PROCESS.match(request.path):
            return await self._handle_named(request, named=named[1], places=places)
        # Whoever can't be reached has not seen the request: another one may be asked.
        for place in random.sample(places, len(places)):
            with contextlib.suppress(Unreached):
                return await forward(request, self._session, self._pipes, place)
        raise Unavailable(Reason.SERVICE_UNREACHABLE)

    async def _handle_named(self, request: web.Request, *, named: str, places: Sequence[str]) -> web.StreamResponse:
        """Only a process itself knows its id, and ids change; it answers 421 to what is meant for another one."""
        known = self._places.get(named)
        for place in sorted(places, key=lambda place: place != known):
            with contextlib.suppress(Misdirected, Unreached):
                self._remember(named, place)
                return await forward(request, self._session, self._pipes, place)
        self._places.pop(named, None)
        raise Refused(Reason.PROCESS_UNKNOWN)

    def _remember(self, named: str, place: str) -> None:
        if len(self._places) >= PLACES_REMEMBERED_MAX:
            self._places.clear()
        self._places[named] = place

    async def missing(self, _request: web.Request) -> list[str]:
        """What is missing in any process."""
        said = [
            f"{name}: {thing}"
            for name, base_url in _named_places(self._base_urls)
            for thing in await origin.ask_missing(self._session, base_url)
        ]
        return [*said, *self._restarts.missing()]

    async def failing(self, _request: web.Request) -> list[str]:
        """Nothing, as each process that can't be helped is ended and started again."""
        return []

    async def metrics(self) -> bytes:
        """What all processes have counted."""
        pages: dict[str, str] = {}
        # Whoever serves the web client counts nothing.
        services = {name: base_urls for name, base_urls in self._base_urls.items() if name != WEB}
        for name, base_url in _named_places(services):
            # One that doesn't answer must not hide what the others have counted.
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                pages[name] = (await origin.body_at(self._session, f"{base_url}/metrics")).decode()
        counted = {name: parsed(page) for name, page in pages.items()}
        return render({**counted, NAME: collected(self._restarts.registry)})


def _named_places(places: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """A service with several processes gets a number behind its name."""
    return [
        (f"{service}-{number}" if len(base_urls) > 1 else service, base_url)
        for service, base_urls in places.items()
        for number, base_url in enumerate(base_urls, 1)
    ]
