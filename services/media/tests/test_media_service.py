"""Media as a service: it starts, says how it is, and counts."""

from __future__ import annotations

import pytest
from media_fixtures import Media

from darbar_media.settings import Settings


async def test_it_is_alive_and_ready_and_counts(media: Media) -> None:
    for path in ("/healthz", "/readyz"):
        async with media.http.get(path) as response:
            assert response.status == 200, await response.text()
    async with media.http.get("/metrics") as response:
        assert "media_reports_waiting" in await response.text()


def test_a_key_that_can_be_guessed_stops_the_start() -> None:
    with pytest.raises(ValueError, match="ticket_key"):
        Settings(database_url="x", nats_url="x", token_public_key="x", ticket_key="short")
