"""What administrators ask and are answered. Open this to write a tool for those who run Darbar."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from darbar_contracts.route import Role as Role
from darbar_contracts.tables import JsonObject, OperatorText

AUDIT_ENTRIES_MAX = 200
AUDIT_ENTRIES_DEFAULT = 50


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
