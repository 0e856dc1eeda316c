"""What can be set from outside. Open this to add a setting."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from darbar_kit.seals import KEY_CHARACTERS_MIN

REQUESTS_A_MINUTE_MAX = 600
# Three tries a round, and a round takes longer than a minute.
UPLOADS_A_MINUTE_MAX = 12
PROCESSES_MAX = 32


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from DARBAR_MEDIA_DATABASE_URL and so on.

    `token_public_key`: Ed25519, PEM; the lobby has the private half. `ticket_key`: what table and media sign
    tickets and links with, the same for both. `sounds_url`: a bucket of an S3-compatible store, as in
    https://KEY:SECRET@HOST/BUCKET?region=REGION; where it is empty, sound lies in JetStream. `processes`: how many
    recordings are worked on at once. Limits, 0 for none: `requests_a_minute_max` by address, `uploads_a_minute_max`
    by account. `trusted_proxies`: addresses or networks whose X-Forwarded-For is believed.
    """

    database_url: str
    nats_url: str
    token_public_key: str
    ticket_key: str
    unsafe_storage: bool = False
    database_connections_max: int = 4
    sounds_url: str = ""
    processes: int = 1
    requests_a_minute_max: int = REQUESTS_A_MINUTE_MAX
    uploads_a_minute_max: int = UPLOADS_A_MINUTE_MAX
    trusted_proxies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.ticket_key) < KEY_CHARACTERS_MIN:
            raise ValueError(f"ticket_key must have at least {KEY_CHARACTERS_MIN} characters")
        if self.sounds_url:
            bucket_of(self.sounds_url)
        if self.database_connections_max < 1:
            raise ValueError("database_connections_max must be at least 1")
        if not 1 <= self.processes <= PROCESSES_MAX:
            raise ValueError(f"processes must be from 1 to {PROCESSES_MAX}")


class Bucket(msgspec.Struct, frozen=True):
    """A bucket of an S3-compatible store. Without `key_id` whoever runs the process has a way of its own."""

    endpoint: str
    name: str
    region: str
    key_id: str
    secret: str


def bucket_of(url: str) -> Bucket:
    """Of `sounds_url`. Raises ValueError, which does not repeat it: it has a secret in it."""
    parts = urlsplit(url)
    name, query = parts.path.strip("/"), parse_qs(parts.query)
    is_one = parts.scheme in ("http", "https") and parts.hostname and name and "/" not in name
    if not is_one or query.keys() - {"region"}:
        raise ValueError("sounds_url must be like https://KEY:SECRET@HOST/BUCKET?region=REGION")
    place = parts.netloc.rpartition("@")[2]
    region = query.get("region", ["us-east-1"])[0]
    return Bucket(
        f"{parts.scheme}://{place}", name, region, unquote(parts.username or ""), unquote(parts.password or "")
    )
