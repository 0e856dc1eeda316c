"""What the table service tells those who run Darbar of a table: its log, how it stood, what stopped it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from darbar_contracts.tables import JsonObject

FROZEN_TABLES_MAX = 200
VERSION_MAX = 2**31 - 1


class LogRequest(msgspec.Struct, frozen=True):
    """The events of a table after a version. `running`: those of a round whose result is not stored, too; refused with
    `own_table` where one of the `own_account_ids` sits."""

    table_id: str
    after: int = 0
    running: bool = False
    own_account_ids: tuple[str, ...] = ()


class LoggedEvent(msgspec.Struct, frozen=True):
    """One stored event. `body` is its JSON text as stored, None while it holds a seed that is not shown yet; `chain`
    its link in hex, None while its round runs.

    Of what was decided in a game: `by` whom (player, clock, bot; table for what follows by itself), in which `seat`,
    and how many `seconds` after it was due.
    """

    version: int
    kind: str
    at: Annotated[datetime, Meta(tz=True)]
    body: str | None
    chain: str | None
    by: str | None = None
    seat: int | None = None
    seconds: float | None = None


class LogPage(msgspec.Struct, frozen=True):
    """In their order; `more`: ask again with `after` the last version."""

    table_id: str
    events: tuple[LoggedEvent, ...]
    more: bool = False


class StateRequest(msgspec.Struct, frozen=True):
    """How a table stood after a version; `running` and `own_account_ids` as in a LogRequest."""

    table_id: str
    version: int
    running: bool = False
    own_account_ids: tuple[str, ...] = ()


class TableState(msgspec.Struct, frozen=True):
    """How a table stood: what each seat knew then, as a snapshot of the socket. `kind`: of the event that led there."""

    table_id: str
    version: int
    kind: str
    at: datetime
    seats: tuple[JsonObject, ...]


class VerifyLog(msgspec.Struct, frozen=True):
    """Does a table's log follow its chain, up to its end? `version` and `chain` (in hex) are the last ones that others
    were told of; 0: nobody was told of any."""

    table_id: str
    version: int = 0
    chain: str = ""


class LogVerified(msgspec.Struct, frozen=True):
    """`events` follow their chain. `wrong_version`: the first one that does not, and why; None: none."""

    table_id: str
    events: int
    wrong_version: int | None = None
    why: str = ""


class ChainsRequest(msgspec.Struct, frozen=True):
    """Of which version of each table was the lobby told last? Tables after an id, in the order of their ids."""

    after: str | None = None


class ChainsPage(msgspec.Struct, frozen=True):
    """`next` None: that was all."""

    tables: tuple[VerifyLog, ...]
    next: str | None


class VerifyAuditLog(msgspec.Struct, frozen=True):
    """Does the log of administrators follow its chain?"""


class AuditLogVerified(msgspec.Struct, frozen=True):
    """`chain`: of the last entry, in hex. `wrong_number`: the first one that does not follow; None: none."""

    entries: int
    chain: str
    wrong_number: int | None


class CoinsLogRequest(msgspec.Struct, frozen=True):
    """What the logs of these tables say of coins, or (none named) those of all tables; after an id, in the order of
    their ids."""

    table_ids: tuple[str, ...] = ()
    after: str | None = None


class LoggedCoins(msgspec.Struct, frozen=True):
    """Of one table: what the wallet was `asked`, and what it has `answered` with yes. Each is a kind of transfer, a
    blank and its key."""

    table_id: str
    asked: tuple[str, ...]
    answered: tuple[str, ...]


class CoinsLogPage(msgspec.Struct, frozen=True):
    """`next`: ask again with this `after`; None: that was all."""

    tables: tuple[LoggedCoins, ...]
    next: str | None


class FrozenTablesRequest(msgspec.Struct, frozen=True):
    """Which tables are frozen?"""


class FrozenTable(msgspec.Struct, frozen=True):
    """Why a table was stopped, and by which command, as JSON text; None when it was none."""

    table_id: str
    at: datetime
    reason: str
    command: str | None


class FrozenTables(msgspec.Struct, frozen=True):
    """The last FROZEN_TABLES_MAX, newest first."""

    tables: tuple[FrozenTable, ...]
