"""How a service starts and stops. Open this when one doesn't end on SIGTERM."""

import asyncio
import errno
import gc
import logging
import signal
import socket
from collections.abc import Callable
from typing import TypeVar

import structlog
import uvloop
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.web_app import CleanupError

from darbar_kit.database.away import away_of
from darbar_kit.supervisor import is_outage

# Requests in flight get this long after SIGTERM; Kubernetes kills after 30 s.
SHUTDOWN_SECONDS = 10.0
# A connection on which no request is complete by then is closed, also when its headers come byte by byte. Longer than
# proxies keep an idle connection, so that they do not meet a closed one.
IDLE_SECONDS_MAX = 75.0
# What is left of a body after its request has been answered is read for so long, then the connection ends.
LINGER_SECONDS_MAX = 2.0
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
        await clean_up(runner)
        _log.info("service_stopped")


async def clean_up(runner: web.AppRunner) -> None:
    """Ends an app. What it could not finish because a server is away is told in a line; a fault of ours is raised."""
    try:
        await runner.cleanup()
    except Exception as error:
        causes = error.exceptions if isinstance(error, CleanupError) else [error]
        if all(is_outage(cause) or away_of(cause) is not None for cause in causes):
            _log.warning("cleanup_interrupted", reasons=[str(cause) for cause in causes])
            return
        raise


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
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_server_logger(),
        keepalive_timeout=IDLE_SECONDS_MAX,
        # `read_body` refuses encoded bodies: nobody makes us unpack a small one into a large one.
        auto_decompress=False,
        lingering_time=LINGER_SECONDS_MAX,
        shutdown_timeout=SHUTDOWN_SECONDS,
        handle_signals=False,
    )
    try:
        await runner.setup()
        await web.SockSite(runner, reserved, backlog=BACKLOG).start()
    except BaseException:
        await runner.cleanup()
        reserved.close()
        raise
    return runner


def _server_logger() -> logging.Logger:
    """The server's own log, without the tracebacks that only say that a client sent nonsense or hung up."""
    logger = logging.getLogger("aiohttp.server")
    logger.addFilter(is_our_fault)
    return logger


def is_our_fault(record: logging.LogRecord) -> bool:
    """Whether a line of the HTTP server is worth reading."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError)
