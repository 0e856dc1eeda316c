"""`darbar up`, from nothing to an address. Open this to see in which order things start and stop."""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from darbar_kit.service import reserve, settle
from darbar_local.child_processes import stop_left_over
from darbar_local.console import print_line
from darbar_local.data_dir import DataDir, opened
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.servers import GivenServers, Running, Servers, prepare_databases, start_servers
from darbar_local.starting import start_one_process, start_processes
from darbar_local.wiring import Wiring

WATCH_SECONDS = 0.1
_ANY_HOST = frozenset({"0.0.0.0", "::", ""})  # Not bound here: only told from other names.


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line and the environment say. `tables` counts with `processes` only."""

    data: Path
    host: str
    port: int
    processes: bool
    tables: int
    unsafe_storage: bool
    ready_seconds_max: float
    given: GivenServers
    environ: Mapping[str, str]


async def up(options: Options) -> None:
    """Runs until it is cancelled. Raises Failure when something can't start or ends by itself."""
    with _reserved(options) as public, opened(options.data) as folder:
        print_line(f"Darbar starts, with its data in {options.data}")
        async with AsyncExitStack() as stack:
            await _tidy_up(folder)
            servers = await start_servers(folder, options.given, unsafe=options.unsafe_storage, stack=stack)
            wiring = await _wire(options, folder, servers, port=public.getsockname()[1])
            if options.processes:
                services = await start_processes(
                    wiring, folder, public=public, tables=options.tables, environ=options.environ, stack=stack
                )
            else:
                services = await start_one_process(wiring, public=public, environ=options.environ, stack=stack)
            settle()
            _tell_what_next(wiring.public_url, options.data)
            await _watch({**servers.running, **services})


def _reserved(options: Options) -> socket.socket:
    """The port first: to find it taken after everything has started would be a waste."""
    try:
        return reserve(options.host, options.port)
    except OSError as error:
        raise Failure(
            ExitCode.PORT_TAKEN,
            f"can't listen on {options.host}:{options.port} ({error.strerror}); "
            "stop what uses it, or choose another one with --port or DARBAR_PORT",
        ) from error


async def _tidy_up(folder: DataDir) -> None:
    for name in await stop_left_over(folder.running):
        print_line(f"  Stopped {name}, left behind by a start that was killed")


async def _wire(options: Options, folder: DataDir, servers: Servers, *, port: int) -> Wiring:
    host = "127.0.0.1" if options.host in _ANY_HOST else options.host
    return Wiring(
        databases=await prepare_databases(servers.database_admin_url, folder),
        nats_urls=servers.nats_urls,
        token_private_key=folder.token_key(),
        public_url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
        unsafe_storage=options.unsafe_storage,
        ready_seconds_max=options.ready_seconds_max,
        behind_gateway=options.processes,
    )


def _tell_what_next(url: str, data: Path) -> None:
    print_line()
    print_line(f"Darbar is ready at {url}")
    print_line("  play a game in another terminal:  make demo")
    print_line(f"  see which games there are:        curl {url}/v1/games")
    print_line(f"  stop:                             Ctrl-C (the data stays in {data})")
    print_line()


async def _watch(running: Mapping[str, Running]) -> None:
    while True:
        for name, process in running.items():
            if process.exit_code is not None:
                raise Failure(ExitCode.CHILD_ENDED, f"{name} has ended (exit code {process.exit_code}); stopping all")
        await asyncio.sleep(WATCH_SECONDS)
