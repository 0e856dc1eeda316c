"""What a service may do on NATS and what not, tried on a real server. Open this when a subject is added or refused."""

import itertools
import json
from collections.abc import Mapping

import nats
import pytest
from nats.aio.client import Client
from nats.js.api import StreamConfig

from darbar_contracts.subjects import (
    BOT_DECIDE,
    MEDIA_JUDGE_NOTE,
    MEDIA_VOICE_RIGHTS,
    MILESTONE_STREAM,
    PERMISSIONS,
    SOUND_BUCKET,
    TABLE_MILESTONES,
    TABLE_WHERE,
    WALLET_BALANCES,
    WALLET_GRANT,
    WALLET_REFUND,
    WALLET_SETTLE,
    WALLET_STAKE,
    milestone,
    sound_stream,
    table_create,
    table_leave_alone,
    table_look,
    table_operate,
)
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.testing import MakeNats, eventually
from darbar_local.commands import main
from darbar_local.servers import PERMISSIONS_OF_USERS

TABLE_ID = "6d6f2c7e-35a0-4d4e-93a4-4a27e6f8a0f1"
OF_STREAMS = (
    "CREATE",
    "UPDATE",
    "INFO",
    "DELETE",
    "PURGE",
    "SNAPSHOT",
    "RESTORE",
    "MSG.GET",
    "MSG.DELETE",
    "LEADER.STEPDOWN",
)
OF_CONSUMERS = ("CREATE", "DURABLE.CREATE", "INFO", "DELETE", "MSG.NEXT", "PAUSE", "RESET", "UNPIN", "LEADER.STEPDOWN")
SOUND_STREAM = sound_stream(SOUND_BUCKET)
STREAMS = (MILESTONE_STREAM, SOUND_STREAM, "OTHER")
CONSUMERS = ("lobby", "table")
# Every way to ask JetStream for something, for two streams and two consumers.
JETSTREAM = (
    *(
        "$JS.API.INFO",
        "$JS.API.STREAM.LIST",
        "$JS.API.STREAM.NAMES",
        "$JS.API.ACCOUNT.PURGE.$G",
        "$JS.API.SERVER.REMOVE",
    ),
    *(f"$JS.API.STREAM.{verb}.{stream}" for verb, stream in itertools.product(OF_STREAMS, STREAMS)),
    *(f"$JS.API.CONSUMER.{verb}.{stream}" for verb, stream in itertools.product(("LIST", "NAMES", "CREATE"), STREAMS)),
    *(
        f"$JS.API.CONSUMER.{verb}.{stream}.{consumer}"
        for verb, stream, consumer in itertools.product(OF_CONSUMERS, STREAMS, CONSUMERS)
    ),
    *(f"$JS.API.DIRECT.GET.{stream}" for stream in STREAMS),
    *(f"$JS.ACK.{stream}.{consumer}.1.1.1.1.0" for stream, consumer in itertools.product(STREAMS, CONSUMERS)),
    *(f"$JS.API.CONSUMER.CREATE.{stream}.lobby.{milestone(TABLE_ID)}" for stream in STREAMS),
    f"$JS.API.CONSUMER.CREATE.{MILESTONE_STREAM}.lobby.milestone.table.>",
)
OURS = (
    *(TABLE_WHERE, TABLE_MILESTONES, table_create("p1"), table_look("p1"), table_leave_alone("p1")),
    table_operate("p1"),
    *(WALLET_STAKE, WALLET_SETTLE, WALLET_REFUND, WALLET_GRANT, WALLET_BALANCES, BOT_DECIDE, milestone(TABLE_ID)),
    *(f"_INBOX.{name}.x" for name in PERMISSIONS),
    *(MEDIA_JUDGE_NOTE, MEDIA_VOICE_RIGHTS, f"$O.{SOUND_BUCKET}.C.x"),
    *("$SYS.REQ.SERVER.PING", "anything"),
)
NOBODYS = "nobody.may.publish.this"
MAKES_THE_STREAM = {f"$JS.API.STREAM.INFO.{MILESTONE_STREAM}", f"$JS.API.STREAM.CREATE.{MILESTONE_STREAM}"}
LET_THROUGH: Mapping[str, set[str]] = {
    "lobby": {
        *(TABLE_WHERE, TABLE_MILESTONES, table_create("p1"), table_look("p1"), table_leave_alone("p1"), WALLET_GRANT),
        *(MEDIA_JUDGE_NOTE, MEDIA_VOICE_RIGHTS, table_operate("p1")),
        *MAKES_THE_STREAM,
        f"$JS.API.CONSUMER.INFO.{MILESTONE_STREAM}.lobby",
        f"$JS.API.CONSUMER.MSG.NEXT.{MILESTONE_STREAM}.lobby",
        f"$JS.API.CONSUMER.CREATE.{MILESTONE_STREAM}.lobby.{milestone(TABLE_ID)}",
        f"$JS.API.CONSUMER.CREATE.{MILESTONE_STREAM}.lobby.milestone.table.>",
        f"$JS.ACK.{MILESTONE_STREAM}.lobby.1.1.1.1.0",
    },
    "table": {
        *(WALLET_STAKE, WALLET_SETTLE, WALLET_REFUND, WALLET_BALANCES, BOT_DECIDE, milestone(TABLE_ID)),
        MEDIA_VOICE_RIGHTS,
        *MAKES_THE_STREAM,
    },
    "wallet": set(),
    "media": {
        *(f"$JS.API.STREAM.{verb}.{SOUND_STREAM}" for verb in ("INFO", "CREATE", "MSG.GET", "PURGE")),
        *(f"$O.{SOUND_BUCKET}.C.x", TABLE_WHERE),
    },
    "bot": set(),
    "admin": {TABLE_WHERE, table_operate("p1")},
}


