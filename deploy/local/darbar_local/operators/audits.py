"""`darbar audit`: whether what is stored holds together. Open this to add something that is looked at."""

import argparse
import asyncio

from darbar_contracts.subjects import WALLET_AUDIT
from darbar_contracts.wallet import AuditRequest, WalletAudit
from darbar_local.console import print_line
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.operators.admin_bus import ANSWER_SECONDS_MAX, admin_bus, admin_nats_url


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """`darbar audit ledger` and so on."""
    audit = commands.add_parser("audit", help="look whether what is stored holds together")
    acts = audit.add_subparsers(dest="act", required=True, metavar="WHAT")
    ledger = acts.add_parser("ledger", help="do all coins add up?")
    ledger.add_argument("--data", metavar="FOLDER", help="of the running `darbar up` (DARBAR_DATA, ./var)")


def run(asked: argparse.Namespace) -> None:
    """Raises Failure, also when something does not hold."""
    asyncio.run(_ledger(admin_nats_url(asked.data)))


async def _ledger(nats_url: str) -> None:
    async with admin_bus(nats_url) as bus:
        found = await bus.request(WALLET_AUDIT, AuditRequest(), WalletAudit, timeout_seconds=ANSWER_SECONDS_MAX)
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
    if faults:
        raise Failure(ExitCode.AUDIT_FAILED, "; ".join(faults))
    print_line("All coins add up.")
