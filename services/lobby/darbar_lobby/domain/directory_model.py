"""What is stored about tables, as values. Open this for what a field means."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Literal

import msgspec

from darbar_contracts.tables import TableTerms

# An invite can't be guessed.
INVITE_BYTES = 24

State = Literal["asked", "open", "closed"]


class Holder(msgspec.Struct, frozen=True):
    """Who sits in a seat; `account_id` None is a bot."""

    seat: int
    account_id: str | None
    taken_at: datetime


class DirectoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A table as the directory knows it: what was chosen for it, and what its milestones up to `number` say. `version`
    and `chain` are of the last of them."""

    table_id: str
    host_id: str
    terms: TableTerms
    invite_token: str
    free_seats: int
    created_at: datetime
    sequence: int = 0
    state: State = "asked"
    generation: int = 0
    number: int = 0
    playing: bool = False
    round: int = 0
    holders: tuple[Holder, ...] = ()
    version: int = 0
    chain: str = ""

    @property
    def code_opens(self) -> bool:
        """A code lets people in only while there is a seat for them (TL-3)."""
        return self.state == "open" and self.free_seats > 0

    def seats_account(self, account_id: str) -> bool:
        return any(holder.account_id == account_id for holder in self.holders)


class Step(Enum):
    """What to do with a milestone."""

    APPLY = "apply"
    DROP = "drop"
    GAP = "gap"
