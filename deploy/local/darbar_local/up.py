"""`darbar up`, from nothing to an address. Open this to see in which order things start and stop."""

import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from ipaddress import ip_address
from pathlib import Path

import msgspec

from darbar_kit.service import reserve, settle
from darbar_local.child_processes import stop_left_over
from darbar_local.console import print_line
from darbar_local.data_dir import DataDir, opened
from darbar_local.exit_codes import failures_told
from darbar_local.gateway.web_client import INDEX
from darbar_local.restarts import Restarts
from darbar_local.servers import Servers, prepare_databases, start_servers
from darbar_local.settings import GivenServers
from darbar_local.starting import ServicesHere, start_one_process, start_processes
from darbar_local.wiring import Wiring

# Where the demo looks without being told.
DEMO_URL = "http://127.0.0.1:8080"
_ANY_HOST = frozenset({"0.0.0.0", "::", ""})  # Not bound here: only told from other names.


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line and the environment say. `tables` counts with `processes` only."""

    data: Path
    web_folder: Path
    host: str
    port: int
    processes: bool
    tables: int
    unsafe_storage: bool
    ready_seconds_max: float
    given: GivenServers
    environ: Mapping[str, str]


async def up(options: Options) -> None:
    """Runs until it is cancelled. Raises Failure when something can't start; what ends later is started again."""
    with _reserved(options) as public, opened(options.data) as folder:
        print_line(f"Darbar starts, with its data in {options.data}")
        async with AsyncExitStack() as stack:
            await _tidy_up(folder)
            servers = await start_servers(
                folder, options.given, environ=options.environ, unsafe=options.unsafe_storage, stack=stack
            )
            wiring = await _wire(options, folder, servers, public=public)
            restarts = Restarts()
            if options.processes:
                services = await start_processes(
                    wiring,
                    restarts,
                    folder=folder,
                    public=public,
                    tables=options.tables,
                    environ=options.environ,
                    web_folder=options.web_folder,
                    stack=stack,
                )
            else:
                here = ServicesHere(
                    wiring, restarts, public=public, environ=options.environ, web_folder=options.web_folder
                )
                services = await start_one_process(here, stack=stack)
            settle()
            _tell_what_next(wiring, options)
            await restarts.watch({**servers.started, **services})


def _reserved(options: Options) -> socket.socket:
    """The port first: to find it taken after everything has started would be a waste."""
    with failures_told():
        return reserve(options.host, options.port)


async def _tidy_up(folder: DataDir) -> None:
    for name in await stop_left_over(folder.running):
        print_line(f"  Stopped {name}, left behind by a start that was killed")


async def _wire(options: Options, folder: DataDir, servers: Servers, *, public: socket.socket) -> Wiring:
    address, port = public.getsockname()[:2]
    host = "127.0.0.1" if options.host in _ANY_HOST else options.host
    return Wiring(
        databases=await prepare_databases(servers.database_admin_url, folder),
        nats_urls=servers.nats_urls,
        token_private_key=folder.token_key(),
        ticket_key=folder.password("voice_notes"),
        public_url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
        unsafe_storage=options.unsafe_storage,
        ready_seconds_max=options.ready_seconds_max,
        behind_gateway=options.processes,
        is_private=ip_address(address).is_loopback,
    )


def _tell_what_next(wiring: Wiring, options: Options) -> None:
    url = wiring.public_url
    print_line()
    print_line(f"Darbar is ready at {url}")
    if (options.web_folder / INDEX).is_file():
        print_line(f"  play in a browser:                {url}")
    print_line(f"  play a game in another terminal:  make demo{'' if url == DEMO_URL else f' URL={url}'}")
    print_line(f"  see which games there are:        curl {url}/v1/games")
    print_line(f"  stop:                             Ctrl-C (the data stays in {options.data})")
    if not wiring.is_private:
        print_line("  Others can reach it too: limits by address are those of production; see docs/operations.md")
    print_line()
