"""Starts the services: in this process, or each in its own. Open this when one starts too early or stops too late."""

import asyncio
import errno
import socket
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager

import aiohttp
import asyncpg
import structlog
from aiohttp import web

from darbar_kit.bus import ServerTooOld
from darbar_kit.database import StorageUnsafe
from darbar_kit.embedded.kept import any_port
from darbar_kit.errors import Unavailable
from darbar_kit.service import CannotListen, listen
from darbar_kit.settings import SettingsInvalid
from darbar_local.child_processes import HOST, Child
from darbar_local.console import print_error, step
from darbar_local.data_dir import DataDir
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.gateway import origin
from darbar_local.gateway.many_processes import build_gateway
from darbar_local.gateway.one_process import build_root
from darbar_local.servers import Running
from darbar_local.services import ALL
from darbar_local.wiring import Wiring, variables

# Services finish requests and hand over what they own; after this the servers stop whatever they do.
CLEANUP_SECONDS_MAX = 30.0
READY_POLL_SECONDS = 0.05

_log = structlog.get_logger()


async def start_one_process(
    wiring: Wiring, *, public: socket.socket, environ: Mapping[str, str], stack: AsyncExitStack
) -> Mapping[str, Running]:
    """All services in this process; there is no other one to watch."""
    host, port = public.getsockname()[:2]
    with step("Services started in this process"), failures_told():
        apps = {
            service.name: service.build_app(
                service.settings(variables(service, wiring, address=f"{host}:{port}", given=environ))
            )
            for service in ALL
        }
        stack.push_async_callback(_clean_up, await listen(build_root(apps), public))
        async with aiohttp.ClientSession() as session:
            await _until_ready(
                lambda: origin.ask_missing(session, wiring.public_url), seconds_max=wiring.ready_seconds_max
            )
    return {}


async def start_processes(
    wiring: Wiring,
    folder: DataDir,
    *,
    public: socket.socket,
    tables: int,
    environ: Mapping[str, str],
    stack: AsyncExitStack,
) -> Mapping[str, Running]:
    """Each service in a process of its own, the table service in `tables`; then the gateway that leads to them."""
    children = _children(folder, tables=tables)
    with step(f"{len(children)} service processes started"):
        # Stopped at the same moment: each may need another one to finish.
        stack.push_async_callback(_stop_all, children)
        for child in children:
            child.start({**environ, **variables(child.service, wiring, address=child.address, given=environ)})
        async with aiohttp.ClientSession() as session:
            await _until_ready(lambda: _missing_in(children, session), seconds_max=wiring.ready_seconds_max)
    base_urls: dict[str, list[str]] = {}
    for child in children:
        base_urls.setdefault(child.service.name, []).append(child.base_url)
    stack.push_async_callback(_clean_up, await listen(build_gateway(base_urls), public))
    return {child.name: child for child in children}


async def _missing_in(children: list[Child], session: aiohttp.ClientSession) -> list[str]:
    return [thing for child in children for thing in await child.missing(session)]


async def _until_ready(ask: Callable[[], Awaitable[list[str]]], *, seconds_max: float) -> None:
    end = time.monotonic() + seconds_max
    while missing := await ask():
        if time.monotonic() > end:
            raise Failure(
                ExitCode.SERVICE_FAILED,
                f"not ready after {seconds_max:g} s (DARBAR_READY_SECONDS_MAX): {', '.join(missing)} is missing",
            )
        await asyncio.sleep(READY_POLL_SECONDS)


def _children(folder: DataDir, *, tables: int) -> list[Child]:
    names = [
        (f"{service.name}-{number}" if service.name == "table" else service.name, service)
        for service in ALL
        for number in range(1, (tables if service.name == "table" else 1) + 1)
    ]
    return [Child(name, service, port=any_port(HOST), folder=folder.running) for name, service in names]


async def _stop_all(children: list[Child]) -> None:
    await asyncio.gather(*(child.stop() for child in children))


async def _clean_up(runner: web.AppRunner) -> None:
    try:
        async with asyncio.timeout(CLEANUP_SECONDS_MAX):
            await runner.cleanup()
    except TimeoutError:
        print_error(f"services took longer than {CLEANUP_SECONDS_MAX:.0f} s to stop and were left")
    except Exception:  # noqa: BLE001  # The outermost end of the services: the servers are stopped whatever went wrong.
        _log.exception("cleanup_failed")


@contextmanager
def failures_told() -> Iterator[None]:
    """What a person can mend becomes one line; anything else is a bug and keeps its traceback."""
    try:
        yield
    except SettingsInvalid as error:
        raise Failure(ExitCode.SETTINGS_WRONG, "; ".join(error.problems)) from error
    except (Unavailable, StorageUnsafe, ServerTooOld, asyncpg.PostgresError) as error:
        raise Failure(ExitCode.SERVICE_FAILED, f"a service can't start: {error}") from error
    except CannotListen as error:
        raise _not_listening(error) from error
    except OSError as error:
        raise Failure(ExitCode.SERVICE_FAILED, f"a service can't start: {error}") from error


def _not_listening(error: CannotListen) -> Failure:
    match error.errno:
        case errno.EADDRINUSE:
            return Failure(
                ExitCode.PORT_TAKEN, f"{error.strerror}; stop what uses it, or choose another one with --port"
            )
        case errno.EACCES:
            return Failure(ExitCode.SETTINGS_WRONG, f"{error.strerror}; choose a --port above 1023")
        case _:
            return Failure(ExitCode.SETTINGS_WRONG, f"{error.strerror}; --host must be an address of this machine")
