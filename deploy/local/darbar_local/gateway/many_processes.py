"""One public port before many processes. Open this when a request doesn't reach its service.

It does for `darbar up --processes` what an ingress does in a cluster: it chooses by path and passes on.
"""

import contextlib
import random
import re
from collections.abc import AsyncIterator, Mapping, Sequence

import aiohttp
from aiohttp import web

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.http import errors_middleware
from darbar_kit.metrics import parsed, render
from darbar_local.gateway import origin
from darbar_local.gateway.proxy import Misdirected, forward
from darbar_local.services import owner

BODY_BYTES_MAX = 1024 * 1024
PLACES_REMEMBERED_MAX = 1000

_NAMED_PROCESS = re.compile(r"/play/at/([^/]+)/")
_SESSION: web.AppKey[aiohttp.ClientSession] = web.AppKey("gateway_session", aiohttp.ClientSession)


def build_gateway(base_urls: Mapping[str, Sequence[str]]) -> web.Application:
    """`base_urls`: for each service, where its processes are."""
    app = web.Application(middlewares=[errors_middleware], client_max_size=BODY_BYTES_MAX)
    gateway = Gateway(base_urls)
    app.cleanup_ctx.append(_open_session)
    app.add_routes(
        origin.routes(lambda _request: gateway.missing(app[_SESSION]), lambda: gateway.metrics(app[_SESSION]))
    )

    async def handle(request: web.Request) -> web.StreamResponse:
        return await gateway.handle(request, app[_SESSION])

    app.router.add_route("*", "/{path:.*}", handle)
    return app


async def _open_session(app: web.Application) -> AsyncIterator[None]:
    # Bodies are passed on as they are, compressed or not, and no cookie of one person is sent with another's request.
    async with aiohttp.ClientSession(
        auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar(), connector=aiohttp.TCPConnector(limit=0)
    ) as session:
        app[_SESSION] = session
        yield


class Gateway:
    """Knows which process is asked what."""

    def __init__(self, base_urls: Mapping[str, Sequence[str]]) -> None:
        self._base_urls = base_urls
        # Which process answers to which id: learned by asking, forgotten when it is wrong.
        self._places: dict[str, str] = {}

    async def handle(self, request: web.Request, session: aiohttp.ClientSession) -> web.StreamResponse:
        """Any path that isn't the gateway's own."""
        places = self._base_urls.get(owner(request.path), ())
        if not places:
            raise web.HTTPNotFound
        named = _NAMED_PROCESS.match(request.path)
        if named:
            return await self._handle_named(request, session, named=named[1], places=places)
        return await forward(request, session, random.choice(places))

    async def _handle_named(
        self, request: web.Request, session: aiohttp.ClientSession, *, named: str, places: Sequence[str]
    ) -> web.StreamResponse:
        """Only a process itself knows its id, and ids change; it answers 421 to what is meant for another one."""
        known = self._places.get(named)
        for place in sorted(places, key=lambda place: place != known):
            with contextlib.suppress(Misdirected, Unavailable):
                self._remember(named, place)
                return await forward(request, session, place)
        self._places.pop(named, None)
        raise Refused(Reason.PROCESS_UNKNOWN)

    def _remember(self, named: str, place: str) -> None:
        if len(self._places) >= PLACES_REMEMBERED_MAX:
            self._places.clear()
        self._places[named] = place

    async def missing(self, session: aiohttp.ClientSession) -> list[str]:
        """What is missing in any process."""
        return [
            f"{name}: {thing}"
            for name, base_url in self._named_places()
            for thing in await origin.ask_missing(session, base_url)
        ]

    async def metrics(self, session: aiohttp.ClientSession) -> bytes:
        """What all processes have counted."""
        pages: dict[str, str] = {}
        for name, base_url in self._named_places():
            # One that doesn't answer must not hide what the others have counted.
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(f"{base_url}/metrics", timeout=origin.ASKING) as answered:
                    pages[name] = await answered.text()
        return render({name: parsed(page) for name, page in pages.items()})

    def _named_places(self) -> list[tuple[str, str]]:
        """A service with several processes gets a number behind its name."""
        return [
            (f"{service}-{number}" if len(base_urls) > 1 else service, base_url)
            for service, base_urls in self._base_urls.items()
            for number, base_url in enumerate(base_urls, 1)
        ]
