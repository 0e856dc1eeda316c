"""The processes around one simulated table, and how each is started, stopped and killed.

What runs in them is the product: `build_app` of the table service and of the wallet, with the driver and the client of
NATS replaced. Players come in at the gateway, behind the socket.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec
from database_double import Server
from nats_double import Broker
from simulated_player import Notebook, SimulatedPlayer
from socket_double import SocketDouble
from tables_statements import TablesDatabase
from virtual_loop import Process, VirtualLoop
from wallet_statements import WalletDatabase

from darbar_contracts import subjects
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_contracts.frames import TableReason
from darbar_contracts.lobby import Maintenance, MaintenanceRequest, ShutOutsAnswer, ShutOutsRequest
from darbar_contracts.tables import CreateTable, Person, TableLook, TableTerms, WhereAnswer, WhereRequest
from darbar_contracts.wallet import GrantRequest, WalletAnswer
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.supervisor import Supervisor
from darbar_kit.tokens import new_private_key_pem, public_key_pem
from darbar_rules.games import BY_NAME
from darbar_table.app import SERVICE, Service
from darbar_table.app import build_app as build_table
from darbar_table.settings import Settings as TableSettings
from darbar_table.shards import placement
from darbar_wallet.app import SUPERVISOR
from darbar_wallet.app import build_app as build_wallet
from darbar_wallet.settings import Settings as WalletSettings

TABLES_URL, WALLET_URL, NATS_URL = "postgresql://tables", "postgresql://wallet", "nats://bus"
PUBLIC_KEY = public_key_pem(new_private_key_pem())  # Nobody shows a token here.
# An operator's machine starts again what has ended.
RESTART_SECONDS = 0.5
ASKED_AGAIN_SECONDS = 0.2
ASK_SECONDS_MAX = 2.0
# Reading the whole ledger through is SQL; `tests` of the wallet hold it to real servers. Dead connections are looked
# for among WebSockets, and there are none.
NOT_SIMULATED = ("auditor", "tables_auditor", "sockets")


class ServiceProcess:
    """A process of the product under an operator's eye."""

    def __init__(self, company: Company, name: str) -> None:
        self.company = company
        self.name = name
        self.process = Process(name)
        self.is_up = False
        self.sockets: list[SocketDouble] = []
        self._stopping: asyncio.Event | None = None

    def start(self) -> None:
        loop = self.company.loop
        self.process = loop.add(Process(self.name))
        self.process.skew_seconds = self.company.skews.get(self.name, 0.0)
        loop.spawn(self.process, self._run())

    def crash(self, *, down_seconds: float) -> None:
        """kill -9."""
        company, loop = self.company, self.company.loop
        if self.process.is_dead:
            return
        company.tell(f"{self.name} dies, for {down_seconds:.2f} s")
        loop.kill(self.process)
        self.is_up = False
        company.server.forget(self.process)
        company.broker.forget(self.process)
        sockets, self.sockets = self.sockets, []
        for socket in sockets:
            socket.broken()
        loop.call_in(loop.world, loop.now + down_seconds, self.start)

    def stop(self) -> None:
        """SIGTERM."""
        if self._stopping is not None and not self.process.is_dead:
            self.company.tell(f"{self.name} is told to stop")
            loop = self.company.loop
            loop.call_in(self.process, loop.now, self._stopping.set)

    def stall(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        self.company.tell(f"{self.name} stands still for {seconds:.2f} s")
        self.process.awake_at = self.company.loop.now + seconds

    async def _run(self) -> None:
        self._stopping = asyncio.Event()
        begun: list[Any] = []
        try:
            for part in self._parts():
                begun.append(part)
                await anext(part)
            self.is_up = True
            await self._stopping.wait()
            self.is_up = False
            await self._before_end()
        except Unavailable as away:
            self.company.tell(f"{self.name} could not start: {away.message}")
        finally:
            for part in reversed(begun):
                with suppress(StopAsyncIteration, Unavailable):
                    await anext(part)
        loop = self.company.loop
        loop.call_in(loop.world, loop.now, self._ended, self.process)

    def _ended(self, process: Process) -> None:
        # At the end of a history everybody ends, and nobody is started again.
        if process is self.process and not self.company.loop.is_over:
            self.crash(down_seconds=RESTART_SECONDS)

    def _parts(self) -> list[Any]:
        raise NotImplementedError

    async def _before_end(self) -> None:
        raise NotImplementedError


class TableProcess(ServiceProcess):
    service: Service

    def _parts(self) -> list[Any]:
        app = build_table(self.company.table_settings(self.name))
        service = self.service = app[SERVICE]
        _watch_what_is_simulated(service.supervisor)
        return [service.open(app), service.supervisor.context(app), service.start(app)]

    async def _before_end(self) -> None:
        await self.service.stop(None)  # type: ignore[arg-type]  # It does not look at it.

    @property
    def process_id(self) -> str | None:
        return None if not self.is_up or self.service.node is None else self.service.node.process_id


class WalletProcess(ServiceProcess):
    def _parts(self) -> list[Any]:
        app = self._app = build_wallet(self.company.wallet_settings())
        _watch_what_is_simulated(app[SUPERVISOR])
        return [context(app) for context in app.cleanup_ctx]

    async def _before_end(self) -> None:
        for stop in self._app.on_shutdown:
            await stop(self._app)


def _watch_what_is_simulated(supervisor: Supervisor) -> None:
    watch = supervisor.watch

    def watch_simulated(name: str, work: Any, **how: Any) -> None:
        if name not in NOT_SIMULATED:
            watch(name, work, **how)

    supervisor.watch = watch_simulated  # type: ignore[method-assign]
    for name in NOT_SIMULATED:
        supervisor._watched.pop(name, None)


class Company:
    """Two table processes, a wallet or two, the lobby, the players, and the servers below them."""

    def __init__(self, seed: int, loop: VirtualLoop, *, game: str, options: dict[str, Any], seats: int) -> None:
        self.loop = loop
        self.rules = BY_NAME[game]
        self.dice = random.Random(f"company {seed}")
        self.table_id = UUID(bytes=self.dice.randbytes(16), version=4)
        self.terms = TableTerms(game, options, seats, 100, 5, "public", "normal")
        self.tables = TablesDatabase(placement.SHARDS, placement.shard_of)
        self.wallet = WalletDatabase()
        self.server = Server(loop, {TABLES_URL: self.tables, WALLET_URL: self.wallet})
        self.broker = Broker(loop)
        self.clients = loop.add(Process("clients"))
        self.lobby = loop.add(Process("lobby"))
        self.notebook = Notebook()
        self.story: list[str] = []
        self.skews: dict[str, float] = {}
        self.settings: dict[str, Any] = {}
        self.table_processes: list[TableProcess] = [TableProcess(self, "t1"), TableProcess(self, "t2")]
        self.wallets: list[WalletProcess] = [WalletProcess(self, "wallet")]
        self.players: list[SimulatedPlayer] = []
        self.is_created = False

    def begin(self) -> None:
        for process in (*self.table_processes, *self.wallets):
            process.start()
        self.loop.spawn(self.lobby, self._serve_lobby())

    def tell(self, what: str) -> None:
        """For whoever reads a history that has failed."""
        self.story.append(f"{self.loop.now:9.4f} {what}")

    def line_seconds(self) -> float:
        """From a player to a process, or back."""
        return 0.001 + 0.004 * self.dice.random()

    def table_settings(self, name: str) -> TableSettings:
        return TableSettings(
            database_url=TABLES_URL,
            nats_url=NATS_URL,
            token_public_key=PUBLIC_KEY,
            process_name=name,
            unsafe_storage=True,
            **{
                "count_in_seconds": 0.4,
                "seeds_open_seconds": 0.2,
                "bot_pause_seconds_min": 0.0,
                "bot_pause_seconds_max": 0.0,
                "offline_grace_seconds": 1.0,
                "present_after_load_seconds": 2.0,
                "keep_in_game_seconds": 4.0,
                "keep_before_game_seconds": 3.0,
                "sitting_pause_seconds": 1.0,
                "vote_seconds": 2.0,
                "vote_pause_seconds": 1.0,
                **self.settings,
            },
        )

    def wallet_settings(self) -> WalletSettings:
        return WalletSettings(
            database_url=WALLET_URL, nats_url=NATS_URL, token_public_key=PUBLIC_KEY, unsafe_storage=True
        )

    def is_stored(self, version: int) -> bool:
        """Whether this version of the table is committed now."""
        return version in self.tables.versions.get(self.table_id, ())

    def has_told_everything(self) -> bool:
        """Whether each milestone that is still kept is in the stream."""
        kept = {one.message_id for one in self.broker.stream}
        return all(f"1:{table_id}:{number}" in kept for table_id, number in self.tables.outbox)

    def owner(self) -> TableProcess | None:
        """Which of the processes owns the table."""
        owner = self.tables.owners[placement.shard_of(self.table_id)]
        return next((one for one in self.table_processes if owner is not None and one.process_id == owner), None)

    def open_socket(self, player: SimulatedPlayer, process_id: str | None) -> SocketDouble | None:
        """At the process that was named, else at one drawn by the player; None when it does not listen."""
        listening = [one for one in self.table_processes if one.is_up and one.service.socket_handler is not None]
        named = [one for one in listening if one.process_id == process_id]
        at = (named or [player.dice.choice(self.table_processes)])[0]
        return SocketDouble(player, at) if at in listening else None

    # The lobby, and bots.

    async def _serve_lobby(self) -> None:
        bus = await self._connected()
        await bus.serve(subjects.LOBBY_MAINTENANCE, MaintenanceRequest, self._maintenance)
        await bus.serve(subjects.LOBBY_SHUT_OUTS, ShutOutsRequest, self._shut_outs)
        await bus.serve(subjects.BOT_DECIDE, BotRequest, self._decide)
        grants = [
            GrantRequest(f"grant-{number}", player.person.account_id, "new_account")
            for number, player in enumerate(self.players)
        ]
        await asyncio.gather(
            *(self._until_answered(bus, subjects.WALLET_GRANT, grant, WalletAnswer) for grant in grants)
        )
        await self._create(bus)
        self.is_created = True
        self.tell("the table is there")
        for player in self.players:
            player.connect()

    async def _connected(self) -> Bus:
        while True:
            try:
                return await Bus.connect(NATS_URL, name="lobby")
            except Unavailable:
                await self.loop.pass_time(ASKED_AGAIN_SECONDS)

    async def _create(self, bus: Bus) -> None:
        request = CreateTable(str(self.table_id), self.terms, self.players[0].person)
        while True:
            try:
                where = await bus.request(
                    subjects.TABLE_WHERE, WhereRequest(request.table_id), WhereAnswer, timeout_seconds=ASK_SECONDS_MAX
                )
                if where.process_id is not None:
                    subject = subjects.table_create(where.process_id)
                    await bus.request(subject, request, TableLook, timeout_seconds=ASK_SECONDS_MAX)
                    return
            except Refused as refusal:
                if refusal.code not in (TableReason.NOT_OWNER, TableReason.UNAVAILABLE):
                    raise
            except Unavailable:
                pass
            await self.loop.pass_time(ASKED_AGAIN_SECONDS)

    async def _until_answered(self, bus: Bus, subject: str, request: msgspec.Struct, answer_type: Any) -> Any:
        while True:
            try:
                return await bus.request(subject, request, answer_type, timeout_seconds=ASK_SECONDS_MAX)
            except Unavailable:
                await self.loop.pass_time(ASKED_AGAIN_SECONDS)

    async def _maintenance(self, _request: MaintenanceRequest) -> Maintenance:
        return Maintenance(0, None, draining=False)

    async def _shut_outs(self, _request: ShutOutsRequest) -> ShutOutsAnswer:
        return ShutOutsAnswer((), more=False)

    async def _decide(self, request: BotRequest) -> BotAnswer:
        """As a bot whose strength nobody minds: what is decided for a seat whose time is up."""
        rules = BY_NAME[request.game]
        decision = rules.fallback(msgspec.json.decode(request.view, type=rules.view_type))
        kind = next(name for name, known in rules.decisions.items() if known is type(decision))
        return BotAnswer(kind, msgspec.Raw(msgspec.json.encode(decision)))


def person(name: str) -> Person:
    return Person(name, name.title(), "fox")
