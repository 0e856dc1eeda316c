"""What the server's HTTP answers, as far as a client needs it. Unknown fields are let pass: servers get newer."""

from __future__ import annotations

from typing import Any

import msgspec

from darbar_contracts.tables import TableLook


class Account(msgspec.Struct, frozen=True):
    """An account as its owner sees it."""

    id: str
    name: str
    avatar: str
    role: str = "player"


class Session(msgspec.Struct, frozen=True):
    """A signed-in account. The refresh token works once."""

    account: Account
    access_token: str
    refresh_token: str
    access_seconds: int


class SocketPaths(msgspec.Struct, frozen=True):
    """Where to connect: `direct` is the table's owner, None when nobody owns it just now; `any` finds the owner."""

    any: str
    direct: str | None = None


class TableRef(msgspec.Struct, frozen=True):
    """A table one can join. `code` and `invite_token` are known to who sits there, and only while a seat is free."""

    table_id: str
    socket: SocketPaths
    code: str | None = None
    invite_token: str | None = None


class TableSeen(msgspec.Struct, frozen=True):
    """One table as the lobby shows it."""

    table: TableLook
    socket: SocketPaths
    free_seats: int = 0
    code: str | None = None

    @property
    def ref(self) -> TableRef:
        return TableRef(table_id=self.table.table_id, socket=self.socket, code=self.code)


class SeatedAt(msgspec.Struct, frozen=True):
    """The table where one sits."""

    table_id: str
    game: str
    socket: SocketPaths


class Me(msgspec.Struct, frozen=True):
    """One's own account, and the table where one sits."""

    account: Account
    table: SeatedAt | None = None


class ReplayEvent(msgspec.Struct, frozen=True):
    """A stored event. `body` is the JSON text as stored, None while it holds a secret; `chain` is its link in hex."""

    version: int
    kind: str
    at: str
    chain: str
    body: str | None = None


class Replay(msgspec.Struct, frozen=True):
    """A page of a table's log, or all of it: only rounds whose result is stored."""

    table_id: str
    game: str
    options: dict[str, Any]
    events: tuple[ReplayEvent, ...]
    more: bool = False


class TableAudit(msgspec.Struct, frozen=True):
    """What the server finds when it compares its store with its memory."""

    version: int
    events: int
    chain_holds: bool
    replay_equals_live: bool
