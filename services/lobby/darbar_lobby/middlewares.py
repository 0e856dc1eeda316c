"""What holds for every request: its limits, other origins, counting. Open this about CORS."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from darbar_contracts.route import IDEMPOTENCY_KEY_HEADER
from darbar_kit.errors import Refused
from darbar_kit.http.client_address import ClientAddresses
from darbar_kit.limits import TooManyRequests
from darbar_lobby.domain.addresses import INVITE_PATH
from darbar_lobby.limits import Limits
from darbar_lobby.metrics import Metrics

PREFLIGHT_SECONDS = 600
# Not the probes and the metrics, which come from inside.
_LIMITED_PATHS = ("/v1/", f"{INVITE_PATH}/")
_METHODS = "GET, POST, PATCH, DELETE"
_HEADERS = f"Authorization, Content-Type, {IDEMPOTENCY_KEY_HEADER}"


class Middlewares:
    """Outermost first: counted, shared, limited (inside the kit's errors)."""

    def __init__(
        self, *, limits: Limits, metrics: Metrics, addresses: ClientAddresses, cors_origins: Sequence[str]
    ) -> None:
        self._limits = limits
        self._metrics = metrics
        self._addresses = addresses
        self._origins = frozenset(cors_origins)

    def around(self, errors: Middleware) -> list[Middleware]:
        return [
            _middleware(self._counted),
            _middleware(self._shared),
            errors,
            _middleware(self._limited),
        ]

    async def _counted(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        started = perf_counter()
        response = await handler(request)
        resource = request.match_info.route.resource
        route = resource.canonical if resource is not None else "unknown"
        self._metrics.requests.labels(route, _method(request), response.status).inc()
        self._metrics.request_seconds.labels(route).observe(perf_counter() - started)
        return response

    async def _shared(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pages of other origins may ask when the settings name them."""
        origin = request.headers.get("Origin", "")
        is_known = origin in self._origins
        if is_known and request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            response: web.StreamResponse = web.Response(status=204)
            response.headers["Access-Control-Allow-Methods"] = _METHODS
            response.headers["Access-Control-Allow-Headers"] = _HEADERS
            response.headers["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)
        else:
            response = await handler(request)
        if is_known:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = "Retry-After"
        if self._origins:
            response.headers["Vary"] = "Origin"
        return response

    async def _limited(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            if request.path.startswith(_LIMITED_PATHS):
                self._limits.by_address.take(self._addresses.of(request))
            response = await handler(request)
        except Refused as refused:
            self._metrics.refusals.labels(refused.code).inc()
            if isinstance(refused, TooManyRequests):
                self._metrics.limited.labels(refused.limit).inc()
            raise
        response.headers.setdefault("Cache-Control", "no-store")
        return response


def _method(request: web.Request) -> str:
    """Anybody may send any method: only the known ones become labels."""
    return request.method if request.method in ("GET", "POST", "PATCH", "DELETE", "OPTIONS", "HEAD") else "other"


def _middleware(inner: Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]) -> Middleware:
    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await inner(request, handler)

    return middleware