@pytest.fixture(scope="module")
async def server(make_nats: MakeNats) -> NatsServer:
    return await make_nats(PERMISSIONS_OF_USERS)


async def connected(server: NatsServer, user: str, refusals: list[str]) -> Client:
    async def note(error: Exception) -> None:
        refusals.append(str(error))

    return await nats.connect(server.url(user), inbox_prefix=f"_INBOX.{user}", error_cb=note)


async def let_through(server: NatsServer, user: str) -> set[str]:
    """Which subjects the server takes from this user. It answers refused ones in their order, by their names."""
    refusals: list[str] = []
    client = await connected(server, user, refusals)
    subjects = [*JETSTREAM, *OURS]
    for subject in [*subjects, *([] if user == "operator" else [NOBODYS])]:
        await client.publish(subject, b"")
    await client.flush()
    if user != "operator":
        await eventually(lambda: any(NOBODYS in refusal for refusal in refusals))
    await client.close()
    refused = {refusal.split('"')[1] for refusal in refusals}
    return {subject for subject in subjects if subject.lower() not in refused}


@pytest.mark.parametrize("user", sorted(PERMISSIONS))
async def test_a_service_may_publish_what_it_needs_and_nothing_else(server: NatsServer, user: str) -> None:
    assert await let_through(server, user) == LET_THROUGH[user]


async def test_the_trial_finds_who_may_do_everything(server: NatsServer) -> None:
    assert len(await let_through(server, "operator")) > len(JETSTREAM) / 2


@pytest.mark.parametrize(
    ("user", "subjects"),
    [
        ("lobby", ["wallet.>", "table.where", "milestone.table.>", "_INBOX.table.>", ">", "bot.decide"]),
        ("table", ["wallet.stake", "milestone.table.>", "_INBOX.lobby.>", ">", "bot.decide"]),
        ("wallet", ["table.where", "wallet.>", "_INBOX.table.>", ">", "bot.decide"]),
        ("media", ["table.where", "wallet.>", f"$O.{SOUND_BUCKET}.>", "_INBOX.table.>", ">", "bot.decide"]),
        ("bot", ["table.where", "wallet.stake", "_INBOX.table.>", ">", "bot.>"]),
        ("admin", ["table.where", "table.at.>", "wallet.>", "milestone.table.>", "_INBOX.table.>", ">"]),
    ],
)
async def test_a_service_may_not_listen_to_what_is_for_others(
    server: NatsServer, user: str, subjects: list[str]
) -> None:
    refusals: list[str] = []
    client = await connected(server, user, refusals)
    for subject in subjects:
        await client.subscribe(subject)
        await client.flush()
    await eventually(lambda: len(refusals) == len(subjects))
    await client.close()


async def test_nobody_changes_the_stream_by_making_it_again(server: NatsServer) -> None:
    operator = await connected(server, "operator", [])
    made = await operator.jetstream().add_stream(name=MILESTONE_STREAM, subjects=["milestone.table.>"])
    for user in ("lobby", "table"):
        client = await connected(server, user, [])
        changed = StreamConfig(name=MILESTONE_STREAM, subjects=["milestone.table.>"], max_msgs=1).as_dict()
        answered = await client.request(f"$JS.API.STREAM.CREATE.{MILESTONE_STREAM}", json.dumps(changed).encode())
        assert "error" in json.loads(answered.data)
        await client.close()
    assert (await operator.jetstream().stream_info(MILESTONE_STREAM)).config == made.config
    await operator.close()


def test_the_printed_users_are_those_of_the_embedded_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rights"]) == 0
    printed = json.loads(capsys.readouterr().out)["authorization"]["users"]

    assert {user["user"]: user["permissions"]["publish"]["allow"] for user in printed} == {
        name: list(rights.publish) for name, rights in PERMISSIONS_OF_USERS.items()
    }
    assert len({user["password"] for user in printed}) == len(printed)
