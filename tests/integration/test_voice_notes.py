"""A voice note through a whole server: table, media and lobby as they run, players and a moderator as they ask."""

from __future__ import annotations

from darbar_client import Darbar
from darbar_client.demo.local_server import LocalServer
from darbar_client.demo.voice import told


async def test_a_note_is_heard_by_three_others_reported_found_by_a_moderator_and_deleted(
    server_behind_a_proxy: LocalServer,
) -> None:
    lines: list[str] = []
    async with Darbar(server_behind_a_proxy.url) as darbar:
        assert await told(darbar, "court_piece", server_behind_a_proxy.log.parent / "data", lines.append), lines
    steps = [line.split()[0] for line in lines[1:]]
    assert steps == ["recorded", "sent", *["heard"] * 3, "reported", "found", "played", "deleted", "gone"]
