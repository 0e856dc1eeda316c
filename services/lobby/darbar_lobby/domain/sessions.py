"""What a refresh token is worth: pure rules. Open this when somebody is signed out who should not be."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Literal

import msgspec

from darbar_contracts.api import REFRESH_REPEAT_SECONDS_MAX

REFRESH_TOKEN_BYTES = 32
REFRESH_TOKEN_CHARACTERS_MAX = 128
SUCCESSOR_SALT_BYTES = 32

RefreshJudgement = Literal["good", "repeated", "revoked", "reused", "expired"]


class RefreshState(msgspec.Struct, frozen=True):
    """A refresh token as it is stored. `used_seconds`: how long ago it was used, None for never. `successor_used`: None
    when no successor is known that could be given again."""

    family_revoked: bool
    expired: bool
    used_seconds: float | None = None
    successor_used: bool | None = None


def refresh_judgement(state: RefreshState) -> RefreshJudgement:
    """A token that was used before gets its successor again for a while, unless that has been used too. Later its whole
    family ends: one of the two who hold it has stolen it."""
    if state.family_revoked:
        return "revoked"
    if state.used_seconds is None:
        return "expired" if state.expired else "good"
    is_repeat = state.successor_used is False and state.used_seconds < REFRESH_REPEAT_SECONDS_MAX
    return "repeated" if is_repeat else "reused"


def successor_of(refresh_token: str, salt: bytes) -> str:
    """The token that comes after this one: the same for the same salt, and a secret to who has only the salt."""
    made = hmac.digest(refresh_token.encode("utf-8", "replace"), salt, "sha256")
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


def token_sha256(token: str) -> bytes:
    """What is stored of a refresh token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
