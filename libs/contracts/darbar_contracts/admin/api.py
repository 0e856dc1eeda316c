"""What administrators ask and are answered. Open this to write a tool for those who run Darbar."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from darbar_contracts.api import GamePlayed
from darbar_contracts.route import Role as Role
from darbar_contracts.tables import JsonObject, OperatorText, TableTerms
from darbar_contracts.voice import BAN_HOURS_MAX, Judgement, VoiceBan

AUDIT_ENTRIES_MAX = 200
AUDIT_ENTRIES_DEFAULT = 50
TABLES_FOUND_MAX = 100
TABLES_FOUND_DEFAULT = 20
TableStanding = Literal["asked", "waiting", "playing", "closed"]


class NewAdminSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/admin/sessions: the first factor."""

    name: Annotated[str, Meta(max_length=64)]
    password: Annotated[str, Meta(max_length=1024)]


class ConfirmSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/admin/sessions/confirm: the second factor, six digits of an authenticator app."""

    code: Annotated[str, Meta(max_length=16)]


class AdminSession(msgspec.Struct, frozen=True):
    """A session of an administrator. It ends after `seconds` and is not renewed. Not `confirmed`: it is good for giving
    the second factor, and for nothing else."""

    token: str
    confirmed: bool
    seconds: int
    name: str
    role: Role


class Administrator(msgspec.Struct, frozen=True):
    """GET /v1/admin/me."""

    name: str
    role: Role


class AuditLogQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/admin/audit-log: of one administrator, or about one subject. `before` is the `next_before` of the page
    before."""

    administrator: Annotated[str, Meta(max_length=64)] | None = None
    subject: Annotated[str, Meta(max_length=128)] | None = None
    limit: Annotated[int, Meta(ge=1, le=AUDIT_ENTRIES_MAX)] = AUDIT_ENTRIES_DEFAULT
    before: Annotated[int, Meta(ge=1, le=2**63 - 1)] | None = None


class Act(msgspec.Struct, frozen=True):
    """Who did what to what, and why. `subject` is `table:<id>`, `account:<id>` and so on. Written before it is done;
    one that failed is followed by an `outcome` with its number and the code."""

    administrator: str
    role: Role
    act: str
    subject: str
    reason: OperatorText
    details: JsonObject = {}


class AuditEntry(msgspec.Struct, frozen=True):
    """One act in the log. `body` is its JSON text as stored, an Act; `chain` its link in hex."""

    number: int
    at: Annotated[datetime, Meta(tz=True)]
    body: str
    chain: str


class AuditPage(msgspec.Struct, frozen=True):
    """GET /v1/admin/audit-log, newest first; `next_before` None: that was all."""

    entries: tuple[AuditEntry, ...]
    next_before: int | None


class Reasoned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why something is done: kept in the audit log for ever."""

    reason: OperatorText


class AdminTablesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/admin/tables. `player`: an account's id or handle; `code` and `state` frozen go without the others.
    `since` and `until`: when the table was made. `after` is the `next` of the page before."""

    player: Annotated[str, Meta(max_length=64)] | None = None
    code: Annotated[str, Meta(pattern="^[0-9]{6}$")] | None = None
    game: Annotated[str, Meta(max_length=64)] | None = None
    state: TableStanding | Literal["frozen"] | None = None
    since: Annotated[datetime, Meta(tz=True)] | None = None
    until: Annotated[datetime, Meta(tz=True)] | None = None
    limit: Annotated[int, Meta(ge=1, le=TABLES_FOUND_MAX)] = TABLES_FOUND_DEFAULT
    after: Annotated[str, Meta(max_length=40)] | None = None


class AccountNamed(msgspec.Struct, frozen=True):
    """An account as administrators see it. `handle` None: it is no more."""

    account_id: str
    handle: str | None
    name: str
    avatar: str


class AdminTable(msgspec.Struct, frozen=True):
    """A table of the directory. `players`: everybody who has ever sat there."""

    table_id: str
    state: TableStanding
    terms: TableTerms
    host_account_id: str
    round: int
    created_at: datetime
    closed_at: datetime | None
    players: tuple[AccountNamed, ...]


