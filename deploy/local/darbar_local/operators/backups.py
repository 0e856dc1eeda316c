"""`darbar backup` and `darbar restore`: all that one machine keeps, as it was at one moment. Open this when a restored
system misses something.

All databases are in one PostgreSQL, and its copy is of one moment: what the wallet did is in it only with the event
that asked for it. Milestones are not kept: they are in the logs of tables. Sound is, as it lies nowhere else.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import msgspec
from nats.js.errors import NotFoundError

from darbar_contracts.subjects import SOUND_BUCKET, SOUND_BUCKET_REPORTED, sound_stream
from darbar_kit import logs
from darbar_kit.bus import Bus, bus_errors
from darbar_kit.embedded.kept import write_private
from darbar_kit.embedded.nats import HOST, OPERATOR, NatsServer
from darbar_kit.embedded.postgres import ADMIN, PLACE
from darbar_kit.embedded.programs import find_programs
from darbar_kit.embedded.server_user import find_server_user, open_folder
from darbar_kit.errors import Unavailable
from darbar_kit.settings import environment, load
from darbar_local.console import print_line, step
from darbar_local.data_dir import DataDir, opened
from darbar_local.exit_codes import ExitCode, Failure
from darbar_local.operators.cluster import make_streams
from darbar_local.servers import PERMISSIONS_OF_USERS, nats_url_in
from darbar_local.settings import PREFIX, UpSettings

# Whoever has these can sign tokens, and open the databases in the copy.
SECRETS = ("token_key.pem", "passwords.json", "postgres/password")
CLUSTER = "postgres/cluster"
SOUNDS = "sounds.ndjson"
# Written last: a backup without it was broken off.
MANIFEST = "backup.json"
COPY_SECONDS_MAX = 3600.0


class Manifest(msgspec.Struct, frozen=True):
    """`generation` is that of the system which was copied."""

    generation: int
    sounds: int


class Sound(msgspec.Struct, frozen=True):
    """A message of a stream of sound, as it was."""

    subject: str
    headers: dict[str, str]
    data: bytes


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Both for the servers that `darbar up` brings; in a cluster the operator of PostgreSQL does it."""
    backs_up = commands.add_parser("backup", help="copy all data while it runs, as of one moment")
    backs_up.add_argument("folder", metavar="BACKUP", type=Path, help="a folder that is not there yet")
    backs_up.add_argument("--data", metavar="FOLDER", help="of the running `darbar up` (DARBAR_DATA, ./var)")
    restores = commands.add_parser("restore", help="make a data folder out of a backup")
    restores.add_argument("folder", metavar="BACKUP", type=Path)
    restores.add_argument("--data", metavar="FOLDER", required=True, help="without data; nothing runs there")


def run(asked: argparse.Namespace) -> None:
    """Raises Failure."""
    logs.configure("", level="error")
    if asked.command == "backup":
        data = Path(asked.data or load(UpSettings, prefix=PREFIX, environ=environment()).data)
        asyncio.run(_back_up(DataDir(data.absolute()), asked.folder.absolute()))
        print_line(f"Everything is in {asked.folder}. It holds passwords and keys: nobody else may read it")
    else:
        with opened(Path(asked.data).absolute()) as folder:
            asyncio.run(_restore(asked.folder.absolute(), folder))
        print_line(f"{asked.data} is ready for `darbar up --data {asked.data}`; then `darbar rebuild statistics`")


async def _back_up(data: DataDir, target: Path) -> None:
    _copy_secrets(data, target)
    with step("Databases copied"):
        await asyncio.to_thread(_copy_cluster, data, target / CLUSTER)
    with step("Sound copied"):
        kept = await _sounds(nats_url_in(data.path, OPERATOR))
    (target / SOUNDS).write_bytes(b"\n".join(msgspec.json.encode(sound) for sound in kept))
    write_private(target / MANIFEST, msgspec.json.encode(Manifest(data.generation, len(kept))).decode())


