"""Who is asking. Open this when a token is refused that should be good, or the other way round."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import jwt
import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from darbar_kit.errors import KitReason, Refused

ACCESS_SECONDS = 900
# Verified tokens are remembered, so that a client's next request costs no signature. The oldest goes when full.
TOKENS_REMEMBERED_MAX = 10_000
TOKEN_CHARACTERS_MAX = 2048
# The one who was shut out longest ago is forgotten first.
SHUT_OUT_MAX = 10_000
_ALGORITHM = "EdDSA"
_ISSUER = "darbar"
_FOR_EVER = datetime.max.replace(tzinfo=UTC)


class Claims(msgspec.Struct, frozen=True):
    """What a token says about its bearer. The writer may shorten `expires_at`; what was read is a fact."""

    account_id: str
    name: str
    avatar: str
    role: str
    expires_at: datetime = _FOR_EVER


def _now() -> datetime:
    return datetime.now(UTC)


class TokenWriter:
    """Signs access tokens; only the service that owns the accounts holds the private key."""

    def __init__(
        self, private_key_pem: str, *, access_seconds: int = ACCESS_SECONDS, clock: Callable[[], datetime] = _now
    ) -> None:
        self._key = _private_key(private_key_pem)
        self._access = timedelta(seconds=access_seconds)
        self._clock = clock

    def write(self, claims: Claims) -> str:
        """A token that ends at `claims.expires_at`, or after the access time when that is sooner."""
        now = self._clock()
        payload = {
            "iss": _ISSUER,
            "sub": claims.account_id,
            "name": claims.name,
            "avatar": claims.avatar,
            "role": claims.role,
            "iat": int(now.timestamp()),
            "exp": int(min(claims.expires_at, now + self._access).timestamp()),
        }
        return jwt.encode(payload, self._key, algorithm=_ALGORITHM)


class TokenReader:
    """Checks access tokens with the public key. Cheap for a token that it has seen before."""

    def __init__(self, public_key_pem: str, *, clock: Callable[[], datetime] = _now) -> None:
        self._key = _public_key(public_key_pem)
        self._clock = clock
        self._remembered: OrderedDict[str, Claims] = OrderedDict()
        self._shut_out: OrderedDict[str, tuple[datetime, Refused]] = OrderedDict()

    def shut_out(self, account_id: str, refusal: Refused) -> None:
        """No token of this account is good, as long as those that it may have now last: `refusal` is raised."""
        self._shut_out[account_id] = self._clock() + timedelta(seconds=ACCESS_SECONDS), refusal
        self._shut_out.move_to_end(account_id)
        if len(self._shut_out) > SHUT_OUT_MAX:
            self._shut_out.popitem(last=False)

    def let_in(self, account_id: str) -> None:
        """The account's tokens are good again."""
        self._shut_out.pop(account_id, None)

    def shut_out_only(self, refusals: Mapping[str, Refused]) -> None:
        """These accounts and no others."""
        self._shut_out.clear()
        for account_id, refusal in refusals.items():
            self.shut_out(account_id, refusal)

    @property
    def remembered(self) -> int:
        return len(self._remembered)

    def read(self, token: str) -> Claims:
        """Raises Refused (401) when the token is not ours, was changed, or has ended."""
        claims = self._remembered.get(token)
        if claims is None:
            claims = self._verified(token)
            self._remembered[token] = claims
            if len(self._remembered) > TOKENS_REMEMBERED_MAX:
                self._remembered.popitem(last=False)
        if self._clock() >= claims.expires_at:
            self._remembered.pop(token, None)
            raise Refused(KitReason.TOKEN_EXPIRED)
        until, refusal = self._shut_out.get(claims.account_id, (claims.expires_at, None))
        if refusal is not None and self._clock() < until:
            raise refusal
        return claims

    def _verified(self, token: str) -> Claims:
        if not token or len(token) > TOKEN_CHARACTERS_MAX:
            raise Refused(KitReason.TOKEN_INVALID)
        # The end is checked by read(), with the same clock for new and remembered tokens.
        options: jwt.types.Options = {"require": ["iss", "sub", "exp"], "verify_exp": False, "verify_iat": False}
        try:
            payload = jwt.decode(token, self._key, algorithms=[_ALGORITHM], issuer=_ISSUER, options=options)
            return Claims(
                account_id=str(payload["sub"]),
                name=str(payload["name"]),
                avatar=str(payload["avatar"]),
                role=str(payload["role"]),
                expires_at=datetime.fromtimestamp(int(payload["exp"]), UTC),
            )
        except (jwt.InvalidTokenError, KeyError, ValueError, OverflowError, UnicodeError) as error:
            raise Refused(KitReason.TOKEN_INVALID) from error


def new_private_key_pem() -> str:
    """A fresh Ed25519 key."""
    return (
        Ed25519PrivateKey.generate()
        .private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        .decode()
    )


def public_key_pem(private: str) -> str:
    """The public half, which every service may know."""
    public = _private_key(private).public_key()
    return public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


def _private_key(pem: str) -> Ed25519PrivateKey:
    key = serialization.load_pem_private_key(pem.encode(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise TypeError("the token key must be an Ed25519 private key")
    return key


def _public_key(pem: str) -> Ed25519PublicKey:
    key = serialization.load_pem_public_key(pem.encode())
    if not isinstance(key, Ed25519PublicKey):
        raise TypeError("the token key must be an Ed25519 public key")
    return key
