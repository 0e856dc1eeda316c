"""What happens when people come, sign in, change their name, leave. Open this about accounts and sessions."""

from __future__ import annotations

import secrets
import unicodedata
import uuid

import msgspec

from darbar_contracts.admin.api import Ban
from darbar_contracts.api import Account, ChangeMe, MeChanged, NewGuest, Session
from darbar_contracts.lobby import BANNED_ROLE
from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_kit.names import clean_name
from darbar_kit.text import clean
from darbar_kit.tokens import ACCESS_SECONDS, Claims, TokenWriter
from darbar_lobby.domain.names import AVATARS, NAME_CHARACTERS_MAX, name_is_allowed, normalised_login_name, random_name
from darbar_lobby.domain.sessions import (
    REFRESH_TOKEN_BYTES,
    REFRESH_TOKEN_CHARACTERS_MAX,
    SUCCESSOR_SALT_BYTES,
    token_sha256,
)
from darbar_lobby.handlers.grants import GRANT_FIRST_WAIT_SECONDS, Grants, new_account_key
from darbar_lobby.handlers.passwords import PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN, Passwords
from darbar_lobby.metrics import Metrics
from darbar_lobby.store.accounts import AccountStore, NameLoginTaken, StoredAccount
from darbar_lobby.store.bans import BanStore

_REFRESH_REASONS = {
    None: Reason.REFRESH_TOKEN_INVALID,
    "revoked": Reason.REFRESH_TOKEN_REVOKED,
    "reused": Reason.REFRESH_TOKEN_REUSED,
    "expired": Reason.REFRESH_TOKEN_EXPIRED,
}


class Face(msgspec.Struct, frozen=True):
    """What others see of an account."""

    name: str
    avatar: str


class Accounts:
    """One method for each thing that people do."""

    def __init__(
        self,
        *,
        store: AccountStore,
        bans: BanStore,
        writer: TokenWriter,
        passwords: Passwords,
        grants: Grants,
        metrics: Metrics,
    ) -> None:
        self._store = store
        self._bans = bans
        self._writer = writer
        self._passwords = passwords
        self._grants = grants
        self._metrics = metrics

    async def new_guest(self, face: Face) -> Session:
        """An account that needs no password; its first coins are owed from the same moment."""
        account = StoredAccount(uuid.uuid4().hex, face.name, face.avatar, "player", None, None)
        refresh_token = new_refresh_token()
        await self._store.new_account(
            account.account_id,
            account.name,
            account.avatar,
            grant_key=new_account_key(account.account_id),
            grant_wait_seconds=GRANT_FIRST_WAIT_SECONDS,
            first_token=token_sha256(refresh_token),
        )
        self._metrics.guests.inc()
        await self._grants.ask_first(account.account_id)
        return self._session(account, refresh_token)

    async def sign_in(self, login_name: str | None, password: str) -> Session:
        """Raises Refused; never says which of the two was wrong, and takes as long for either."""
        account = None if login_name is None else await self._store.account_by_login(login_name)
        is_good = await self._passwords.verify(
            normalised_password(password), account.password_hash if account else None
        )
        if account is None or not is_good:
            raise Refused(Reason.CREDENTIALS_WRONG)
        account = await self.account(account.account_id)
        refresh_token = new_refresh_token()
        await self._store.new_session(account.account_id, token_sha256(refresh_token))
        return self._session(account, refresh_token)

    async def refresh(self, refresh_token: str) -> Session:
        """Each refresh token works once; asked again within a minute it gets the same answer."""
        if len(refresh_token) > REFRESH_TOKEN_CHARACTERS_MAX:
            raise Refused(Reason.REFRESH_TOKEN_INVALID)
        rotation = await self._store.rotate(refresh_token, salt=secrets.token_bytes(SUCCESSOR_SALT_BYTES))
        if rotation.account_id is None or rotation.judgement not in ("good", "repeated"):
            raise Refused(_REFRESH_REASONS[rotation.judgement])
        self._metrics.refreshes.labels(rotation.judgement).inc()
        return self._session(await self.account(rotation.account_id), rotation.successor)

    async def end_session(self, refresh_token: str) -> None:
        """Says nothing about whether there was one."""
        await self._store.end_session(token_sha256(refresh_token))

    async def end_sessions(self, account_id: str) -> None:
        await self._store.end_sessions(account_id)

    async def account(self, account_id: str) -> StoredAccount:
        """Raises Refused when the token outlived its account, or the account is banned from everything. One that is
        banned from tables has another role."""
        account = await self._store.account(account_id)
        if account is None:
            raise Refused(Reason.ACCOUNT_UNKNOWN)
        for ban in await self._bans.bans(account_id):
            if ban.scope == "all":
                raise banned(ban)
            account = msgspec.structs.replace(account, role=BANNED_ROLE)
        return account

    async def player(self, account_id: str) -> StoredAccount:
        """For what is only for those who may sit at tables. Raises Refused."""
        account = await self.account(account_id)
        for ban in await self._bans.bans(account_id):
            raise banned(ban)
        return account

    async def require_password(self, account_id: str, password: str | None) -> None:
        """Raises Refused unless it is the account's own; one without a password needs none."""
        await self._require_password(await self.account(account_id), password)

    async def change(self, account_id: str, body: ChangeMe) -> MeChanged:
        """Name, avatar, login name and password; what is left out stays."""
        before = await self.account(account_id)
        after = await self._changed(before, body)
        is_new_password = body.password is not None and before.password_hash is not None
        refresh_token = new_refresh_token() if is_new_password else None
        try:
            stored = await self._store.change_account(
                after,
                password_hash_before=before.password_hash,
                new_session=token_sha256(refresh_token) if refresh_token else None,
            )
        except NameLoginTaken:
            raise Refused(Reason.NAME_LOGIN_TAKEN) from None
        if stored is None:
            raise Refused(Reason.CREDENTIALS_WRONG, "The password was changed a moment ago.")
        stored = msgspec.structs.replace(stored, role=before.role)
        return MeChanged(to_public(stored), self._access_token(stored), ACCESS_SECONDS, refresh_token)

    async def _changed(self, before: StoredAccount, body: ChangeMe) -> StoredAccount:
        changed = msgspec.structs.replace(
            before,
            name=before.name if body.name is None else validated_name(body.name),
            avatar=before.avatar if body.avatar is None else validated_avatar(body.avatar),
        )
        if body.name_login is None and body.password is None:
            return changed
        name_login = before.name_login if body.name_login is None else validated_login_name(body.name_login)
        password = None if body.password is None else validated_password(body.password)
        if before.password_hash is None and (name_login is None or password is None):
            raise Refused(Reason.PASSWORD_MISSING)
        await self._require_password(before, body.password_current)
        password_hash = before.password_hash if password is None else await self._passwords.hash(password)
        return msgspec.structs.replace(changed, name_login=name_login, password_hash=password_hash)

    async def _require_password(self, account: StoredAccount, password: str | None) -> None:
        if account.password_hash is not None and not await self._passwords.verify(
            normalised_password(password or ""), account.password_hash
        ):
            raise Refused(Reason.CREDENTIALS_WRONG, "The current password is needed.")

    def _session(self, account: StoredAccount, refresh_token: str) -> Session:
        return Session(to_public(account), self._access_token(account), refresh_token, ACCESS_SECONDS)

    def _access_token(self, account: StoredAccount) -> str:
        return self._writer.write(Claims(account.account_id, account.name, account.avatar, account.role))


