"""Small texts that nobody but the services can write: tickets and links. Open this when one is taken for forged."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TypeVar

import msgspec

SEALED_CHARACTERS_MAX = 1024
KEY_CHARACTERS_MIN = 16

_Sealed = TypeVar("_Sealed", bound=msgspec.Struct)


class SealBroken(Exception):
    """The text was not written with this key, or for another type."""


class Seal:
    """HMAC-SHA256 over the type's name and the value. When a text ends is for the value itself to say."""

    def __init__(self, key: str) -> None:
        if len(key) < KEY_CHARACTERS_MIN:
            raise ValueError(f"a key has at least {KEY_CHARACTERS_MIN} characters")
        self._key = key.encode()

    def write(self, value: msgspec.Struct) -> str:
        """The value and its proof, in characters that fit a header and a query."""
        body = msgspec.json.encode(value)
        return f"{_text(body)}.{_text(self._proof(type(value), body))}"

    def read(self, text: str, type: type[_Sealed]) -> _Sealed:
        """Raises SealBroken."""
        try:
            body, proof = (_bytes(part) for part in text[: SEALED_CHARACTERS_MAX + 1].split("."))
            if len(text) > SEALED_CHARACTERS_MAX or not hmac.compare_digest(proof, self._proof(type, body)):
                raise SealBroken
            return msgspec.json.decode(body, type=type)
        except (ValueError, msgspec.DecodeError) as error:
            raise SealBroken from error

    def _proof(self, type: type[msgspec.Struct], body: bytes) -> bytes:
        return hmac.digest(self._key, type.__name__.encode() + b"\0" + body, hashlib.sha256)


def _text(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
