"""What can be set from outside. Open this to add a setting."""

from __future__ import annotations

import msgspec


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read with the prefix `DARBAR_BOT_`. `workers` is the number of child processes that decide."""

    nats_url: str
    workers: int = 1
