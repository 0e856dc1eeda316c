"""How administrators sign in and what a session lets them do. Open this when one is refused who should not be."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from darbar_contracts.admin.api import Act, AdminSession, ConfirmSession, NewAdminSession, Role
from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_kit.tokens import TokenReader
from darbar_lobby.domain.second_factor import step_of
from darbar_lobby.domain.sessions import token_sha256
from darbar_lobby.handlers.accounts import normalised_password
from darbar_lobby.handlers.passwords import Passwords
from darbar_lobby.metrics import Metrics
from darbar_lobby.store.administrators import AdministratorStore, SignedIn
from darbar_lobby.store.audit_log import AuditLog

TOKEN_BYTES = 32
TOKEN_CHARACTERS_MAX = 128
# Between the two factors.
CONFIRM_SECONDS_MAX = 300
CODES_MAX = 5
SESSION_SECONDS_MAX = 30 * 60
SIGNING_IN = "signs in"
SIGNING_OUT = "signs out"


class AdminSessions:
    """The two factors one after the other. `clock` tells seconds since 1970, for the second one."""

    def __init__(
        self,
        *,
        store: AdministratorStore,
        audit_log: AuditLog,
        passwords: Passwords,
        reader: TokenReader,
        metrics: Metrics,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._audit_log = audit_log
        self._passwords = passwords
        self._reader = reader
        self._metrics = metrics
        self._clock = clock

    async def sign_in(self, body: NewAdminSession) -> AdminSession:
        """Raises Refused; never says which of the two was wrong, and takes as long for either."""
        found = await self._store.by_name(body.name)
        is_good = await self._passwords.verify(
            normalised_password(body.password), found.password_hash if found else None
        )
        if found is None or not is_good:
            self._metrics.administrators_refused.labels(Reason.CREDENTIALS_WRONG).inc()
            raise Refused(Reason.CREDENTIALS_WRONG)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        await self._store.new_session(
            token_sha256(token),
            found.administrator_id,
            confirmed=False,
            codes=CODES_MAX,
            seconds=CONFIRM_SECONDS_MAX,
            instead_of=b"",
        )
        return AdminSession(token, False, CONFIRM_SECONDS_MAX, found.name, found.role)

    async def confirm(self, token: str, who: SignedIn, body: ConfirmSession) -> AdminSession:
        """Raises Refused; after CODES_MAX tries one has to begin again with the password."""
        tried = await self._store.try_code(token_sha256(token))
        step = None if tried is None else step_of(tried[0], body.code, now=self._clock(), used=tried[1])
        if step is None or not await self._store.use_code(who.administrator_id, step):
            self._metrics.administrators_refused.labels(Reason.SECOND_FACTOR_WRONG).inc()
            raise Refused(Reason.SECOND_FACTOR_WRONG)
        confirmed = secrets.token_urlsafe(TOKEN_BYTES)
        await self._audit_log.add(Act(who.name, who.role, "sign_in", f"administrator:{who.name}", SIGNING_IN))
        await self._store.new_session(
            token_sha256(confirmed),
            who.administrator_id,
            confirmed=True,
            codes=0,
            seconds=SESSION_SECONDS_MAX,
            instead_of=token_sha256(token),
        )
        return AdminSession(confirmed, True, SESSION_SECONDS_MAX, who.name, who.role)

    async def end(self, token: str, who: SignedIn) -> None:
        if who.confirmed:
            await self._audit_log.add(Act(who.name, who.role, "sign_out", f"administrator:{who.name}", SIGNING_OUT))
        await self._store.end_session(token_sha256(token))

    async def of(self, token: str) -> SignedIn:
        """Whose token this is, confirmed or not. Raises Refused: nobody's, a player's, or one that has ended."""
        found = None if len(token) > TOKEN_CHARACTERS_MAX else await self._store.signed_in(token_sha256(token))
        if found is None:
            # A good one of a player; of any other this raises.
            self._reader.read(token)
            raise Refused(Reason.NOT_ADMINISTRATOR)
        if found.expired:
            raise Refused(Reason.TOKEN_EXPIRED)
        return found

    async def admit(self, token: str, role: Role) -> SignedIn:
        """Whoever has both factors and at least this role. Raises Refused."""
        found = await self.of(token)
        if not found.confirmed:
            raise Refused(Reason.SECOND_FACTOR_MISSING)
        if role == "admin" and found.role != "admin":
            raise Refused(Reason.ADMIN_NEEDED)
        return found
