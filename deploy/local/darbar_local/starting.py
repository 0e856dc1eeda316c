"""Starts the services: in this process, or each in its own. Open this when one starts too early or stops too late."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import structlog
from aiohttp import web

from darbar_kit.embedded.kept import any_port
from darbar_kit.service import clean_up
from darbar_local.child_processes import HOST, Child
from darbar_local.console import print_error, step
from darbar_local.data_dir import DataDir
from darbar_local.exit_codes import ExitCode, Failure, failures_told
from darbar_local.gateway import origin
from darbar_local.gateway.many_processes import build_gateway
from darbar_local.gateway.one_process import build_root
from darbar_local.gateway.public_port import PublicPort
from darbar_local.restarts import Restartable, Restarts, until_failing
from darbar_local.services import ALL
from darbar_local.wiring import Wiring, variables

# Services finish requests and hand over what they own; after this the servers stop whatever they do.
CLEANUP_SECONDS_MAX = 30.0
READY_POLL_SECONDS = 0.05
TABLE = "table"

_log = structlog.get_logger()


class ServicesHere:
    """All services in this process, on the public port."""

    def __init__(
        self,
        wiring: Wiring,
        restarts: Restarts,
        *,
        public: PublicPort,
        environ: Mapping[str, str],
        web_folder: Path,
    ) -> None:
        self._wiring = wiring
        self._restarts = restarts
        self._public = public
        self._environ = environ
        self._web_folder = web_folder
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Until they are ready. Raises Failure."""
        with failures_told():
            host, port = self._public.address
            apps = {
                service.name: service.build_app(
                    service.settings(variables(service, self._wiring, address=f"{host}:{port}", given=self._environ))
                )
                for service in ALL
            }
            self._runner = await self._public.listen(build_root(apps, self._restarts, self._web_folder))
            async with aiohttp.ClientSession() as session:
                await _until_ready(
                    lambda: origin.ask_missing(session, self._wiring.own_url),
                    seconds_max=self._wiring.ready_seconds_max,
                )

    async def start_again(self) -> None:
        """After they were lost. Whether they are ready is told by /readyz."""
        await self.stop()
        await self.start()

    async def until_lost(self) -> str:
        """Waits until one says that only a new start helps it."""
        reason = await until_failing(self._wiring.own_url, has_ended=lambda: False)
        await self.stop()
        return reason

    async def stop(self) -> None:
        """Lets them finish what they do."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            await _clean_up(runner)


async def start_one_process(services: ServicesHere, *, stack: AsyncExitStack) -> Mapping[str, Restartable]:
    """All services in this process."""
    stack.push_async_callback(services.stop)
    with step("Services started in this process"):
        await services.start()
    return {"services": services}


def counts(*, tables: int, copies: int) -> Mapping[str, int]:
    """How many processes of each service: `tables` of the table service, `copies` of every other."""
    return {service.name: tables if service.name == TABLE else copies for service in ALL}


async def start_processes(
    wiring: Wiring,
    restarts: Restarts,
    *,
    folder: DataDir,
    public: PublicPort,
    counts: Mapping[str, int],
    environ: Mapping[str, str],
    web_folder: Path,
    stack: AsyncExitStack,
) -> Mapping[str, Restartable]:
    """Each service in so many processes of its own; then the gateway that leads to them."""
    children = _children(folder, counts)
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
    stack.push_async_callback(_clean_up, await public.listen(build_gateway(base_urls, restarts, web_folder)))
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


def _children(folder: DataDir, counts: Mapping[str, int]) -> list[Child]:
    return [
        Child(service.name if only else f"{service.name}-{number}", service, port=any_port(HOST), folder=folder.running)
        for service in ALL
        for only in (counts[service.name] == 1 and service.name != TABLE,)
        for number in range(1, counts[service.name] + 1)
    ]


async def _stop_all(children: list[Child]) -> None:
    await asyncio.gather(*(child.stop() for child in children))


async def _clean_up(runner: web.AppRunner) -> None:
    try:
        async with asyncio.timeout(CLEANUP_SECONDS_MAX):
            await clean_up(runner)
    except TimeoutError:
        print_error(f"services took longer than {CLEANUP_SECONDS_MAX:.0f} s to stop and were left")
    except Exception:  # noqa: BLE001  # The outermost end of the services: the servers are stopped whatever went wrong.
        _log.exception("cleanup_failed")
