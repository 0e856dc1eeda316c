"""`darbar up`, from nothing to an address. Open this to see in which order things start and stop."""

from collections.abc import Mapping
from contextlib import AsyncExitStack, closing
from ipaddress import ip_address
from pathlib import Path

import msgspec

from darbar_kit.service import settle
from darbar_local.child_processes import stop_left_over
from darbar_local.console import print_line
from darbar_local.data_dir import DataDir, opened
from darbar_local.exit_codes import ExitCode, Failure, failures_told
from darbar_local.gateway.certificate import certificate_for
from darbar_local.gateway.network import Network, tell_others
from darbar_local.gateway.public_port import PublicPort, address_in_network, reserved
from darbar_local.gateway.web_client import INDEX
from darbar_local.restarts import Restarts
from darbar_local.servers import Servers, prepare_databases, start_servers
from darbar_local.settings import GivenServers
from darbar_local.starting import ServicesHere, counts, start_one_process, start_processes
from darbar_local.wiring import Wiring

# Where the demo looks without being told.
DEMO_URL = "http://127.0.0.1:8080"
EVERY_HOST = "0.0.0.0"
_ANY_HOST = frozenset({EVERY_HOST, "::", ""})  # Not bound here: only told from other names.


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line and the environment say. `tables` and `copies` count with `processes` only."""

    data: Path
    web_folder: Path
    host: str
    port: int
    lan: bool
    tls_port: int | None
    """None: without TLS."""
    processes: bool
    tables: int
    copies: int
    unsafe_storage: bool
    ready_seconds_max: float
    given: GivenServers
    environ: Mapping[str, str]


async def up(options: Options) -> None:
    """Runs until it is cancelled. Raises Failure when something can't start; what ends later is started again."""
    with closing(_reserved(options)) as public, opened(options.data) as folder:
        network = _network(options, public, folder)
        print_line(f"Darbar starts, with its data in {options.data}")
        async with AsyncExitStack() as stack:
            await _tidy_up(folder)
            servers = await start_servers(
                folder, options.given, environ=options.environ, unsafe=options.unsafe_storage, stack=stack
            )
            wiring = await _wire(options, folder, servers, public=public, network=network)
            restarts = Restarts()
            if options.processes:
                services = await start_processes(
                    wiring,
                    restarts,
                    folder=folder,
                    public=public,
                    counts=counts(tables=options.tables, copies=options.copies),
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
            _tell_what_next(wiring, options, network)
            await restarts.watch({**servers.started, **services})


def _reserved(options: Options) -> PublicPort:
    """The ports first: to find one taken after everything has started would be a waste."""
    secure = (EVERY_HOST, options.tls_port) if options.lan and options.tls_port is not None else None
    # With TLS beside it the plain one is for this machine alone: the demo looks there.
    host = EVERY_HOST if options.lan and secure is None else options.host
    with failures_told():
        return reserved(host, options.port, secure=secure)


def _network(options: Options, public: PublicPort, folder: DataDir) -> Network | None:
    """Where others reach this machine, when they shall. Raises Failure when it is in no network."""
    if not options.lan:
        return None
    address = address_in_network()
    if address is None:
        raise Failure(ExitCode.SETTINGS_WRONG, "--lan: this machine is in no network")
    if public.secure is None:
        return Network(url=f"http://{address}:{public.address[1]}")
    public.context, fingerprint = certificate_for(address, folder.path / "certificate.pem")
    return Network(url=f"https://{address}:{public.secure.getsockname()[1]}", fingerprint=fingerprint)


async def _tidy_up(folder: DataDir) -> None:
    for name in await stop_left_over(folder.running):
        print_line(f"  Stopped {name}, left behind by a start that was killed")


async def _wire(
    options: Options, folder: DataDir, servers: Servers, *, public: PublicPort, network: Network | None
) -> Wiring:
    address, port = public.address
    host = "127.0.0.1" if options.host in _ANY_HOST else options.host
    own_url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    return Wiring(
        databases=await prepare_databases(servers.database_admin_url, folder),
        nats_urls=servers.nats_urls,
        token_private_key=folder.token_key(),
        ticket_key=folder.password("voice_notes"),
        generation=folder.generation,
        own_url=own_url,
        public_url=own_url if network is None else network.url,
        unsafe_storage=options.unsafe_storage,
        ready_seconds_max=options.ready_seconds_max,
        behind_gateway=options.processes,
        is_private=network is None and ip_address(address).is_loopback,
    )


def _tell_what_next(wiring: Wiring, options: Options, network: Network | None) -> None:
    url = wiring.own_url
    print_line()
    print_line(f"Darbar is ready at {url}")
    if (options.web_folder / INDEX).is_file():
        print_line(f"  play in a browser:                {url}")
    print_line(f"  play a game in another terminal:  make demo{'' if url == DEMO_URL else f' URL={url}'}")
    print_line(f"  see which games there are:        curl {url}/v1/games")
    print_line(f"  stop:                             Ctrl-C (the data stays in {options.data})")
    if network is not None:
        tell_others(network)
    if not wiring.is_private:
        print_line("  Others can reach it too: limits by address are those of production; see docs/operations.md")
    print_line()