def _copy_secrets(data: DataDir, target: Path) -> None:
    try:
        target.mkdir(mode=0o700, parents=True)
        for name in SECRETS:
            (target / name).parent.mkdir(exist_ok=True)
            write_private(target / name, (data.path / name).read_text())
    except OSError as error:
        raise Failure(ExitCode.FOLDER_UNUSABLE, f"can't copy {data.path} to {target}: {error.strerror}") from error


def _copy_cluster(data: DataDir, target: Path) -> None:
    """PostgreSQL's own copy, with the log of changes up to its end, and a look whether all of it is there."""
    programs = find_programs(find_server_user())
    port = (data.postgres / "port").read_text().strip()
    password = (data.postgres / "password").read_text().strip()
    url = f"postgresql://{ADMIN}@{HOST}:{port}/postgres"
    for command in (
        ["pg_basebackup", "--dbname", url, "--pgdata", str(target), "--wal-method=stream", "--checkpoint=fast"],
        ["pg_verifybackup", "--quiet", str(target)],
    ):
        told = subprocess.run(
            [str(programs / command[0]), *command[1:]],
            env={"PATH": os.defpath, "LC_ALL": "C", "PGPASSWORD": password},
            capture_output=True,
            text=True,
            timeout=COPY_SECONDS_MAX,
            check=False,
        )
        if told.returncode != 0:
            raise Failure(ExitCode.SERVER_FAILED, f"{command[0]} failed: {told.stderr.strip()[-500:]}")


async def _sounds(nats_url: str) -> list[Sound]:
    """What is deleted meanwhile is not in it."""
    found = []
    bus = await _operator(nats_url)
    try:
        for stream in map(sound_stream, (SOUND_BUCKET, SOUND_BUCKET_REPORTED)):
            try:
                state = (await bus.jetstream.stream_info(stream)).state
            except NotFoundError:
                continue
            for number in range(state.first_seq, state.last_seq + 1):
                try:
                    message = await bus.jetstream.get_msg(stream, number)
                except NotFoundError:
                    continue
                found.append(Sound(message.subject or "", dict(message.headers or {}), message.data or b""))
    finally:
        await bus.close()
    return found


async def _restore(source: Path, folder: DataDir) -> None:
    try:
        manifest = msgspec.json.decode((source / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        raise Failure(ExitCode.FOLDER_UNUSABLE, f"{source} is no backup, or it was broken off") from error
    if folder.postgres.exists() or folder.nats.exists():
        raise Failure(ExitCode.FOLDER_UNUSABLE, f"there are data in {folder.path}: move them away, or give another one")
    user = find_server_user()
    folder.postgres.mkdir(mode=0o711)
    for name in SECRETS:
        write_private(folder.path / name, (source / name).read_text())
    # Whatever was told after the moment of the backup is of another generation, and no repeat of what comes now.
    folder.set_generation(manifest.generation + 1)
    with step("Databases put back"):
        place = open_folder(folder.postgres / PLACE, user)
        await asyncio.to_thread(shutil.copytree, source / CLUSTER, place / "pg.new-restored")
        for path in (place / "pg.new-restored", *(place / "pg.new-restored").rglob("*")):
            user.give(path)
        (place / "pg.new-restored").rename(place / "pg")
    with step("Streams made anew"):
        await _put_back(folder, (source / SOUNDS).read_bytes())


async def _put_back(folder: DataDir, kept: bytes) -> None:
    server = NatsServer(folder.nats, users=PERMISSIONS_OF_USERS)
    await server.start()
    try:
        bus = await _operator(server.url(OPERATOR))
        try:
            await make_streams(bus)
            with bus_errors("putting sound back"):
                for line in kept.splitlines():
                    sound = msgspec.json.decode(line, type=Sound)
                    await bus.jetstream.publish(sound.subject, sound.data, headers=sound.headers)
        finally:
            await bus.close()
    finally:
        await server.stop()


async def _operator(nats_url: str) -> Bus:
    try:
        return await Bus.connect(nats_url, name=OPERATOR)
    except Unavailable as error:
        raise Failure(ExitCode.SERVER_FAILED, str(error)) from error
