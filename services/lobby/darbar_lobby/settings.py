"""What an operator can set for the lobby. Open this to add a setting."""

from __future__ import annotations

import msgspec

from darbar_contracts.tables import TermsLimits

GUESTS_AN_HOUR_MAX = 5
REQUESTS_A_MINUTE_MAX = 600
CODE_LOOKUPS_A_MINUTE_MAX = 10


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from the environment.

    `token_private_key`: Ed25519, PEM; the other services have the public half. Limits by address, 0 for none:
    `guests_an_hour_max` new accounts, `requests_a_minute_max`, `code_lookups_a_minute_max`. `trusted_proxies`:
    addresses or networks whose X-Forwarded-For is believed. `rules_folder`: where docs/rules lies; empty: not served.
    """

    database_url: str
    nats_url: str
    token_private_key: str
    public_url: str
    unsafe_storage: bool = False
    guests_an_hour_max: int = GUESTS_AN_HOUR_MAX
    requests_a_minute_max: int = REQUESTS_A_MINUTE_MAX
    code_lookups_a_minute_max: int = CODE_LOOKUPS_A_MINUTE_MAX
    trusted_proxies: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    rules_folder: str = ""
    database_connections_max: int = 8
    terms: TermsLimits = TermsLimits()
