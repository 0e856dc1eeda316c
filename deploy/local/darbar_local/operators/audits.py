"""`darbar audit`: whether what is stored holds together. Open this to add something that is looked at."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from darbar_client.proofs.log import LogUnreadable
from darbar_client.proofs.verify import verify_deals
from darbar_contracts.admin.disclosure import (
    AuditLogVerified,
    ChainsPage,
    ChainsRequest,
    LogVerified,
    VerifyAuditLog,
    VerifyLog,
)
from darbar_contracts.subjects import (
    LOBBY_CHAINS,
    LOBBY_VERIFY_AUDIT_LOG,
    TABLE_VERIFY,
    WALLET_AUDIT,
    WALLET_AUDIT_TABLES,
)
from darbar_contracts.wallet import AuditRequest, AuditTablesRequest, TablesAudit, WalletAudit
from darbar_kit.bus import Bus
from darbar_local.console import print_line
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.operators.admin_bus import ANSWER_SECONDS_MAX, admin_bus, admin_nats_url
from darbar_local.operators.table_log import log_of, replay_of, told

# A long log is read in a process of its own, behind others.
VERIFY_SECONDS_MAX = 30.0
VERIFY_AT_ONCE_MAX = 4
COMPARE_SECONDS_MAX = 120.0
FAULTS_TOLD_MAX = 20


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """`darbar audit ledger` and so on."""
    audit = commands.add_parser("audit", help="look whether what is stored holds together")
    acts = audit.add_subparsers(dest="act", required=True, metavar="WHAT")
    asking = [
        acts.add_parser("ledger", help="do all coins add up?"),
        acts.add_parser("verify", help="do the logs of all tables, and of administrators, follow their chains?"),
    ]
    for name, help_line in (
        ("deal", "deal the finished rounds of a table again from their seeds"),
        ("replay", "step through a table's log in the terminal"),
        ("export", "write a table's log into a file, with nobody's name in it"),
    ):
        of_table = acts.add_parser(name, help=help_line)
        of_table.add_argument("table", metavar="TABLE", help="the table's id")
        asking.append(of_table)
        if name == "deal":
            of_table.add_argument("round", metavar="ROUND", nargs="?", type=int, help="only this round of each game")
        if name == "export":
            of_table.add_argument("--to", metavar="FILE", type=Path, help="TABLE.ndjson here, when left out")
    imports = acts.add_parser("import", help="play an exported log through the rules")
    imports.add_argument("file", metavar="FILE", type=Path)
    for parser in asking:
        parser.add_argument("--data", metavar="FOLDER", help="of the running `darbar up` (DARBAR_DATA, ./var)")


def run(asked: argparse.Namespace) -> None:
    """Raises Failure, also when something does not hold."""
    match asked.act:
        case "import":
            print_line(_case_file().read_case(asked.file))
        case "ledger":
            asyncio.run(_ledger(admin_nats_url(asked.data)))
        case "verify":
            asyncio.run(_verify(admin_nats_url(asked.data)))
        case "deal":
            asyncio.run(_deal(asked.table, asked.round, admin_nats_url(asked.data)))
        case "replay":
            asyncio.run(_replay(asked.table, admin_nats_url(asked.data)))
        case "export":
            asyncio.run(_export(asked.table, asked.to, admin_nats_url(asked.data)))


async def _ledger(nats_url: str) -> None:
    async with admin_bus(nats_url) as bus:
        found = await bus.request(WALLET_AUDIT, AuditRequest(), WalletAudit, timeout_seconds=ANSWER_SECONDS_MAX)
        compared = await bus.request(
            WALLET_AUDIT_TABLES, AuditTablesRequest(), TablesAudit, timeout_seconds=COMPARE_SECONDS_MAX
        )
    print_line(f"{found.transfers} transfers with {found.entries} entries, {found.stakes_open} stakes not ended")
    wrong = {
        "all entries together are not 0": found.sum_coins,
        "balances are not the sums of their entries": not found.balances_match,
        "players are below zero": found.players_below_zero,
        "transfers do not sum to 0": found.transfers_unbalanced,
        "transfers are missing": found.transfers_missing,
        "pots do not hold what the open stakes put there": not found.pots_match,
        "players are told of other stakes than they made": not found.stakes_match,
    }
    faults = [f"{what} ({int(count)})" for what, count in wrong.items() if count]
    print_line(f"{compared.transfers} stakes, settles and refunds compared with the logs of {compared.tables} tables")
    _told_wrong([*faults, *compared.found])
    print_line("All coins add up.")


async def _verify(nats_url: str) -> None:
    faults: list[str] = []
    tables = events = 0
    async with admin_bus(nats_url) as bus:
        places = asyncio.Semaphore(VERIFY_AT_ONCE_MAX)
        async for page in _chains(bus):
            for verified in await asyncio.gather(*(_verified(bus, table, places) for table in page.tables)):
                tables, events = tables + 1, events + verified.events
                if verified.wrong_version is not None:
                    faults.append(f"table {verified.table_id}: version {verified.wrong_version} {verified.why}")
        acts = await bus.request(
            LOBBY_VERIFY_AUDIT_LOG, VerifyAuditLog(), AuditLogVerified, timeout_seconds=VERIFY_SECONDS_MAX
        )
    print_line(f"{events} events of {tables} tables, {acts.entries} acts of administrators")
    if acts.wrong_number is not None:
        faults.append(f"the log of administrators: entry {acts.wrong_number} does not follow from the one before")
    _told_wrong(faults)
    print_line(f"Every chain holds. The log of administrators ends with {acts.chain or 'nothing'}")


async def _chains(bus: Bus) -> AsyncIterator[ChainsPage]:
    after: str | None = None
    while True:
        page = await bus.request(LOBBY_CHAINS, ChainsRequest(after), ChainsPage, timeout_seconds=ANSWER_SECONDS_MAX)
        yield page
        if page.next is None:
            return
        after = page.next


async def _verified(bus: Bus, table: VerifyLog, places: asyncio.Semaphore) -> LogVerified:
    async with places:
        return await bus.request(TABLE_VERIFY, table, LogVerified, timeout_seconds=VERIFY_SECONDS_MAX)


async def _deal(table_id: str, only: int | None, nats_url: str) -> None:
    async with admin_bus(nats_url) as bus:
        replay = replay_of(table_id, await log_of(bus, table_id))
    try:
        reports = [report for report in verify_deals(replay) if only in (None, report.round)]
    except LogUnreadable as error:
        raise Failure(ExitCode.AUDIT_FAILED, f"the log can't be followed: {error}") from error
    if not reports:
        raise Failure(ExitCode.REFUSED, "no such round is over")
    for report in reports:
        found = "follows from its seeds" if report.proven else "; ".join(report.differences)
        print_line(f"game {report.game}, round {report.round}, {report.strings} strings of players: {found}")
    _told_wrong([f"game {report.game}, round {report.round}" for report in reports if not report.proven])


async def _replay(table_id: str, nats_url: str) -> None:
    """On a terminal a line for each key that is pressed, else all of them."""
    async with admin_bus(nats_url) as bus:
        log = await log_of(bus, table_id)
    is_stepped = sys.stdin.isatty() and sys.stdout.isatty()
    for event in log:
        print_line(told(event))
        if is_stepped and await asyncio.to_thread(sys.stdin.readline) == "":
            return


async def _export(table_id: str, to: Path | None, nats_url: str) -> None:
    path = to or Path(f"{table_id}.ndjson")
    async with admin_bus(nats_url) as bus:
        log = await log_of(bus, table_id)
    if not log:
        raise Failure(ExitCode.REFUSED, "no round of this table is over")
    path.write_text(_case_file().case_of(table_id, log))  # Nothing else waits.
    print_line(f"{len(log)} events in {path}; play them with: darbar audit import {path}")


def _told_wrong(faults: list[str]) -> None:
    """Raises Failure when there are any, with the first of them."""
    if not faults:
        return
    more = len(faults) - FAULTS_TOLD_MAX
    listed = [*faults[:FAULTS_TOLD_MAX], *([f"and {more} more"] if more > 0 else [])]
    raise Failure(ExitCode.AUDIT_FAILED, "; ".join(listed))


def _case_file() -> ModuleType:
    """It brings the whole table service, which no other command needs."""
    return import_module("darbar_local.operators.case_file")
