"""What an operator can set for the lobby. Open this to add a setting."""

from __future__ import annotations

import msgspec

GUESTS_AN_HOUR_MAX = 5


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from LOBBY_DATABASE_URL and so on.

    `token_private_key`: Ed25519, PEM; the table service has the public half. `guests_an_hour_max`: new accounts an
    address, 0 for no limit. `trusted_proxies`: addresses or networks whose X-Forwarded-For is believed.
    """

    database_url: str
    nats_url: str
    token_private_key: str
    public_url: str
    unsafe_storage: bool = False
    guests_an_hour_max: int = GUESTS_AN_HOUR_MAX
    trusted_proxies: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    database_connections_max: int = 8
