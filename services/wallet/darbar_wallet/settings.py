"""What can be set from outside. Open this to add a setting."""

from __future__ import annotations

import msgspec

from darbar_kit.database import LeaseSeconds

REQUESTS_A_MINUTE_MAX = 600


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_WALLET_DATABASE_URL and so on.

    `token_public_key`: Ed25519, PEM; the lobby has the private half. `generation` grows with every restore from a
    backup. The coins are what the house grants: to a new account, and as the daily top-up. `requests_a_minute_max`
    is by address, 0 for no limit. `trusted_proxies`: addresses or networks whose X-Forwarded-For is believed.
    """

    database_url: str
    nats_url: str
    token_public_key: str
    unsafe_storage: bool = False
    generation: int = 1
    new_account_coins: int = 5000
    top_up_to_coins: int = 1000
    top_up_below_coins: int = 100
    database_connections_max: int = 4
    requests_a_minute_max: int = REQUESTS_A_MINUTE_MAX
    trusted_proxies: tuple[str, ...] = ()
    lease_seconds: float = 4.0
    renew_seconds: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.top_up_below_coins <= self.top_up_to_coins:
            raise ValueError("top_up_below_coins must be above 0 and at most top_up_to_coins")
        if self.new_account_coins < 1:
            raise ValueError("new_account_coins must be at least 1")
        if not 0 < self.renew_seconds < self.lease_seconds:
            raise ValueError("renew_seconds must be above 0 and below lease_seconds")
        if self.database_connections_max < 1:
            raise ValueError("database_connections_max must be at least 1")

    @property
    def lease(self) -> LeaseSeconds:
        """A writer never answers from memory: when it would have to fall silent makes no difference."""
        answering = (self.renew_seconds + self.lease_seconds) / 2
        return LeaseSeconds(renew=self.renew_seconds, answering=answering, expiry=self.lease_seconds)
