"""The table service and the wallet as the lobby sees them, and a lobby to ask. Open this to write a test."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import nats.errors
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from documented_answers import documented
from lobby_events import milestone_event

import darbar_lobby
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import (
    MILESTONE_CONSUMER,
    MILESTONE_STREAM,
    PERMISSIONS,
    TABLE_MILESTONES,
    TABLE_QUEUE,
    TABLE_WHERE,
    WALLET_GRANT,
    WALLET_QUEUE,
    milestone,
    table_create,
    table_leave_alone,
    table_look,
)
from darbar_contracts.tables import (
    CreateTable,
    LeaveAloneAnswer,
    LeaveAloneRequest,
    LookRequest,
    Milestone,
    MilestonesAnswer,
    MilestonesRequest,
    Person,
    TableLook,
    WhereAnswer,
    WhereRequest,
)
from darbar_contracts.wallet import GrantRequest, WalletAnswer
from darbar_kit.bus import Bus, Subscription, ensure_stream
from darbar_kit.embedded.nats import OPERATOR, NatsServer
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.testing import MakeDatabase, MakeNats, TestDatabase, eventually
from darbar_kit.tokens import new_private_key_pem
from darbar_lobby.app import CONSUMER as APP_CONSUMER
from darbar_lobby.app import build_app
from darbar_lobby.domain.table_look import sits_alone
from darbar_lobby.milestone_consumer import MILESTONES
from darbar_lobby.settings import Settings

MIGRATIONS = Path(darbar_lobby.__file__).parent / "migrations"
PROCESS = "table-1"
GRANT_COINS = 5000


class TableDouble:
    """Answers as the table service does, and tells milestones; what goes wrong is set by the test."""

    def __init__(self, bus: Bus, operator: Bus) -> None:
        self.bus = bus
        self._operator = operator
        self.tables: dict[str, TableLook] = {}
        self.asked: list[CreateTable] = []
        self.milestones: dict[str, list[Milestone]] = {}
        self.refusals: list[Refused | Unavailable] = []
        self.nowhere_times = 0
        self.looks_fail = False
        self.kept_out: set[tuple[str, str | None]] = set()
        self.stays = False
        self.gate = asyncio.Event()
        self.gate.set()
        self.milestones_fail = False
        self.free_by_table: dict[str, int] = {}

    async def start(self) -> None:
        await self.bus.serve(TABLE_WHERE, WhereRequest, self._where, queue=TABLE_QUEUE)
        await self.bus.serve(TABLE_MILESTONES, MilestonesRequest, self._milestones_after, queue=TABLE_QUEUE)
        await self.bus.serve(table_create(PROCESS), CreateTable, self._create)
        await self.bus.serve(table_look(PROCESS), LookRequest, self._look)
        await self.bus.serve(table_leave_alone(PROCESS), LeaveAloneRequest, self._leave_alone)
        await ensure_stream(self.bus.jetstream, MILESTONES)

    def seat(self, table_id: str, seat: int, person: Person | None, *, bot: bool = False) -> None:
        """Changes what a look says."""
        look = self.tables[table_id]
        seats = tuple(person if index == seat else held for index, held in enumerate(look.seats))
        bots = {*look.bots, seat} if bot else set(look.bots) - {seat}
        self.tables[table_id] = msgspec.structs.replace(look, seats=seats, bots=tuple(sorted(bots)))

    def note(self, table_id: str, kind: str, *, free_seats: int, **fields: Any) -> Milestone:
        """Stores the next milestone, as Postgres would, without telling anybody."""
        stored = self.milestones.setdefault(table_id, [])
        made = Milestone(
            generation=1,
            table_id=table_id,
            number=len(stored) + 1,
            at=datetime.now(UTC),
            free_seats=free_seats,
            event=milestone_event(kind, **fields),
        )
        stored.append(made)
        return made

    async def tell(self, *milestones: Milestone) -> None:
        """Publishes them, whatever their order."""
        for told in milestones:
            await self.bus.jetstream.publish(milestone(told.table_id), msgspec.json.encode(told))

    async def tell_raw(self, table_id: str, content: bytes) -> None:
        await self.bus.jetstream.publish(milestone(table_id), content)

    async def tell_if_it_can(self, *told: Milestone) -> None:
        with suppress(nats.errors.Error):
            await ensure_stream(self.bus.jetstream, MILESTONES)
            await self.tell(*told)

    async def waiting(self) -> int:
        """Messages that the lobby has not acknowledged."""
        consumer = await self._operator.jetstream.consumer_info(MILESTONE_STREAM, MILESTONE_CONSUMER)
        return (consumer.num_pending or 0) + (consumer.num_ack_pending or 0)

    async def lose_the_stream(self) -> None:
        """As if the bus had lost its disk."""
        await self._operator.jetstream.delete_stream(MILESTONE_STREAM)

    async def _where(self, _request: WhereRequest) -> WhereAnswer:
        if self.nowhere_times:
            self.nowhere_times -= 1
            return WhereAnswer(None)
        return WhereAnswer(PROCESS)

    async def _create(self, table: CreateTable) -> TableLook:
        self.asked.append(table)
        await self.gate.wait()
        if self.refusals:
            raise self.refusals.pop(0)
        if table.table_id not in self.tables:
            self.tables[table.table_id] = look_of(table)
            created = {"terms": table.terms, "host_account_id": table.host.account_id}
            self.note(table.table_id, "table_created", free_seats=table.terms.seats - 1, **created)
        return self.tables[table.table_id]

    async def _look(self, request: LookRequest) -> TableLook:
        if self.looks_fail:
            raise Unavailable("unavailable")
        if request.table_id not in self.tables:
            raise Refused(Reason.TABLE_UNKNOWN)
        keeps_out = (request.table_id, request.account_id) in self.kept_out
        return msgspec.structs.replace(self.tables[request.table_id], keeps_out=keeps_out)

    async def _leave_alone(self, request: LeaveAloneRequest) -> LeaveAloneAnswer:
        """Told as the table tells it: the seat is freed, and nobody being left, the table is closed."""
        look = self.tables.get(request.table_id)
        if look is None:
            return LeaveAloneAnswer(left=True)
        if self.stays or not sits_alone(look, request.account_id):
            return LeaveAloneAnswer(left=False)
        del self.tables[request.table_id]
        self.note(request.table_id, "seat_freed", free_seats=len(look.seats), seat=0, account_id=request.account_id)
        self.note(request.table_id, "table_closed", free_seats=0, reason="empty")
        return LeaveAloneAnswer(left=True)

    async def _milestones_after(self, request: MilestonesRequest) -> MilestonesAnswer:
        if self.milestones_fail:
            raise Unavailable("unavailable")
        if request.table_id not in self.milestones:
            raise Refused(Reason.TABLE_UNKNOWN)
        # Two at a time, so that whoever asks must ask again.
        later = self.milestones[request.table_id][request.after :]
        return MilestonesAnswer(tuple(later[:2]), more=len(later) > 2)


class WalletDouble:
    """Grants once for each key, while it is there."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._listening: Subscription | None = None
        self.asked: list[GrantRequest] = []
        self.balances: dict[str, int] = {}
        self.refusal: Reason | None = None

    async def start(self) -> None:
        self._listening = await self._bus.serve(WALLET_GRANT, GrantRequest, self._grant, queue=WALLET_QUEUE)

    async def go_away(self) -> None:
        assert self._listening is not None
        await self._listening.stop()
        await self._bus.client.flush()

    async def _grant(self, request: GrantRequest) -> WalletAnswer:
        is_new = request.key not in {asked.key for asked in self.asked}
        self.asked.append(request)
        if self.refusal is not None:
            return WalletAnswer(done=False, reason=self.refusal)
        if is_new:
            self.balances[request.account_id] = self.balances.get(request.account_id, 0) + GRANT_COINS
        return WalletAnswer(done=True, balances={request.account_id: self.balances[request.account_id]})


