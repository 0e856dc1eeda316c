"""What the lobby is asked and told over NATS: maintenance, who blocks whom, who is banned."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from darbar_contracts.tables import OperatorText


class ChangeMaintenance(msgspec.Struct, frozen=True):
    """An operator announces maintenance, or takes that back (None), or says whether new tables are made (TL-40).

    What is not set stays as it is. Repeating it changes nothing.
    """

    operator: OperatorText
    announcement: OperatorText | UnsetType | None = UNSET
    draining: bool | UnsetType = UNSET


class MaintenanceRequest(msgspec.Struct, frozen=True):
    """Ask for the Maintenance of now."""


class Maintenance(msgspec.Struct, frozen=True):
    """What operators have said last. `number` grows with every change: an older one that comes late is dropped.

    `draining`: no new tables are made.
    """

    number: int
    announcement: str | None
    draining: bool


# More than there are seats and places for spectators at any table.
ACCOUNTS_ASKED_MAX = 256


class BlockersRequest(msgspec.Struct, frozen=True):
    """Ask who of these accounts has blocked one (TL-8)."""

    account_id: str
    among: Annotated[tuple[str, ...], msgspec.Meta(max_length=ACCOUNTS_ASKED_MAX)]


class BlockersAnswer(msgspec.Struct, frozen=True):
    """Those who have."""

    account_ids: tuple[str, ...]


class BlockChanged(msgspec.Struct, frozen=True):
    """Somebody has blocked somebody, or has not any more: told to every table process, and to no player."""

    account_id: str
    blocked_id: str
    is_blocked: bool


# The role in the token of an account that may look around and sit at no table.
BANNED_ROLE = "banned"


class AccountShutOut(msgspec.Struct, frozen=True):
    """An account is banned or no more: its sockets end at once, and no table takes a token that it has now. `code` and
    `message` are told to its clients. `is_over`: it may come back."""

    account_id: str
    code: str
    message: str
    is_over: bool = False


# With the longest reasons a page fits into a message.
SHUT_OUTS_A_PAGE = 200


class ShutOutsRequest(msgspec.Struct, frozen=True):
    """Ask which accounts have tokens that are good no more: those that were banned or deleted while a token of theirs
    can still run. In the order of their ids, after `after`."""

    after: str = ""


class ShutOutsAnswer(msgspec.Struct, frozen=True):
    """A page; `more`: others follow."""

    accounts: tuple[AccountShutOut, ...]
    more: bool
