"""What administrators find of tables, what they see, and what becomes of what they do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import aiohttp
import asyncpg
import msgspec
import pytest
import pytest_asyncio
from lobby_administrators import by_owner, operator
from lobby_doubles import PROCESS, Caller, LobbyServer

from darbar_contracts.admin.api import Act, AuditLogQuery
from darbar_contracts.admin.disclosure import (
    AuditLogVerified,
    ChainsPage,
    ChainsRequest,
    FrozenTable,
    FrozenTables,
    FrozenTablesRequest,
    LoggedEvent,
    LogPage,
    LogRequest,
    StateRequest,
    TableState,
    VerifyAuditLog,
    VerifyLog,
)
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import (
    LOBBY_CHAINS,
    LOBBY_VERIFY_AUDIT_LOG,
    TABLE_FROZEN,
    TABLE_LOG,
    TABLE_QUEUE,
    TABLE_STATE,
    table_operate,
)
from darbar_contracts.tables import OperateTable, TableOperated, handle_of
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.testing import eventually
from darbar_lobby.app import DATABASE, statements
from darbar_lobby.store.audit_log import AuditLog

NOW = datetime(2026, 11, 30, tzinfo=UTC)
MANY = 100_000
# Of rows that one search looks at: what it answers, from each of the lists that it joins.
ROWS_LOOKED_AT_MAX = 2_000
MAKE_MANY = """
INSERT INTO directory (table_id, state, host_id, game, options, seats, bet_coins, turn_seconds, visibility, bot_level,
                       invite_token, free_seats, playing, created_at)
SELECT ('00000000-0000-4000-9000-' || lpad(to_hex(n), 12, '0'))::uuid,
       CASE n % 1000 WHEN 0 THEN 'open' WHEN 1 THEN 'open' ELSE 'closed' END,
       lpad(to_hex(n % 20000), 32, '0'),
       (ARRAY['court_piece', 'king', 'kings_and_rebels'])[1 + n % 3],
       '{}', 4, 100, 15, 'public', 'normal', 'many-' || n, 0, n % 1000 = 1,
       '2026-01-01'::timestamptz + n * interval '1 minute'
  FROM generate_series(1, $1::int) AS n
"""
MAKE_ONE = """
INSERT INTO directory (table_id, state, host_id, game, options, seats, bet_coins, turn_seconds, visibility, bot_level,
                       invite_token, free_seats, playing, created_at)
VALUES ($1, $2, 'h', $3, '{}', 4, 100, 15, 'private', 'normal', $4, 0, $5, $6)
"""
MAKE_PLAYERS = """
INSERT INTO table_player (account_id, created_at, table_id)
SELECT lpad(to_hex((n * 7 + seat * 5000) % 20000), 32, '0'), created_at, table_id
  FROM (SELECT row_number() OVER (ORDER BY sequence) AS n, created_at, table_id FROM directory
         WHERE invite_token LIKE 'many-%') AS made
 CROSS JOIN generate_series(0, 1) AS seat
"""


class TablesAsked:
    """The table service, as far as administrators ask it."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.logs: list[LogRequest] = []
        self.states: list[StateRequest] = []
        self.operated: list[OperateTable] = []
        self.pages: list[LogPage | Refused] = []
        self.frozen: tuple[FrozenTable, ...] = ()
        self.refusal: Refused | None = None

    async def serve(self, lobby: LobbyServer) -> None:
        bus = lobby.table.bus
        await bus.serve(TABLE_LOG, LogRequest, self._log, queue=TABLE_QUEUE)
        await bus.serve(TABLE_STATE, StateRequest, self._state, queue=TABLE_QUEUE)
        await bus.serve(TABLE_FROZEN, FrozenTablesRequest, self._frozen, queue=TABLE_QUEUE)
        await bus.serve(table_operate(PROCESS), OperateTable, self._operate)

    async def _log(self, request: LogRequest) -> LogPage:
        self.logs.append(request)
        page = self.pages.pop(0)
        if isinstance(page, Refused):
            raise page
        return page

    async def _state(self, request: StateRequest) -> TableState:
        self.states.append(request)
        return TableState(request.table_id, request.version, "card_played", NOW, ({"seat": 0}, {"seat": 1}))

    async def _frozen(self, _request: FrozenTablesRequest) -> FrozenTables:
        return FrozenTables(self.frozen)

    async def _operate(self, request: OperateTable) -> TableOperated:
        self.operated.append(request)
        if self.refusal is not None:
            raise self.refusal
        return TableOperated(request.table_id, request.action)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def serving(lobby: LobbyServer) -> TablesAsked:
    asked = TablesAsked()
    await asked.serve(lobby)
    return asked


