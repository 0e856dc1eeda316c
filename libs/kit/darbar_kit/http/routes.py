"""The routes that every service has: /healthz, /readyz, /metrics. Open this when a probe is told something untrue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest

from darbar_kit.http.answers import answer
from darbar_kit.metrics import CONTENT_TYPE
from darbar_kit.supervisor import Supervisor

# Whoever probes gives up about then.
READY_SECONDS_MAX = 2.0


def health_routes(
    ready: Callable[[], Awaitable[list[str]]], supervisor: Supervisor | None = None
) -> list[web.RouteDef]:
    """/readyz tells what `ready` and the supervisor miss; /healthz which task only a new process can bring back."""

    async def healthz(_request: web.Request) -> web.Response:
        dead = supervisor.not_healthy() if supervisor is not None else []
        return answer({"status": "failing", "missing": dead}, 503) if dead else answer({"status": "alive"})

    async def readyz(_request: web.Request) -> web.Response:
        missing = await _missing(ready)
        if supervisor is not None:
            missing = [*missing, *supervisor.not_ready()]
        return answer({"status": "waiting" if missing else "ready", "missing": missing}, 503 if missing else 200)

    return [web.get("/healthz", healthz), web.get("/readyz", readyz)]


async def _missing(ready: Callable[[], Awaitable[list[str]]]) -> list[str]:
    """What `ready` says; who asks for readiness is never kept waiting by what is not ready."""
    try:
        async with asyncio.timeout(READY_SECONDS_MAX):
            return await ready()
    except TimeoutError:
        return ["an answer in time"]


def metrics_route(registry: CollectorRegistry) -> web.RouteDef:
    """Serves what this registry has counted."""

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE})

    return web.get("/metrics", metrics)
