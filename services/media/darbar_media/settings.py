"""What can be set from outside. Open this to add a setting."""

from __future__ import annotations

import msgspec

from darbar_kit.seals import KEY_CHARACTERS_MIN

REQUESTS_A_MINUTE_MAX = 600
# Three tries a round, and a round takes longer than a minute.
UPLOADS_A_MINUTE_MAX = 12
PROCESSES_MAX = 32


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_MEDIA_DATABASE_URL and so on.

    `token_public_key`: Ed25519, PEM; the lobby has the private half. `ticket_key`: what table and media sign
    tickets and links with, the same for both. `processes`: how many recordings are worked on at once. Limits, 0 for
    none: `requests_a_minute_max` by address, `uploads_a_minute_max` by account. `trusted_proxies`: addresses or
    networks whose X-Forwarded-For is believed.
    """

    database_url: str
    nats_url: str
    token_public_key: str
    ticket_key: str
    unsafe_storage: bool = False
    database_connections_max: int = 4
    processes: int = 1
    requests_a_minute_max: int = REQUESTS_A_MINUTE_MAX
    uploads_a_minute_max: int = UPLOADS_A_MINUTE_MAX
    trusted_proxies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.ticket_key) < KEY_CHARACTERS_MIN:
            raise ValueError(f"ticket_key must have at least {KEY_CHARACTERS_MIN} characters")
        if self.database_connections_max < 1:
            raise ValueError("database_connections_max must be at least 1")
        if not 1 <= self.processes <= PROCESSES_MAX:
            raise ValueError(f"processes must be from 1 to {PROCESSES_MAX}")
