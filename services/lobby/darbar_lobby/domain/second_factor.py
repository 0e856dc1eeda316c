"""Codes of an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds). Open this when a right code is refused."""

from __future__ import annotations

import base64
import hmac
import re
from urllib.parse import quote

STEP_SECONDS = 30
DIGITS = 6
SECRET_BYTES = 20
# Clocks of phones go wrong: the step before and the one after are as good.
STEPS_BESIDE = 1

_CODE = re.compile(rf"[0-9]{{{DIGITS}}}")


def code_at(secret: bytes, step: int) -> str:
    """The code of one step."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    at = digest[-1] & 0x0F
    number = int.from_bytes(digest[at : at + 4], "big") & 0x7FFF_FFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def step_of(secret: bytes, code: str, *, now: float, used: int) -> int | None:
    """The step after `used` whose code this is; None when it is none of now. `now` in seconds since 1970."""
    if not _CODE.fullmatch(code):
        return None
    middle = int(now) // STEP_SECONDS
    steps = range(max(used + 1, middle - STEPS_BESIDE), middle + STEPS_BESIDE + 1)
    return next((step for step in steps if hmac.compare_digest(code_at(secret, step), code)), None)


def address_for_apps(name: str, secret: bytes) -> str:
    """What an authenticator app takes in, by a picture of it or typed."""
    key = base64.b32encode(secret).decode().rstrip("=")
    return f"otpauth://totp/{quote(f'Darbar:{name}')}?secret={key}&issuer=Darbar"