@pytest.fixture
def tables(serving: TablesAsked) -> Iterator[TablesAsked]:
    yield serving
    serving.forget()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def auditor(lobby: LobbyServer) -> Caller:
    return await (await operator(lobby, "anton", "auditor")).signed_in()


def logged(version: int) -> LoggedEvent:
    return LoggedEvent(version, "card_played", NOW, '{"by":"player"}', "00" * 32, "player", 2, 1.5)


async def acts(lobby: LobbyServer) -> list[Act]:
    page = await AuditLog(lobby.app[DATABASE], statements()).page(AuditLogQuery())
    return [msgspec.json.decode(entry.body, type=Act) for entry in page.entries]


async def found(caller: Caller, **query: str) -> list[dict[str, Any]]:
    """All pages of a search."""
    tables: list[dict[str, Any]] = []
    while True:
        asked = "&".join(f"{name}={text}" for name, text in query.items())
        reply = await caller.get(f"/v1/admin/tables?{asked}")
        assert reply.status == 200, reply
        tables += reply.body["tables"]
        if reply.body["next"] is None:
            return tables
        query["after"] = reply.body["next"]


async def test_a_table_is_found_by_everybody_who_has_ever_sat_there(lobby: LobbyServer, auditor: Caller) -> None:
    host, guest, other = await lobby.guest(), await lobby.guest(), await lobby.guest()
    made = (await host.make_table(lobby.key())).body
    table_id = made["table_id"]
    lobby.table.note(table_id, "seat_taken", free_seats=2, seat=1, account_id=guest.account["id"])
    lobby.table.note(table_id, "seat_freed", free_seats=3, seat=1, account_id=guest.account["id"])
    await lobby.table.tell(*lobby.table.milestones[table_id])

    async def is_told() -> bool:
        return await lobby.number_of(table_id) == 3

    await eventually(is_told)
    for caller in (host, guest):
        for player in (caller.account["id"], handle_of(caller.account["id"])):
            [table] = await found(auditor, player=player)
            assert (table["table_id"], table["state"]) == (table_id, "waiting")
            assert {one["account_id"] for one in table["players"]} == {host.account["id"], guest.account["id"]}
    assert await found(auditor, player=other.account["id"]) == []
    assert await found(auditor, player="0" * 20) == []
    [table] = await found(auditor, code=made["code"])
    assert table["table_id"] == table_id
    assert await found(auditor, code="000000") == []


async def test_tables_are_found_by_game_state_and_time_newest_first_in_pages(lobby: LobbyServer, admin: Caller) -> None:
    made = []
    for hours, game, state, playing in (
        (0, "king", "closed", False),
        (1, "court_piece", "open", True),
        (2, "king", "open", True),
        (3, "king", "closed", False),
        (4, "king", "open", False),
    ):
        table_id = str(uuid4())
        made.append(table_id)
        await by_owner(
            lobby,
            MAKE_ONE,
            table_id,
            state,
            game,
            table_id,
            playing,
            NOW - timedelta(days=400) + timedelta(hours=hours),
        )
    year = {"until": (NOW - timedelta(days=300)).isoformat().replace("+", "%2B"), "limit": "2"}

    async def ids(**query: str) -> list[str]:
        return [table["table_id"] for table in await found(admin, **query, **year)]

    assert await ids() == made[::-1]
    assert await ids(game="king") == [made[4], made[3], made[2], made[0]]
    assert await ids(state="closed") == [made[3], made[0]]
    assert await ids(state="playing", game="king") == [made[2]]
    assert await ids(state="waiting") == [made[4]]
    since = (NOW - timedelta(days=400) + timedelta(hours=1)).isoformat().replace("+", "%2B")
    assert await ids(since=since, game="king") == [made[4], made[3], made[2]]
    assert (await admin.get("/v1/admin/tables?after=x")).code == "query_invalid"
    assert (await admin.get("/v1/admin/tables?since=2026-01-01")).code == "query_invalid"


@pytest.mark.parametrize("table_id", ["0", "00000000-0000-4000-8000-00000000000", "nothing"])
async def test_what_is_no_id_is_no_table_and_nothing_is_tried(admin: Caller, table_id: str) -> None:
    below = f"/v1/admin/tables/{table_id}"
    for act in ("resume", "void"):
        refused = await admin.post(f"{below}/{act}", {"reason": "stuck"})
        assert (refused.status, refused.code) == (404, "table_unknown")
    for look in ("events", "events?reason=why", "states/1"):
        assert (await admin.get(f"{below}/{look}")).code == "table_unknown"
    assert (await admin.get(f"/v1/admin/audit-log?subject=table:{table_id}")).body["entries"] == []


