"""Nothing is done by an administrator that is not in the log before. Open this to add an act."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from darbar_contracts.admin.api import Act
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.store.administrators import SignedIn
from darbar_lobby.store.audit_log import AuditLog

LOOKING = "looks"

_log = structlog.get_logger()


class Acts:
    """Writes down what is about to be done, and then what did not come of it."""

    def __init__(self, audit_log: AuditLog) -> None:
        self._audit_log = audit_log

    async def looked(self, who: SignedIn, act: str, subject: str, **details: object) -> None:
        """Before what is somebody's own is shown: for that nobody has to say why. Raises DatabaseAway."""
        await self._audit_log.add(Act(who.name, who.role, act, subject, LOOKING, dict(details)))

    @asynccontextmanager
    async def noted(
        self, who: SignedIn, act: str, subject: str, *, reason: str, **details: object
    ) -> AsyncIterator[None]:
        """Around the act. Raises DatabaseAway when it can't be written down: then nothing is done."""
        number = await self._audit_log.add(Act(who.name, who.role, act, subject, reason, dict(details)))
        try:
            yield
        except (Refused, Unavailable) as error:
            outcome = Act(who.name, who.role, "outcome", subject, reason, {"of": number, "code": error.code})
            try:
                await self._audit_log.add(outcome)
            except Unavailable as away:
                _log.error("outcome_not_noted", number=number, code=error.code, because=away.code)
            raise
