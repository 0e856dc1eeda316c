"""The HTTP routes of administrators, which the lobby answers. Open this to add one: its `role` says whom it lets in."""

from __future__ import annotations

from darbar_contracts.admin.api import (
    Administrator,
    AdminSession,
    AdminTableList,
    AdminTablesQuery,
    AuditLogQuery,
    AuditPage,
    ConfirmSession,
    LogQuery,
    NewAdminSession,
    Reasoned,
    StateQuery,
)
from darbar_contracts.admin.disclosure import FrozenTables, TableState
from darbar_contracts.refusals import Reason
from darbar_contracts.route import NDJSON, Route
from darbar_contracts.tables import TableOperated

_OF_RUNNING_ROUNDS = (Reason.ADMIN_NEEDED, Reason.OWN_TABLE, Reason.TABLE_UNKNOWN)
_OF_OPERATING = (Reason.TABLE_CLOSED, Reason.TABLE_FROZEN, Reason.TABLE_UNKNOWN, Reason.TABLE_UNREADABLE)

ADMIN: tuple[Route, ...] = (
    Route(
        name="new_admin_session",
        method="POST",
        path="/v1/admin/sessions",
        does="Signs an administrator in by name and password; the second factor follows.",
        token="none",
        body=NewAdminSession,
        answers={201: AdminSession},
        reasons=(Reason.CREDENTIALS_WRONG,),
    ),
    Route(
        name="confirm_admin_session",
        method="POST",
        path="/v1/admin/sessions/confirm",
        does="Gives the second factor; the answer's token takes the place of the one before.",
        body=ConfirmSession,
        answers={201: AdminSession},
        reasons=(Reason.NOT_ADMINISTRATOR, Reason.SECOND_FACTOR_WRONG),
    ),
    Route(
        name="end_admin_session",
        method="DELETE",
        path="/v1/admin/sessions",
        does="Ends the session of the token.",
        answers={204: None},
        reasons=(Reason.NOT_ADMINISTRATOR,),
    ),
    Route(
        name="administrator",
        method="GET",
        path="/v1/admin/me",
        does="Who is signed in.",
        role="auditor",
        answers={200: Administrator},
    ),
    Route(
        name="audit_log",
        method="GET",
        path="/v1/admin/audit-log",
        does="What administrators have done, the last act first.",
        role="auditor",
        query=AuditLogQuery,
        answers={200: AuditPage},
    ),
    Route(
        name="admin_tables",
        method="GET",
        path="/v1/admin/tables",
        does="Tables by player, code, game, state and time, newest first.",
        role="auditor",
        query=AdminTablesQuery,
        answers={200: AdminTableList},
    ),
    Route(
        name="table_events",
        method="GET",
        path="/v1/admin/tables/{table_id}/events",
        does="A table's log with every hand, who decided and how fast; a LoggedEvent a line.",
        role="auditor",
        query=LogQuery,
        answers={200: NDJSON},
        reasons=_OF_RUNNING_ROUNDS,
    ),
    Route(
        name="table_state",
        method="GET",
        path="/v1/admin/tables/{table_id}/states/{version}",
        does="How a table stood after a version, as each seat knew it.",
        role="auditor",
        query=StateQuery,
        answers={200: TableState},
        reasons=(*_OF_RUNNING_ROUNDS, Reason.VERSION_UNKNOWN),
    ),
    Route(
        name="frozen_tables",
        method="GET",
        path="/v1/admin/frozen-tables",
        does="Tables that a fault of ours has stopped, each with the command that did it.",
        role="auditor",
        answers={200: FrozenTables},
    ),
    Route(
        name="resume_table",
        method="POST",
        path="/v1/admin/tables/{table_id}/resume",
        does="Lets a table go on that was stopped.",
        role="admin",
        body=Reasoned,
        answers={200: TableOperated},
        reasons=_OF_OPERATING,
    ),
    Route(
        name="void_table",
        method="POST",
        path="/v1/admin/tables/{table_id}/void",
        does="Ends a table: every bet of an unfinished unit goes back.",
        role="admin",
        body=Reasoned,
        answers={200: TableOperated},
        reasons=_OF_OPERATING,
    ),
)