def chosen_face(body: NewGuest) -> Face:
    """What a guest has chosen, or what is chosen for one who has not. Raises Refused."""
    name = random_name(secrets.choice) if body.name is None else validated_name(body.name)
    avatar = secrets.choice(AVATARS) if body.avatar is None else validated_avatar(body.avatar)
    return Face(name, avatar)


def banned(ban: Ban) -> Refused:
    """With what the player is told."""
    until = None if ban.until is None else ban.until.isoformat()
    return Refused(Reason.BANNED, details={"scope": ban.scope, "until": until, "reason": ban.reason})


def to_public(account: StoredAccount) -> Account:
    """As its owner sees it."""
    return Account(account.account_id, account.name, account.avatar, account.role, account.name_login)


def new_refresh_token() -> str:
    return secrets.token_urlsafe(REFRESH_TOKEN_BYTES)


def validated_name(name: str) -> str:
    """The name without blanks around and doubled inside. Raises Refused."""
    tidy = clean_name(name, characters_max=4 * NAME_CHARACTERS_MAX)
    if not name_is_allowed(tidy):
        raise Refused(Reason.NAME_NOT_ALLOWED)
    return tidy


def validated_avatar(avatar: str) -> str:
    if avatar not in AVATARS:
        raise Refused(Reason.AVATAR_UNKNOWN, details={"avatars": AVATARS})
    return avatar


def validated_login_name(text: str) -> str:
    login_name = normalised_login_name(text)
    if login_name is None:
        raise Refused(Reason.NAME_LOGIN_INVALID)
    return login_name


def validated_password(password: str) -> str:
    normal = clean(password, characters_max=PASSWORD_CHARACTERS_MAX)
    if len(normal) < PASSWORD_CHARACTERS_MIN:
        details = {"characters_min": PASSWORD_CHARACTERS_MIN, "characters_max": PASSWORD_CHARACTERS_MAX}
        raise Refused(Reason.PASSWORD_INVALID, details=details)
    return normal


def normalised_password(password: str) -> str:
    """As it was stored: keyboards differ in how they spell one and the same letter."""
    return unicodedata.normalize("NFC", password)