class AdminTableList(msgspec.Struct, frozen=True):
    """One page, newest first. `next` None: that was all."""

    tables: tuple[AdminTable, ...]
    next: str | None


class LogQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/admin/tables/{table_id}/events: what came after a version. With a `reason`, which is kept, also what came
    after the last round whose result is stored."""

    after: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    reason: OperatorText | None = None


class StateQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/admin/tables/{table_id}/states/{version}. With a `reason`, which is kept, also of a running round."""

    reason: OperatorText | None = None


class Adjustment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/admin/accounts/{account_id}/adjustments: coins from the bank, or below zero back to it."""

    coins: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)]
    reason: OperatorText


class Adjusted(msgspec.Struct, frozen=True):
    """The coins that the account has now."""

    balance_coins: int


LobbyScope = Literal["tables", "all"]


class Ban(msgspec.Struct, frozen=True):
    """Since when and until when (None: for good) an account may not sit at tables, or not sign in at all, and why."""

    scope: LobbyScope
    since: datetime
    until: datetime | None
    reason: str
    administrator: str


class NewBan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/admin/accounts/{account_id}/bans: from tables, from voice notes, or from everything; for `hours`, or
    (None) for good. The player is told the reason."""

    scope: LobbyScope | Literal["voice"]
    reason: OperatorText
    hours: Annotated[int, Meta(ge=1, le=BAN_HOURS_MAX)] | None = None


class LiftBan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/admin/accounts/{account_id}/bans/lift."""

    scope: LobbyScope | Literal["voice"]
    reason: OperatorText


class SessionSeen(msgspec.Struct, frozen=True):
    """A sign-in: when it began, was last renewed, and was ended."""

    began_at: datetime
    used_at: datetime | None
    ended_at: datetime | None


class AccountLookedAt(msgspec.Struct, frozen=True):
    """What is stored of an account itself."""

    account_id: str
    handle: str
    name: str
    avatar: str
    name_login: str | None
    created_at: datetime
    deleted_at: datetime | None


class AdminAccount(msgspec.Struct, frozen=True):
    """GET /v1/admin/accounts/{account_id}: by id or handle. `seated_at`: the table where it sits. `quits`: the last
    games that it quit. `voice_ban` None: it may send notes, or nobody could be asked."""

    account: AccountLookedAt
    sessions: tuple[SessionSeen, ...]
    bans: tuple[Ban, ...]
    voice_ban: VoiceBan | None
    seated_at: str | None
    quits: tuple[GamePlayed, ...]


class NameReset(msgspec.Struct, frozen=True):
    """The name that was chosen in place of the one before."""

    name: str


class NamesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/admin/reported-names. `after` is the `next` of the page before."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    after: Annotated[str, Meta(max_length=80)] | None = None


class ReportedName(msgspec.Struct, frozen=True):
    """An account whose name others have reported. `names` as they were then, `name` is that of now; `reports`: how many
    have, the first one at `reported_at`."""

    account_id: str
    handle: str
    name: str
    names: tuple[str, ...]
    reports: int
    reported_at: datetime


class ReportedNames(msgspec.Struct, frozen=True):
    """Those that nobody has dealt with: the most reports first, then the oldest. `next` None: that was all."""

    names: tuple[ReportedName, ...]
    next: str | None


class DismissName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/admin/accounts/{account_id}/name-dismissal: nothing is wrong with this one of the reported names."""

    name: Annotated[str, Meta(min_length=1, max_length=128)]
    reason: OperatorText


class NotesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/admin/voice-notes. `after` is the `next` of the page before."""

    limit: Annotated[int, Meta(ge=1, le=100)] = 100
    after: Annotated[str, Meta(max_length=80)] | None = None


class NewJudgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """POST /v1/admin/voice-notes/{note_id}/judgement."""

    judgement: Judgement
    reason: OperatorText