async def test_a_hundred_thousand_tables_are_searched_within_an_index(lobby: LobbyServer) -> None:
    connection = await asyncpg.connect(lobby.database.owner_url)
    whole = connection.transaction()
    await whole.start()
    try:
        # A third of the time, and no search needs it.
        await connection.execute("ALTER TABLE table_player DROP CONSTRAINT table_player_table_id_fkey")
        await connection.execute(MAKE_MANY, MANY)
        await connection.execute(MAKE_PLAYERS)
        await connection.execute("ANALYZE directory, table_player")
        any_state = (["asked", "open", "open", "closed"], [False, False, True, False])
        late, early = datetime(9999, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)
        player = f"{7:032x}"
        searches: dict[str, tuple[Any, ...]] = {
            "everything": ("find_tables", None, *any_state, late, 0, early, 21),
            "a game": ("find_tables", "king", *any_state, late, 0, early, 21),
            "a rare state": ("find_tables", None, ["open"], [True], late, 0, early, 21),
            "long ago": ("find_tables", None, *any_state, early + timedelta(days=56 * 365), 0, early, 21),
            "nothing there": ("find_tables", "no_such_game", *any_state, late, 0, early, 21),
            "a player": ("find_tables_of_player", None, *any_state, late, 0, early, 21, player),
            "a player, playing": ("find_tables_of_player", None, ["open"], [True], late, 0, early, 21, player),
        }
        for what, (name, *values) in searches.items():
            plan = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON, COSTS OFF) {statements()[name]}", *values)
            nodes = list(_nodes(json.loads(plan)[0]["Plan"]))
            assert not [node for node in nodes if node["Node Type"] == "Seq Scan"], what
            assert any("Index" in node["Node Type"] for node in nodes), what
            assert max(_looked_at(node) for node in nodes) <= ROWS_LOOKED_AT_MAX, what
    finally:
        await whole.rollback()
        await connection.close()


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", []):
        yield from _nodes(below)


def _looked_at(node: dict[str, Any]) -> float:
    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Join Filter", 0)
    return float(rows * node["Actual Loops"])


async def test_a_log_comes_line_by_line_from_all_its_pages(
    lobby: LobbyServer, tables: TablesAsked, auditor: Caller
) -> None:
    table_id = str(uuid4())
    tables.pages = [LogPage(table_id, (logged(6), logged(7)), more=True), LogPage(table_id, (logged(8),))]
    reply = await auditor.get(f"/v1/admin/tables/{table_id}/events?after=5")
    assert (reply.status, reply.headers["Content-Type"]) == (200, "application/x-ndjson")
    assert msgspec.json.Decoder(LoggedEvent).decode_lines(reply.body) == [logged(6), logged(7), logged(8)]
    assert tables.logs == [LogRequest(table_id, 5), LogRequest(table_id, 7)]


async def test_a_log_that_breaks_off_does_not_look_like_a_whole_one(
    lobby: LobbyServer, tables: TablesAsked, auditor: Caller
) -> None:
    table_id = str(uuid4())
    tables.pages = [LogPage(table_id, (logged(1),), more=True), Refused(Reason.TABLE_UNKNOWN)]
    with pytest.raises(aiohttp.ClientPayloadError):
        await auditor.get(f"/v1/admin/tables/{table_id}/events")


async def test_a_log_of_no_table_is_refused(lobby: LobbyServer, tables: TablesAsked, auditor: Caller) -> None:
    tables.pages = [Refused(Reason.TABLE_UNKNOWN)]
    assert (await auditor.get(f"/v1/admin/tables/{uuid4()}/events")).code == "table_unknown"


@pytest.mark.parametrize("what", ["events", "states/3"])
async def test_a_running_round_is_seen_with_a_reason_by_an_admin_alone_and_noted(
    lobby: LobbyServer, tables: TablesAsked, auditor: Caller, what: str
) -> None:
    player = await lobby.guest()
    account_id = player.account["id"]
    own = await operator(lobby, f"ines_{what[:5]}", handles=(handle_of(account_id),))
    admin = await own.signed_in()
    table_id = str(uuid4())
    path = f"/v1/admin/tables/{table_id}/{what}"
    tables.pages = [LogPage(table_id, ())]
    assert (await auditor.get(f"{path}?reason=curious")).code == "admin_needed"
    assert not tables.logs
    assert not tables.states
    assert (await admin.get(f"{path}?reason=a+player+complains")).status == 200
    asked: list[LogRequest | StateRequest] = [*tables.logs, *tables.states]
    [request] = asked
    assert (request.running, request.own_account_ids) == (True, (account_id,))
    last = (await acts(lobby))[0]
    act = "look_at_log" if what == "events" else "look_at_state"
    assert (last.administrator, last.act, last.subject, last.reason) == (
        own.name,
        act,
        f"table:{table_id}",
        "a player complains",
    )