@dataclass(frozen=True)
class Reply:
    """An HTTP answer that has been read. A repeat is equal to it, whatever second its headers tell."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(compare=False)

    @property
    def code(self) -> str:
        """Why it was refused; checks that a refusal has the usual form."""
        assert set(self.body) == {"code", "message", "details"}, self.body
        return str(self.body["code"])


@dataclass(frozen=True)
class Caller:
    """Somebody with an address of their own, and maybe a token."""

    client: TestClient[web.Request, web.Application]
    address: str
    account: Mapping[str, Any]
    token: str = ""
    refresh_token: str = ""

    @property
    def person(self) -> Person:
        return Person(self.account["id"], self.account["name"], self.account["avatar"])

    def at(self, client: TestClient[web.Request, web.Application]) -> Caller:
        """The same person, asking another lobby."""
        return replace(self, client=client)

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        sent = {"X-Forwarded-For": self.address} | {name.replace("_", "-"): text for name, text in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        content = body if isinstance(body, bytes) else None if body is None else msgspec.json.encode(body)
        async with self.client.request(method, path, data=content, headers=sent) as response:
            read = await response.read()
            is_json = response.content_type == "application/json"
            reply = Reply(response.status, msgspec.json.decode(read) if is_json else read or None, response.headers)
            documented(method, response.url.raw_path, reply.status, reply.body)
            return reply

    async def get(self, path: str) -> Reply:
        return await self.ask("GET", path)

    async def post(self, path: str, body: Any, **headers: str) -> Reply:
        return await self.ask("POST", path, body, **headers)

    async def make_table(self, key: str, **choices: Any) -> Reply:
        body = {"game": "court_piece", "bet_coins": 100, "visibility": "public"} | choices
        return await self.post("/v1/tables", body, Idempotency_Key=key)


class LobbyServer:
    """A lobby over real servers, with the others doubled."""

    def __init__(
        self,
        *,
        client: TestClient[web.Request, web.Application],
        table: TableDouble,
        wallet: WalletDouble,
        database: TestDatabase,
        nats: NatsServer,
        settings: Settings,
    ) -> None:
        self.client = client
        self.nats = nats
        self.table = table
        self.wallet = wallet
        self.database = database
        self.settings = settings
        self._numbers = itertools.count(1)

    @property
    def app(self) -> web.Application:
        app = self.client.app
        assert app is not None
        return app

    @property
    def is_subscribed(self) -> bool:
        return self.app[APP_CONSUMER].subscribed

    def stranger(self) -> Caller:
        """Somebody without an account, at an address that nobody else has."""
        number = next(self._numbers)
        return Caller(self.client, f"10.0.{number // 250}.{number % 250}", {})

    def key(self) -> str:
        """An idempotency key that nobody has used."""
        return f"key-{next(self._numbers):08d}"

    async def guest(self, **body: Any) -> Caller:
        stranger = self.stranger()
        answered = await stranger.post("/v1/guests", body)
        assert answered.status == 201, answered
        return signed_in(stranger, answered.body)

    async def number_of(self, table_id: str) -> int:
        """The last milestone that the directory has applied."""
        connection = await asyncpg.connect(self.database.url)
        number = await connection.fetchval("SELECT number FROM directory WHERE table_id = $1", table_id)
        await connection.close()
        return -1 if number is None else int(number)

    async def metric(self, name: str) -> float:
        """The sum of a counter over all its labels."""
        async with self.client.get("/metrics") as response:
            lines = (await response.text()).splitlines()
        found = [line for line in lines if line.startswith((f"{name} ", f"{name}{{"))]
        return sum(float(line.rpartition(" ")[2]) for line in found)


async def until_free_seats(lobby: LobbyServer, viewer: Caller, table_id: str, *, count: int) -> None:
    """Waits until the directory, not the owner, says so."""

    async def is_so() -> bool:
        lobby.table.looks_fail = True
        seen = await viewer.get(f"/v1/tables/{table_id}")
        lobby.table.looks_fail = False
        told = len(lobby.table.milestones[table_id])
        return bool(seen.body["free_seats"] == count) and await lobby.number_of(table_id) == told

    await eventually(is_so)


def signed_in(caller: Caller, session: Mapping[str, Any]) -> Caller:
    """The same person with the tokens of a session."""
    return Caller(caller.client, caller.address, session["account"], session["access_token"], session["refresh_token"])


def look_of(table: CreateTable) -> TableLook:
    seats: tuple[Person | None, ...] = (table.host, *[None] * (table.terms.seats - 1))
    return TableLook(
        table_id=table.table_id,
        terms=table.terms,
        phase="waiting",
        seats=seats,
        bots=(),
        round=0,
        version=1,
        process_id=PROCESS,
    )


def rights() -> dict[str, Permissions]:
    """As every wiring gives them."""
    return {name: Permissions(publish=may[0], subscribe=may[1]) for name, may in PERMISSIONS.items()}


@asynccontextmanager
async def open_lobby(make_database: MakeDatabase, make_nats: MakeNats, **settings: Any) -> AsyncIterator[LobbyServer]:
    """A lobby with a database and a bus of its own."""
    nats = await make_nats(rights())
    database = await make_database("lobby", MIGRATIONS)
    async with open_doubles(nats) as (table, wallet):
        chosen = settings_for(database, nats, **settings)
        async with TestClient(TestServer(build_app(chosen))) as client:
            yield LobbyServer(client=client, table=table, wallet=wallet, database=database, nats=nats, settings=chosen)


def settings_for(database: TestDatabase, nats: NatsServer, **settings: Any) -> Settings:
    chosen: dict[str, Any] = {
        "database_url": database.url,
        "nats_url": nats.url("lobby"),
        "token_private_key": new_private_key_pem(),
        "public_url": "https://darbar.example/",
        "unsafe_storage": True,
        "guests_an_hour_max": 0,
        "trusted_proxies": ("127.0.0.1",),
    }
    return Settings(**(chosen | settings))


@asynccontextmanager
async def open_doubles(nats: NatsServer) -> AsyncIterator[tuple[TableDouble, WalletDouble]]:
    async with AsyncExitStack() as stack:
        buses: list[Bus] = []
        for name in ("table", "wallet", OPERATOR):
            bus = await Bus.connect(nats.url(name), name=name)
            stack.push_async_callback(bus.close)
            buses.append(bus)
        table, wallet = TableDouble(buses[0], buses[2]), WalletDouble(buses[1])
        await table.start()
        await wallet.start()
        yield table, wallet
