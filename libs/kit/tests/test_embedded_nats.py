"""The embedded NATS server. Open this when it loses messages, or doesn't start where it should."""

import asyncio
import signal
import stat
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import psutil  # type: ignore[import-untyped,unused-ignore]
import pytest
from nats.aio.msg import Msg

from darbar_kit.bus import Bus
from darbar_kit.embedded import nats, nats_health
from darbar_kit.embedded.nats import NatsFailed, NatsServer
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.embedded.processes import gone
from darbar_kit.testing import eventually

START_AND_WAIT = """
import asyncio, sys
from pathlib import Path
from darbar_kit.embedded.nats import NatsServer

async def main():
    print(await NatsServer(Path(sys.argv[1])).start(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


class Order(msgspec.Struct, frozen=True):
    number: int


@pytest.fixture
def folder(servers_folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=servers_folder, prefix="nats-case-"))


@pytest.fixture
async def server(folder: Path) -> AsyncIterator[NatsServer]:
    made = NatsServer(folder)
    yield made
    await made.stop()


async def put(url: str) -> None:
    bus = await Bus.connect(url, name="writer")
    await bus.jetstream.add_stream(name="ORDERS", subjects=["orders.>"])
    await bus.jetstream.publish("orders.new", b'{"number":7}')
    await bus.close()


async def count(url: str) -> int:
    bus = await Bus.connect(url, name="reader")
    messages = (await bus.jetstream.stream_info("ORDERS")).state.messages
    await bus.close()
    return messages


async def test_the_second_start_finds_the_messages_at_the_same_address(server: NatsServer) -> None:
    first = await server.start()
    await put(first)
    await server.stop()

    second = await server.start()

    assert second == first
    assert await count(second) == 1


async def test_passwords_are_kept_where_nobody_else_reads_them(folder: Path) -> None:
    server = NatsServer(folder, users={"shop": Permissions()})
    await server.start()

    for name in ("passwords.json", "nats.conf"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    assert urlsplit(server.url("shop")).username == "shop"
    assert urlsplit(server.url("shop")).password != urlsplit(server.url("operator")).password
    await server.stop()


async def test_a_user_that_is_added_later_gets_a_password_and_the_others_keep_theirs(folder: Path) -> None:
    server = NatsServer(folder, users={"shop": Permissions()})
    await server.start()
    before = server.url("shop")
    await server.stop()

    server = NatsServer(folder, users={"shop": Permissions(), "bank": Permissions()})
    await server.start()

    assert server.url("shop") == before
    bus = await Bus.connect(server.url("bank"), name="bank")
    await bus.close()
    await server.stop()


async def test_another_port_is_taken_when_yesterdays_is_in_use(server: NatsServer) -> None:
    port = urlsplit(await server.start()).port
    await server.stop()
    in_the_way = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", port)

    url = await server.start()

    assert urlsplit(url).port != port
    await put(url)
    await server.stop()
    in_the_way.close()
    await in_the_way.wait_closed()


async def test_a_server_left_by_a_killed_starter_is_ended_and_its_messages_kept(
    server: NatsServer, folder: Path
) -> None:
    starter = await asyncio.create_subprocess_exec(
        sys.executable, "-c", START_AND_WAIT, str(folder), stdout=asyncio.subprocess.PIPE
    )
    assert starter.stdout is not None
    await put((await starter.stdout.readline()).decode().strip())
    left_over = psutil.Process(int((folder / "pid").read_text()))
    starter.kill()
    await starter.wait()
    assert not gone(left_over)

    url = await server.start()

    assert gone(left_over)
    assert await count(url) == 1


async def test_a_pid_file_that_names_a_stranger_harms_nobody(server: NatsServer, folder: Path) -> None:
    stranger = await asyncio.create_subprocess_exec("sleep", "60")
    folder.joinpath("pid").write_text(str(stranger.pid))

    await server.start()

    assert stranger.returncode is None
    stranger.kill()
    await stranger.wait()


async def test_an_end_is_noticed(server: NatsServer, folder: Path) -> None:
    await server.start()

    psutil.Process(int((folder / "pid").read_text())).kill()

    await eventually(lambda: server.exit_code == -signal.SIGKILL)


async def test_a_server_that_is_lost_is_started_again_where_its_clients_look_for_it(
    server: NatsServer, folder: Path
) -> None:
    url = await server.start()
    await put(url)
    bus = await Bus.connect(url, name="client")

    psutil.Process(int((folder / "pid").read_text())).kill()
    assert await asyncio.wait_for(server.until_lost(), 30) == "it has ended with exit code -9"
    await server.start_again()

    await eventually(lambda: bus.connected)
    assert (await bus.jetstream.stream_info("ORDERS")).state.messages == 1
    await bus.close()


async def test_a_server_that_is_well_has_no_complaint_and_is_told_apart_from_one_that_does_not_answer(
    server: NatsServer,
) -> None:
    await server.start()
    assert await nats_health.complaint(server.url(nats_health.WATCHER)) == ""


async def test_a_server_that_takes_no_connection_is_not_waited_for_while_it_ends(server: NatsServer) -> None:
    await server.start()
    url = server.url(nats_health.WATCHER)
    await server.stop()

    async with asyncio.timeout(2 * nats_health.ANSWER_SECONDS_MAX):
        assert await nats_health.complaint(url) == ""


async def test_the_watcher_sees_no_messages(server: NatsServer) -> None:
    url = await server.start()
    seen: list[str] = []

    async def keep(message: Msg) -> None:
        seen.append(message.subject)

    watcher = await Bus.connect(server.url(nats_health.WATCHER), name="watcher")
    await watcher.client.subscribe("orders.>", cb=keep)
    await watcher.client.flush()
    await put(url)
    await watcher.client.publish("orders.end", b"{}")
    await eventually(lambda: seen)

    assert seen == ["orders.end"]
    await watcher.close()


async def test_messages_are_safe_before_they_are_acknowledged(server: NatsServer, folder: Path) -> None:
    await server.start()

    assert '"sync_interval": "always"' in (folder / "nats.conf").read_text()
    assert '"max_file_store"' in (folder / "nats.conf").read_text()
    await server.stop()


def test_an_older_server_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "nats-server"
    old.write_text("#!/bin/sh\necho 'nats-server: v2.9.10'\n")
    old.chmod(0o755)

    with pytest.raises(NatsFailed, match=r"2\.9\.10"):
        nats.refuse_old_version(old)