async def test_without_a_reason_a_state_is_of_what_is_over(
    lobby: LobbyServer, tables: TablesAsked, auditor: Caller
) -> None:
    table_id = str(uuid4())
    reply = await auditor.get(f"/v1/admin/tables/{table_id}/states/12")
    assert (reply.status, reply.body["seats"]) == (200, [{"seat": 0}, {"seat": 1}])
    assert tables.states == [StateRequest(table_id, 12)]
    assert (await auditor.get(f"/v1/admin/tables/{table_id}/states/x")).code == "version_unknown"


async def test_stopped_tables_are_shown_and_found(lobby: LobbyServer, tables: TablesAsked, auditor: Caller) -> None:
    host = await lobby.guest()
    table_id = (await host.make_table(lobby.key())).body["table_id"]
    tables.frozen = (FrozenTable(table_id, NOW, "KeyError", '{"type":"sit"}'),)
    reply = await auditor.get("/v1/admin/frozen-tables")
    assert reply.body["tables"][0]["command"] == '{"type":"sit"}'
    assert [table["table_id"] for table in await found(auditor, state="frozen")] == [table_id]


@pytest.mark.parametrize("action", ["resume", "void"])
async def test_a_table_is_operated_in_the_name_of_who_does_it(
    lobby: LobbyServer, tables: TablesAsked, admin: Caller, action: str
) -> None:
    table_id = str(uuid4())
    reply = await admin.post(f"/v1/admin/tables/{table_id}/{action}", {"reason": "the row is mended"})
    assert (reply.status, reply.body) == (200, {"table_id": table_id, "action": action})
    assert [(one.operator, one.reason, one.action) for one in tables.operated] == [
        ("olga", "the row is mended", action)
    ]
    last = (await acts(lobby))[0]
    assert (last.act, last.subject, last.reason) == (f"{action}_table", f"table:{table_id}", "the row is mended")


async def test_what_was_refused_is_in_the_log_with_its_outcome(
    lobby: LobbyServer, tables: TablesAsked, admin: Caller
) -> None:
    tables.refusal = Refused(Reason.TABLE_CLOSED)
    reply = await admin.post(f"/v1/admin/tables/{uuid4()}/void", {"reason": "nobody can go on"})
    assert reply.code == "table_closed"
    outcome, act = (await acts(lobby))[:2]
    assert (act.act, outcome.act, outcome.details["code"]) == ("void_table", "outcome", "table_closed")


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "two\nlines"}, {"reason": "x" * 201}])
async def test_nothing_is_done_without_a_reason(
    lobby: LobbyServer, tables: TablesAsked, admin: Caller, body: dict[str, str]
) -> None:
    before = await acts(lobby)
    assert (await admin.post(f"/v1/admin/tables/{uuid4()}/void", body)).code == "body_invalid"
    assert (await acts(lobby), tables.operated) == (before, [])


async def test_audits_are_told_of_which_version_of_each_table_others_were_told_last(lobby: LobbyServer) -> None:
    host = await lobby.guest()
    table_id = (await host.make_table(lobby.key())).body["table_id"]
    told = lobby.table.note(table_id, "seat_taken", free_seats=2, seat=1, account_id=None)
    last = msgspec.structs.replace(told, version=17, chain="ab" * 32)
    await lobby.table.tell(lobby.table.milestones[table_id][0], last)

    async def is_told() -> bool:
        return await lobby.number_of(table_id) == 2

    await eventually(is_told)
    async with AsyncExitStack() as stack:
        asking = await Bus.connect(lobby.nats.url("admin"), name="admin")
        stack.push_async_callback(asking.close)
        known: dict[str, VerifyLog] = {}
        after = None
        while True:
            page = await asking.request(LOBBY_CHAINS, ChainsRequest(after), ChainsPage, timeout_seconds=5)
            known |= {one.table_id: one for one in page.tables}
            if page.next is None:
                break
            after = page.next
        assert known[table_id] == VerifyLog(table_id, 17, "ab" * 32)
        audit = await asking.request(LOBBY_VERIFY_AUDIT_LOG, VerifyAuditLog(), AuditLogVerified, timeout_seconds=5)
    assert (audit.wrong_number, len(audit.chain)) == (None, 64)
