"""All that is kept of the own account, given out and taken away. Open this about privacy."""

from __future__ import annotations

from datetime import datetime

import msgspec

from darbar_contracts.api import Account, GamePlayed, PlayerShown


class DeleteMe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """DELETE /v1/me. `handle`: of the own account, so that nobody deletes it by mistake. `password` is needed where
    there is one."""

    handle: str
    password: str | None = None


class SessionKept(msgspec.Struct, frozen=True):
    """A sign-in: when it began, was last renewed, and was ended."""

    began_at: datetime
    used_at: datetime | None
    ended_at: datetime | None


class MyData(msgspec.Struct, frozen=True):
    """GET /v1/me/export: what is kept of the own account. `ledger`: where its coins are; `games` say where logs are."""

    account: Account
    handle: str
    created_at: datetime
    sessions: tuple[SessionKept, ...]
    blocked: tuple[PlayerShown, ...]
    games: tuple[GamePlayed, ...]
    ledger: str
