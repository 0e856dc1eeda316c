"""A voice note from its recording to its deletion, told step by step: `make demo VOICE=1`."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from darbar_client.darbar import Darbar, Player
from darbar_client.demo.local_server import LocalServer, new_folder
from darbar_client.demo.moderator import Moderator
from darbar_client.demo.recording import MEDIA_TYPE, recording
from darbar_client.errors import DarbarError
from darbar_client.table import TableSocket
from darbar_contracts.frames import NoteReady
from darbar_contracts.refusals import Reason

NAMES = ("Amina", "Bilal", "Chandra", "Daoud")
HEARD_SECONDS_MAX = 30.0
REASON = "shouting"

PrintLine = Callable[[str], None]


async def voice_demo(game: str, print_line: PrintLine) -> bool:
    """On a server of its own, where it may make an administrator. Whether all went as it should."""
    folder = new_folder()
    server = LocalServer(folder)
    try:
        print_line(f"Starting a server on {server.url}")
        await server.start()
        async with Darbar(server.url) as darbar:
            return await told(darbar, game, folder / "data", print_line)
    finally:
        await server.stop()
        shutil.rmtree(folder, ignore_errors=True)


async def told(darbar: Darbar, game: str, data: Path, print_line: PrintLine) -> bool:
    """Recorded, heard by three others, reported, found by a moderator, played, deleted."""
    players = [await darbar.guest(name) for name in NAMES]
    tables = await dealt(players, game)
    print_line(f"{', '.join(NAMES)} play; the first cards are dealt")
    ticket = await tables[0].ask_microphone()
    await asyncio.gather(*(table.until(lambda now: now.heard.microphone == tables[0].seat) for table in tables[1:]))
    print_line(f"recorded   {NAMES[0]} has the microphone, and everybody sees it")
    sent = await players[0].send_note(ticket, recording(), MEDIA_TYPE)
    print_line(f"sent       {sent.milliseconds / 1000:.2f} s, stored as {sent.note_id}")
    sounds = [await heard(player, table) for player, table in zip(players[1:], tables[1:], strict=True)]
    for name, (note, sound) in zip(NAMES[1:], sounds, strict=True):
        print_line(f"heard      by {name}: {len(sound)} bytes of Ogg/Opus, to be played in {note.plays_in_ms} ms")
    await players[1].report_note(sent.note_id)
    print_line(f"reported   by {NAMES[1]}; nobody is told who it was")
    moderator = await Moderator.made(darbar.http, data)
    [reported] = (await moderator.reported()).notes
    print_line(
        f"found      by a moderator: {reported.reports} report of a note of {reported.milliseconds / 1000:.2f} s"
    )
    link = await moderator.link(reported.note_id)
    print_line(f"played     {len(await darbar.http.fetch(link.path))} bytes over a link that lasts {link.seconds} s")
    judged = await moderator.delete(reported.note_id, REASON)
    print_line(f"{judged.judgement:<10} with the reason {REASON!r}")
    is_gone = await refused_with(darbar, link.path) == Reason.NOTE_UNKNOWN and not (await moderator.reported()).notes
    print_line(f"gone       nobody can fetch it any more: {str(is_gone).lower()}")
    return is_gone and all(sound == sounds[0][1] for _, sound in sounds)


async def dealt(players: list[Player], game: str) -> list[TableSocket]:
    """A table where the first cards of a game lie."""
    ref = await players[0].create_table(game)
    tables = [await player.join(ref) for player in players]
    for table in tables[1:]:
        await table.sit()
    await asyncio.gather(*(table.until(lambda now: now.now.phase == "playing") for table in tables))
    return tables


async def heard(player: Player, table: TableSocket) -> tuple[NoteReady, bytes]:
    """The first voice note that this player is told of, and its sound."""
    note = await table.until(lambda now: now.heard.notes[0] if now.heard.notes else None, seconds=HEARD_SECONDS_MAX)
    assert note is not None
    return note, await player.note_sound(note.path)


async def refused_with(darbar: Darbar, path: str) -> str:
    """The code with which it can't be fetched; empty when it can."""
    try:
        await darbar.http.fetch(path)
    except DarbarError as error:
        return error.code
    return ""
