"""How a service starts and stops. Open this when one doesn't end on SIGTERM."""

import asyncio
import errno
import gc
import signal
import socket
from collections.abc import Callable
from typing import TypeVar

import structlog
import uvloop
from aiohttp import web

# Requests in flight get this long after SIGTERM; Kubernetes kills after 30 s.
SHUTDOWN_SECONDS = 10.0
BACKLOG = 1024
# The default (700) looks through young objects every few moves and through the whole heap every few thousand, for
# cycles that hardly anything here makes; see `settle`.
ALLOCATIONS_BEFORE_COLLECTING = 20_000
YOUNG_COLLECTIONS_BEFORE_OLDER = 20

_Settings = TypeVar("_Settings")
_log = structlog.get_logger()


class CannotListen(OSError):
    """The port is taken (errno.EADDRINUSE), or the address is none of this machine's."""


def run(build_app: Callable[[_Settings], web.Application], settings: _Settings, *, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT."""
    uvloop.run(_serve(build_app(settings), host=host, port=port))


async def _serve(app: web.Application, *, host: str, port: int) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    runner = await listen(app, reserve(host, port))
    try:
        settle()
        _log.info("service_started", host=host, port=port)
        await stop.wait()
    finally:
        await runner.cleanup()
        _log.info("service_stopped")


def settle() -> None:
    """What lives after the start lives for ever: the collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_BEFORE_COLLECTING, YOUNG_COLLECTIONS_BEFORE_OLDER, YOUNG_COLLECTIONS_BEFORE_OLDER)


def reserve(host: str, port: int) -> socket.socket:
    """Takes a port before anything is started; who connects meanwhile waits. Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")  # What can't be a name is no address either; the next line would leave a socket open.
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except UnicodeError as error:
        raise CannotListen(errno.EINVAL, f"can't listen on {host}:{port} (not a name)") from error
    except OSError as error:
        # The error's own text also names the address, as Python writes it.
        reason = str(error).partition("] ")[2].partition(" (while")[0]
        raise CannotListen(error.errno or errno.EINVAL, f"can't listen on {host}:{port} ({reason})") from error


async def listen(app: web.Application, reserved: socket.socket) -> web.AppRunner:
    """Starts the app on its port; the caller cleans the runner up. Nothing stays half-started when this raises."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, handle_signals=False)
    try:
        await runner.setup()
        await web.SockSite(runner, reserved, backlog=BACKLOG).start()
    except BaseException:
        await runner.cleanup()
        reserved.close()
        raise
    return runner
