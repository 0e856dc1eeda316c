"""What a refresh token is worth: pure rules. Open this when somebody is signed out who should not be."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

REFRESH_TOKEN_BYTES = 32
REFRESH_TOKEN_CHARACTERS_MAX = 128

RefreshJudgement = Literal["good", "revoked", "reused", "expired"]


class RefreshState(msgspec.Struct, frozen=True):
    """A refresh token as it is stored."""

    account_id: str
    family_revoked: bool
    used: bool
    expired: bool


def refresh_judgement(state: RefreshState) -> RefreshJudgement:
    """A token that was used before ends its whole family: one of the two who hold it has stolen it."""
    if state.family_revoked:
        return "revoked"
    if state.used:
        return "reused"
    return "expired" if state.expired else "good"


def token_sha256(token: str) -> bytes:
    """What is stored of a refresh token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
