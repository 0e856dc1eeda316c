"""How passwords are kept and checked. Open this when signing in is slow or too quick."""

from __future__ import annotations

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from darbar_kit.limits import AtOnce

PASSWORD_CHARACTERS_MIN = 10
PASSWORD_CHARACTERS_MAX = 128
MEMORY_KIBIBYTES = 19 * 1024
PASSES = 2
LANES = 1
# Each takes 19 MiB and a core; some more wait, and whoever comes then is asked to try again.
HASHES_AT_ONCE_MAX = 2
HASHES_WAITING_MAX = 32


class Passwords:
    """argon2id in a thread: it must not hold the event loop."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIBIBYTES, parallelism=LANES)
        self._hashing = AtOnce(running_max=HASHES_AT_ONCE_MAX, waiting_max=HASHES_WAITING_MAX)
        # Checked when there is no such account, so that a wrong name takes as long as a wrong password.
        self._nobodys_hash = self._hasher.hash("nobody has this password")

    async def hash(self, password: str) -> str:
        """What is stored. Raises Unavailable when too many are asked for."""
        async with self._hashing.running():
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, password: str, password_hash: str | None) -> bool:
        """False for None, after the usual time. Raises Unavailable when too many are asked for."""
        async with self._hashing.running():
            return await asyncio.to_thread(self._verify, password, password_hash)

    def _verify(self, password: str, password_hash: str | None) -> bool:
        try:
            self._hasher.verify(password_hash or self._nobodys_hash, password)
        except (VerificationError, InvalidHashError):
            return False
        return password_hash is not None
