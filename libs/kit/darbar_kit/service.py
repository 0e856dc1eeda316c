"""How a service starts and stops. Open this when one doesn't end on SIGTERM."""

import asyncio
import signal
from collections.abc import Callable
from typing import TypeVar

import structlog
import uvloop
from aiohttp import web

# Requests in flight get this long after SIGTERM; Kubernetes kills after 30 s.
SHUTDOWN_SECONDS = 10.0
BACKLOG = 1024

_Settings = TypeVar("_Settings")
_log = structlog.get_logger()


def run(build_app: Callable[[_Settings], web.Application], settings: _Settings, *, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT."""
    uvloop.run(_serve(build_app(settings), host=host, port=port))


async def _serve(app: web.Application, *, host: str, port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    runner = await listen(app, host=host, port=port)
    try:
        _log.info("service_started", host=host, port=port)
        await stop.wait()
    finally:
        await runner.cleanup()
        _log.info("service_stopped")


async def listen(app: web.Application, *, host: str, port: int) -> web.AppRunner:
    """Starts the app and its port; the caller cleans the runner up. Nothing stays half-started when this raises."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, handle_signals=False)
    try:
        await runner.setup()
        await web.TCPSite(runner, host, port, backlog=BACKLOG, reuse_address=True).start()
    except BaseException:
        await runner.cleanup()
        raise
    return runner
