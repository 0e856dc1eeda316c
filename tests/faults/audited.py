"""The whole `darbar audit`, as an operator runs it, and a coin that is moved by hand. Open this when one fails."""

from __future__ import annotations

import re
from typing import NamedTuple

from fault_stack import FaultStack

from darbar_local.exit_codes import ExitCode
from darbar_local.testing import run

# From one player who has some to another, so that all coins together are as many as before.
_MOVE_COINS = """
WITH two AS (SELECT min(number) AS giver, max(number) AS taker FROM account WHERE number > 0 AND balance_coins > 1)
UPDATE account SET balance_coins = balance_coins + CASE WHEN number = giver THEN -$1::bigint ELSE $1::bigint END
  FROM two WHERE number IN (giver, taker) AND giver <> taker
RETURNING number
"""


class Audited(NamedTuple):
    """What was looked at, and what was wrong."""

    events_verified: int
    transfers_compared: int
    wrong: list[str]


async def audited(stack: FaultStack) -> Audited:
    """Everything holds; then a coin is moved by hand, which is found, and moved back."""
    wrong: list[str] = []
    verified = await _audit(stack, "verify", wrong)
    compared = await _audit(stack, "ledger", wrong)
    moved = await stack.stored.ask("wallet", _MOVE_COINS, 1)
    code, said = await _asked(stack, "ledger")
    if len(moved) != 2 or code != ExitCode.AUDIT_FAILED or "balances are not the sums" not in said:
        wrong.append(f"a coin was moved by hand in {len(moved)} accounts, and the audit says: {said}")
    await stack.stored.ask("wallet", _MOVE_COINS, -1)
    await _audit(stack, "ledger", wrong)
    return Audited(
        _number(r"(\d+) events of \d+ tables", verified), _number(r"(\d+) stakes, settles and refunds", compared), wrong
    )


async def _audit(stack: FaultStack, what: str, wrong: list[str]) -> str:
    code, said = await _asked(stack, what)
    if code != ExitCode.FINE:
        wrong.append(f"darbar audit {what}: {said}")
    return said


async def _asked(stack: FaultStack, what: str) -> tuple[int, str]:
    """The command's exit code, and what it says."""
    reached = {"DARBAR_ADMIN_NATS_URL": stack.nats.url("operator")}
    async with run("audit", what, variables=reached) as command:
        code, complaints = await command.end()
        return code, "\n".join([*command.lines, complaints])


def _number(pattern: str, said: str) -> int:
    found = re.search(pattern, said)
    return int(found[1]) if found else 0
