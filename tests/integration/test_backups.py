"""A backup of a running system is put back: nothing from before it is lost, and play goes on from there."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID, uuid4

from long_games import joined_by, long_table
from whole_games import BACKOFF, coins_add_up, new_folder

from darbar_client import Darbar
from darbar_client.demo.local_server import LocalServer
from darbar_kit.bus import Bus
from darbar_kit.embedded.nats import OPERATOR
from darbar_local.exit_codes import ExitCode
from darbar_local.servers import nats_url_in
from darbar_local.testing import run
from darbar_media.store.sounds import JetStreamSounds

SOUND = b"seven seconds"


async def command(*arguments: str) -> tuple[int, str]:
    async with run(*arguments, variables={}) as started:
        return await started.end()


async def sound_of(note: UUID, data: Path, *, put: bytes = b"") -> bytes | None:
    bus = await Bus.connect(nats_url_in(data, OPERATOR), name="test")
    try:
        sounds = JetStreamSounds(bus.jetstream)
        if put:
            await sounds.put(note, "ogg", put)
        return await sounds.get(note, "ogg")
    finally:
        await bus.close()


async def test_a_system_that_runs_is_copied_as_of_one_moment_and_goes_on_from_there(
    server_to_kill: LocalServer, stack_folder: Path
) -> None:
    data, backup, note = server_to_kill.log.parent / "data", new_folder(stack_folder, "backups") / "first", uuid4()
    await sound_of(note, data, put=SOUND)
    async with Darbar(server_to_kill.url, backoff=BACKOFF) as darbar:
        table = await long_table(darbar)
        players = [guest.player for guest in table.guests]
        async with table.played():
            await table.some_moves_later()
            before = table.version
            copied = await command("backup", str(backup), "--data", str(data))
        await table.close()
        await server_to_kill.stop()
        data.rename(data.with_name("lost"))
        restored = await command("restore", str(backup), "--data", str(data))
        await server_to_kill.start()

        assert (copied, restored) == ((ExitCode.FINE, ""), (ExitCode.FINE, ""))
        rest = await joined_by(players, table.table_id, seed=2)
        assert rest.version >= before
        async with rest.played():
            await rest.some_moves_later()
        assert await coins_add_up(server_to_kill)
        assert await command("audit", "verify", "--data", str(data)) == (ExitCode.FINE, "")
        assert await command("rebuild", "statistics", "--data", str(data)) == (ExitCode.FINE, "")
        assert await sound_of(note, data) == SOUND
        assert (data / "generation").read_text() == "2\n"


async def test_nothing_is_put_back_over_data_or_from_what_is_no_backup(server: LocalServer, stack_folder: Path) -> None:
    folder = new_folder(stack_folder, "no-backup")

    assert await command("restore", str(folder), "--data", str(folder / "data")) == (
        ExitCode.FOLDER_UNUSABLE,
        f"darbar: {folder} is no backup, or it was broken off\n",
    )
    (folder / "backup.json").write_text('{"generation": 1, "sounds": 0}')
    assert (await command("restore", str(folder), "--data", str(server.log.parent / "data")))[
        0
    ] == ExitCode.ALREADY_RUNNING
    (folder / "full" / "postgres").mkdir(parents=True)
    code, complaint = await command("restore", str(folder), "--data", str(folder / "full"))
    assert (code, "move them away" in complaint) == (ExitCode.FOLDER_UNUSABLE, True)
