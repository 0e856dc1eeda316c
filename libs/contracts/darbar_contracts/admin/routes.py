"""The HTTP routes of administrators, which the lobby answers. Open this to add one: its `role` says whom it lets in."""

from __future__ import annotations

from darbar_contracts.admin.api import (
    Administrator,
    AdminSession,
    AuditLogQuery,
    AuditPage,
    ConfirmSession,
    NewAdminSession,
)
from darbar_contracts.refusals import Reason
from darbar_contracts.route import Route

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
)
