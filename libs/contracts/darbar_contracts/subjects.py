"""The NATS subjects, and who may publish and subscribe to which. Open this before adding one."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

# wallet
WALLET_STAKE = "wallet.stake"
WALLET_SETTLE = "wallet.settle"
WALLET_REFUND = "wallet.refund"
WALLET_GRANT = "wallet.grant"
WALLET_BALANCES = "wallet.balances"
WALLET_QUEUE = "wallet"

# table
TABLE_WHERE = "table.where"
TABLE_MILESTONES = "table.milestones"
TABLE_QUEUE = "table"

# bot
BOT_DECIDE = "bot.decide"
BOT_QUEUE = "bot"

# milestones, kept in JetStream
MILESTONE_STREAM = "MILESTONES"
MILESTONE_SUBJECTS = "milestone.table.>"
# Whoever comes late asks the table service: the stream only has to reach over an outage.
MILESTONE_SECONDS_KEPT = 30 * 24 * 3600
MILESTONE_DUPLICATES_SECONDS = 120


def table_create(process_id: str) -> str:
    """Where one table process takes new tables."""
    return f"table.at.{process_id}.create"


def table_look(process_id: str) -> str:
    """Where one table process tells what anybody may know of a table it owns."""
    return f"table.at.{process_id}.look"


def table_leave_alone(process_id: str) -> str:
    """Where one table process frees the seat of a host who sits alone and is brought to another table."""
    return f"table.at.{process_id}.leave_alone"


def milestone(table_id: str) -> str:
    """Where the milestones of one table are published."""
    return f"milestone.table.{table_id}"


def milestone_table(subject: str) -> str | None:
    """The table whose milestones are published there; None for what is no id."""
    try:
        return str(UUID(subject.rpartition(".")[2]))
    except ValueError:
        return None


# Service -> (may publish, may subscribe). Its own inbox is added by the server's configuration.
_JETSTREAM = ("$JS.API.>", "$JS.ACK.>")
PERMISSIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lobby": (
        (
            TABLE_WHERE,
            TABLE_MILESTONES,
            "table.at.*.create",
            "table.at.*.look",
            "table.at.*.leave_alone",
            "wallet.grant",
            *_JETSTREAM,
        ),
        (),
    ),
    "table": (
        ("wallet.stake", "wallet.settle", "wallet.refund", "wallet.balances", "bot.>", MILESTONE_SUBJECTS, *_JETSTREAM),
        (TABLE_WHERE, TABLE_MILESTONES, "table.at.>"),
    ),
    "wallet": ((), ("wallet.>",)),
    "bot": ((), ("bot.>",)),
}
