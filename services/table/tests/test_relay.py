"""Sockets at one process, their table at another: the same frames, nobody else's, and no command lost on the way."""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any, NamedTuple, cast
from uuid import UUID, uuid4

import msgspec
import pytest
import pytest_asyncio
from engine_desk import ReplyDouble
from table_doubles import Player
from table_stack import Stack, StartTable

from darbar_contracts import frames, reading, subjects
from darbar_contracts.tables import Person
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.testing import eventually
from darbar_table.app import SERVICE
from darbar_table.domain.refusals import refused
from darbar_table.engine.node import TableNode
from darbar_table.handlers.gateway import HELD_SECONDS_MAX, TableGateway
from darbar_table.handlers.relay import ASKED_SECONDS_MAX, SILENCE_SECONDS_MAX, OwnedHere, Relay, RelayLink
from darbar_table.handlers.relay_messages import NO_FRAME, AnyStep, Enter, Leave, Passed, Tell, ToOwner, ToRelay
from darbar_table.handlers.relayed import RelayedSocket, RelayedSockets
from darbar_table.shards import pace
from darbar_table.shards.pace import Pace
from darbar_table.shards.placement import shard_of

# An owner that is silent is left after a few seconds, a command is answered within ten.
GOES_ON_SECONDS_MAX = 30.0
STAYS = {"better_place_seconds": 3600.0}
NAMES = ("ann", "bob", "cyn", "dan")
HOUR_SECONDS = 3600.0
TABLE = UUID(int=7)
DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(reading.client_frame_type(reading.DecisionFrames()))


def node_of(stack: Stack) -> TableNode:
    return stack.runner.app[SERVICE].present_node()


class Two(NamedTuple):
    """A process that owns every table, and one that owns none."""

    owner: Stack
    other: Stack


@pytest_asyncio.fixture(loop_scope="session")
async def two(start_table: StartTable) -> AsyncIterator[Two]:
    quick = {"count_in_seconds": 0.05, "seeds_open_seconds": 0.05, **STAYS}
    yield Two(await start_table(**quick), await start_table(**quick))


def shown(player: Player) -> list[dict[str, Any]]:
    """Every event; what is left of a clock differs by milliseconds."""
    events = [frame for frame in player.frames if frame["type"] == "event"]
    return [{name: value for name, value in frame.items() if name != "remaining_ms"} for frame in events]


async def test_a_relayed_socket_is_shown_what_a_socket_at_the_owner_is_shown_and_the_bus_carries_no_more(
    two: Two, bus: Bus
) -> None:
    carried: dict[int, list[bytes]] = defaultdict(list)
    accounts: dict[int, str] = {}

    async def hear(message: ToRelay) -> None:
        for passed in message.passed:
            if passed.closing is None:
                carried[passed.link].append(bytes(passed.frame))

    async def entered(message: ToOwner) -> None:
        if isinstance(message.step, Enter):
            accounts[message.step.link] = message.step.account_id

    await bus.listen(subjects.relay_frames("*"), ToRelay, hear)
    await bus.listen(subjects.table_relay("*"), ToOwner, entered)
    table_id = await two.owner.open_table()
    direct = {name: await two.owner.join(table_id, name) for name in (*NAMES, "eve")}
    relayed = {name: await two.other.join(table_id, name) for name in (*NAMES, "eve")}
    for name in NAMES[1:]:
        assert (await relayed[name].command("sit"))["type"] == "event"
    playing = [asyncio.create_task(relayed[name].play(_round_is_over)) for name in NAMES]
    await asyncio.gather(*playing)
    last = max(player.version for player in relayed.values())
    everybody = [*direct.values(), *relayed.values()]
    await asyncio.gather(*(_until_version(player, last) for player in everybody))
    for name in (*NAMES, "eve"):
        seen = [frame for frame in shown(direct[name]) if frame["version"] <= last]
        assert [frame for frame in shown(relayed[name]) if frame["version"] <= last] == seen
        assert len(seen) > 60
    for link, account in accounts.items():
        own = [msgspec.json.decode(frame) for frame in carried[link]]
        assert own == relayed[account].frames[: len(own)]
    hands = {name: _dealt(relayed[name]) for name in NAMES}
    assert len({card for hand in hands.values() for card in hand}) == 52
    assert _dealt(relayed["eve"]) == set()


async def test_what_a_table_refuses_is_refused_through_a_relay_too(two: Two) -> None:
    private = await two.owner.open_table(visibility="private", turn_seconds=10)
    unknown = str(uuid4())
    eve = await two.other.join(unknown, "eve")
    assert (await eve.frame("closing"))["code"] == "table_unknown"
    bob = await two.other.join(private, "bob")
    assert (await bob.command("ready"))["code"] == "not_seated"
    refused_twice = await bob.command("sit", seat=0, id="an-id-of-twenty-chars")
    assert refused_twice["code"] == "seat_taken"
    again = await bob.command("sit", id="another-id-of-twenty-c")
    assert again["type"] == "event"
    assert (await bob.command("sit", id="another-id-of-twenty-c"))["type"] == "done"
    await bob.send(type="ping")
    assert (await bob.frame("heartbeat"))["version"] == bob.version


async def test_a_relayed_player_plays_on_while_the_table_changes_its_owner(start_table: StartTable) -> None:
    """Nothing is seen of it: no closing, no version twice or missing, no refusal. Only who has given a seat up may be
    shown a snapshot in place of events (TL-29), when the link goes to the next owner before the last one is heard."""
    first, relay = await start_table(**STAYS), await start_table(**STAYS)
    table_id = await first.open_table(game="kings_and_rebels", options={"seats": 6}, seats=6)
    ann, bob, eve = [await relay.join(table_id, name) for name in ("ann", "bob", "eve")]
    busy = [asyncio.create_task(_change_options(ann)), asyncio.create_task(_sit_and_leave(bob))]
    third = await start_table(**STAYS)
    node, shard = node_of(first), shard_of(UUID(table_id))
    await node.survey.look()
    group = type("Group", (), {"successor": node_of(third).process_id, "shards": [shard]})
    await _goes_on(busy, ann, bob)
    assert await node.handover._hand_over(cast(Any, group))
    await _goes_on(busy, ann, bob)
    await first.runner.cleanup()
    await third.runner.cleanup()
    await _goes_on(busy, ann, bob)
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    assert UUID(table_id) in node_of(relay).owner.live_tables
    for player in (ann, bob, eve):
        versions = [frame["version"] for frame in player.frames if frame["type"] == "event"]
        assert versions == sorted(set(versions))
        assert [frame for frame in player.frames if frame["type"] in ("refused", "closing")] == []
    for player in (ann, eve):
        versions = [frame["version"] for frame in player.frames if frame["type"] == "event"]
        assert versions == list(range(versions[0], versions[0] + len(versions)))
    shown_to_bob = [frame for frame in bob.frames if frame["type"] in ("event", "snapshot")]
    for before, frame in itertools.pairwise(shown_to_bob):
        assert frame["type"] == "snapshot" or frame["version"] == before["version"] + 1


async def _goes_on(busy: list[asyncio.Task[None]], *players: Player) -> None:
    """Waits until each of them has seen ten answers more; a player who met something else says what it was."""
    starts = [player.version for player in players]

    def is_over() -> bool:
        moved = [player.version > start + 10 for player, start in zip(players, starts, strict=True)]
        return all(moved) or any(task.done() for task in busy)

    await eventually(is_over, seconds=GOES_ON_SECONDS_MAX)
    for task in busy:
        if task.done():
            task.result()


async def test_who_leaves_through_a_relay_is_gone_at_the_table(two: Two) -> None:
    table_id = await two.owner.open_table()
    bob = await two.other.join(table_id, "bob")
    live = node_of(two.owner).owner.live_tables[UUID(table_id)]
    await eventually(lambda: [socket.account_id for socket in live.sockets] == ["bob"])
    await bob.close()
    await eventually(lambda: not live.sockets)


async def _change_options(player: Player) -> None:
    for seats in itertools.cycle((5, 6)):
        assert (await player.command("change_options", options={"seats": seats}))["type"] in ("event", "done")


async def _sit_and_leave(player: Player) -> None:
    while True:
        assert (await player.command("sit"))["type"] in ("event", "done")
        assert (await player.command("leave"))["type"] in ("event", "done")


def _round_is_over(frame: dict[str, Any]) -> bool:
    return frame.get("kind") == "seeds_shown"


async def _until_version(player: Player, version: int) -> None:
    await eventually(lambda: player.version >= version)


def _dealt(player: Player) -> set[str]:
    secrets = [frame["secret"] for frame in shown(player) if frame.get("secret")]
    return {card for secret in secrets for card in secret.get("cards", secret.get("hand", ()))}


# One link against an owner that a test plays, on a clock that a test turns.


class Known:
    """What a process knows of the owners."""

    def __init__(self) -> None:
        self.owner: str | None = "t1"
        self.looked_at = 0.0

    def seen(self, shard: int) -> tuple[str | None, float]:
        assert shard == shard_of(TABLE)
        return self.owner, self.looked_at


class NodeDouble:
    process_id = "t9"

    def __init__(self) -> None:
        self.survey = Known()


class SocketDouble:
    """A player's socket: what it was sent and how it was closed."""

    def __init__(self) -> None:
        self.account_id = "bob"
        self.seat: int | None = None
        self.sent: list[dict[str, Any]] = []
        self.closed: str | None = None

    def send(self, frame: bytes) -> None:
        self.sent.append(msgspec.json.decode(frame))

    def close(self, code: str, message: str, *, path: str | None = None) -> None:
        self.closed = code


class Far:
    """A relay whose messages a test reads and answers."""

    def __init__(self) -> None:
        self.time = 100.0
        self.node = NodeDouble()
        self.relay = Relay(cast(Bus, None), node=lambda: cast(TableNode, self.node), clock=lambda: self.time)
        self.socket = SocketDouble()
        self.link: RelayLink | None = None
        self._numbers = itertools.count(1)

    def posted(self) -> list[tuple[str, AnyStep]]:
        queue = self.relay._outgoing
        return [queue.get_nowait() for _ in range(queue.qsize())]

    async def entered(self) -> int:
        """A socket that has said hello to t1, and has version 5; the number of its link."""
        entering = asyncio.create_task(self.relay.enter(self.socket, TABLE, 5))
        await asyncio.sleep(0)
        [(owner, step)] = self.posted()
        assert (owner, type(step)) == ("t1", Enter)
        number = cast(Enter, step).link
        await self.say(number, type="welcome", version=5)
        self.link = await entering
        return number

    async def say(self, link: int, number: int = 0, **frame: Any) -> None:
        passed = Passed(link, number or next(self._numbers), msgspec.Raw(msgspec.json.encode(frame)))
        await self.relay._hear(ToRelay("t1", (passed,)))

    async def shut(self, link: int, code: str, path: str | None = None) -> None:
        closing = frames.Closing(code, "", path)
        await self.relay._hear(ToRelay("t1", (Passed(link, next(self._numbers), closing=closing),)))

    def look(self, seconds: float, owner: str | None = "t1") -> None:
        """So much later, when the database has just been read."""
        self.time += seconds
        self.node.survey.owner, self.node.survey.looked_at = owner, self.time
        self.relay.look()

    async def command(self, command_id: str = "a-command-of-20-chars") -> ReplyDouble:
        assert self.link is not None
        reply = ReplyDouble()
        self.link.command(Person("bob", "Bob", "fox"), frames.Ready(command_id), reply)
        return reply


@pytest.fixture
def far() -> Far:
    return Far()


async def test_a_command_goes_to_the_next_owner_with_its_id_and_the_socket_hears_no_second_welcome(far: Far) -> None:
    number = await far.entered()
    await far.command()
    [(owner, told)] = far.posted()
    assert (owner, type(told)) == ("t1", Tell)
    await far.shut(number, "moved", path=f"/play/at/t2/tables/{TABLE}/socket")
    left, (owner, entered) = far.posted()
    assert (left, owner) == (("t1", Leave(number)), "t2")
    assert cast(Enter, entered).version == 5
    new = cast(Enter, entered).link
    far._numbers = itertools.count(1)
    await far.say(new, type="welcome", version=7)
    assert far.posted() == []
    await far.say(new, type="event", version=6)
    await far.say(new, type="event", version=7)
    [(owner, again)] = far.posted()
    assert (owner, cast(Tell, again).frame) == ("t2", cast(Tell, told).frame)
    await far.say(new, type="done", version=7, id="a-command-of-20-chars")
    assert [frame["type"] for frame in far.socket.sent] == ["welcome", "event", "event", "done"]


async def test_a_command_is_told_once_to_an_owner_that_is_heard(far: Far) -> None:
    """A second one, behind a refusal that the client has seen, might be done when the client wants it no more."""
    await far.entered()
    await far.command()
    assert [type(step) for _, step in far.posted()] == [Tell]
    far.look(0.1)
    assert far.posted() == []


async def test_an_event_that_answers_a_command_is_not_asked_for_again(far: Far) -> None:
    number = await far.entered()
    await far.command()
    await far.say(number, type="event", version=6, id="a-command-of-20-chars")
    far.posted()
    await far.shut(number, "not_owner")
    far.look(0.2, owner="t2")
    [_, (_, entered)] = far.posted()
    far._numbers = itertools.count(1)
    await far.say(cast(Enter, entered).link, type="welcome", version=6)
    assert far.posted() == []


async def test_a_command_is_held_for_ten_seconds_and_then_its_sender_asks_again(far: Far) -> None:
    number = await far.entered()
    await far.shut(number, "not_owner")
    reply = await far.command()
    far.look(HELD_SECONDS_MAX - 0.1, owner=None)
    assert reply.answers == []
    far.look(0.2, owner=None)
    assert [(answer.code, answer.retry) for answer in reply.answers] == [("unavailable", True)]
    assert far.socket.closed == "unavailable"


async def test_an_owner_that_can_not_answer_just_now_is_asked_again(far: Far) -> None:
    number = await far.entered()
    await far.command()
    far.posted()
    await far.say(number, type="refused", id="a-command-of-20-chars", code="unavailable", retry=True)
    assert far.socket.sent[1:] == []
    far.look(1.0)
    [(_, told)] = far.posted()
    assert isinstance(told, Tell)
    await far.say(number, type="refused", id="a-command-of-20-chars", code="not_seated", retry=False)
    assert far.socket.sent[-1]["code"] == "not_seated"


async def test_an_owner_that_is_silent_is_left_and_one_that_is_heard_is_not(far: Far) -> None:
    number = await far.entered()
    far.look(SILENCE_SECONDS_MAX - 0.1)
    await far.say(number, type="heartbeat", version=5)
    far.look(SILENCE_SECONDS_MAX - 0.1)
    assert far.posted() == []
    far.look(0.2)
    assert [type(step) for _, step in far.posted()] == [Leave, Enter]


async def test_a_lost_frame_is_asked_for(far: Far) -> None:
    number = await far.entered()
    await far.say(number, 3, type="event", version=7)
    assert [type(step) for _, step in far.posted()] == [Leave, Enter]
    assert [frame["type"] for frame in far.socket.sent] == ["welcome"]


async def test_where_every_answer_lacks_a_frame_the_owner_is_not_asked_again_and_again(far: Far) -> None:
    number = await far.entered()
    await far.say(number, 3, type="event", version=7)
    [_, (_, entered)] = far.posted()
    await far.say(cast(Enter, entered).link, 2, type="event", version=7)
    assert [type(step) for _, step in far.posted()] == [Leave]
    far.look(ASKED_SECONDS_MAX - 0.1)
    assert far.posted() == []
    far.look(0.2)
    [(_, entered)] = far.posted()
    await far.say(cast(Enter, entered).link, 1, type="welcome", version=5)
    await far.say(cast(Enter, entered).link, 2, type="event", version=6)
    assert [frame["type"] for frame in far.socket.sent] == ["welcome", "event"]


async def test_a_hello_that_nobody_answers_is_said_to_the_owner_again_and_nothing_comes_of_the_first(
    far: Far,
) -> None:
    number = await far.entered()
    await far.shut(number, "not_owner")
    far.look(0.1, owner="t1")
    assert [type(step) for _, step in far.posted()] == []
    far.look(ASKED_SECONDS_MAX)
    [(_, left), (_, entered)] = far.posted()
    assert (left, type(entered)) == (Leave(number), Enter)
    await far.say(number, type="event", version=6)
    assert [frame["type"] for frame in far.socket.sent] == ["welcome"]


async def test_a_hello_that_comes_while_nobody_owns_the_table_finds_the_owner_at_the_next_look(far: Far) -> None:
    far.node.survey.owner = None
    entering = asyncio.create_task(far.relay.enter(far.socket, TABLE, 5))
    await asyncio.sleep(0)
    assert far.posted() == []
    far.look(1.0, owner="t1")
    [(owner, step)] = far.posted()
    assert (owner, type(step)) == ("t1", Enter)
    await far.say(cast(Enter, step).link, type="welcome", version=5)
    await entering
    assert [frame["type"] for frame in far.socket.sent] == ["welcome"]


async def test_a_hello_that_waits_until_its_table_is_here_goes_over_no_bus(far: Far) -> None:
    far.node.survey.owner = None
    entering = asyncio.create_task(far.relay.enter(far.socket, TABLE, 5))
    await asyncio.sleep(0)
    far.look(4.0, owner=far.node.process_id)
    with pytest.raises(OwnedHere):
        await entering
    assert far.posted() == []
    far.look(0.1, owner=far.node.process_id)
    assert far.posted() == [], "nothing is left of it"


async def test_a_link_that_loses_its_owner_while_there_is_no_other_finds_the_next_one_or_ends_in_time(far: Far) -> None:
    number = await far.entered()
    far.node.survey.owner = None
    await far.say(number, 3, type="event", version=7)
    assert far.posted() == [("t1", Leave(number))]
    far.look(1.0, owner="t2")
    [(owner, step)] = far.posted()
    assert (owner, type(step)) == ("t2", Enter)
    far.node.survey.owner = None
    reply = await far.command()
    far.look(HELD_SECONDS_MAX + 0.1, owner=None)
    assert [answer.code for answer in reply.answers] == ["unavailable"]
    assert far.socket.closed == "unavailable"


async def test_what_was_read_before_the_owner_was_chosen_does_not_lead_back(far: Far) -> None:
    number = await far.entered()
    await far.shut(number, "moved", path=f"/play/at/t2/tables/{TABLE}/socket")
    far.posted()
    assert far.link is not None
    far.node.survey.looked_at = far.time - 1
    far.time += 0.1
    far.link.look(far.time)
    assert far.posted() == []


async def test_who_is_far_from_their_table_is_sent_there_at_the_pace_of_all_when_a_process_stops(
    far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "SOCKETS_A_SECOND", 1 / HOUR_SECONDS)
    monkeypatch.setattr(pace, "SPREAD_SECONDS_MAX", HOUR_SECONDS)
    nobody_before, one_before = Pace(), Pace()
    one_before.begin(1)
    await far.entered()
    waiting = asyncio.create_task(far.relay.close(one_before))
    await asyncio.sleep(0)
    assert [far.socket.closed] == [None]
    await far.relay.close(nobody_before)
    assert far.socket.closed == "moved"
    waiting.cancel()


async def test_a_closing_that_is_none_of_the_owners_business_ends_the_socket(far: Far) -> None:
    number = await far.entered()
    await far.shut(number, "table_closed")
    assert far.socket.closed == "table_closed"


async def test_a_refused_hello_is_raised(far: Far) -> None:
    entering = asyncio.create_task(far.relay.enter(far.socket, TABLE, 0))
    await asyncio.sleep(0)
    [(_, step)] = far.posted()
    await far.shut(cast(Enter, step).link, "table_private")
    with pytest.raises(Refused, match="table_private"):
        await entering


# The owner's side.


class LinkDouble:
    version = 1

    def __init__(self) -> None:
        self.left = False

    async def command(self, person: Person, frame: Any, reply: Any) -> None: ...

    def leave(self) -> None:
        self.left = True


class GatewayDouble:
    """Lets everybody in, when a test says so; for some tables nobody."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.asked = 0
        self.links: list[LinkDouble] = []
        self.sockets: list[RelayedSocket] = []

    async def enter(self, socket: Any, table_id: UUID, version: int) -> Any:
        self.asked += 1
        await self.open.wait()
        if table_id != TABLE:
            raise refused(frames.TableReason.TABLE_PRIVATE)
        self.sockets.append(socket)
        self.links.append(LinkDouble())
        return self.links[-1]


class Held:
    """Relayed sockets whose messages a test reads."""

    def __init__(self) -> None:
        self.time = 100.0
        self.gateway = GatewayDouble()
        self.bus = PublishDouble()
        self.sockets = RelayedSockets(
            "t1",
            bus=cast(Bus, self.bus),
            gateway=cast(TableGateway, self.gateway),
            decoder=DECODER,
            clock=lambda: self.time,
        )

    async def hear(self, step: AnyStep, relay: str = "r1") -> None:
        await self.sockets.hear(ToOwner(relay, step))


class PublishDouble:
    def __init__(self) -> None:
        self.sent: list[tuple[str, Passed]] = []

    async def publish(self, subject: str, message: ToRelay) -> None:
        self.sent += [(subject, passed) for passed in message.passed]


@pytest_asyncio.fixture(loop_scope="session")
async def held() -> AsyncIterator[Held]:
    made = Held()
    running = asyncio.create_task(made.sockets.run())
    await asyncio.sleep(0)
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_link_that_nobody_has_is_told_so(held: Held) -> None:
    await held.hear(Tell(9, Person("bob", "Bob", "fox"), msgspec.Raw(b"{}")))
    await eventually(lambda: held.bus.sent)
    [(subject, passed)] = held.bus.sent
    assert (subject, passed.link, passed.closing and passed.closing.code) == ("table.relay.r1", 9, "not_owner")


async def test_who_leaves_before_they_were_let_in_is_not_there(held: Held) -> None:
    await held.hear(Enter(1, str(TABLE), "bob", 0))
    await eventually(lambda: held.gateway.asked)
    await held.hear(Leave(1))
    held.gateway.open.set()
    await eventually(lambda: held.gateway.links and held.gateway.links[0].left)


async def test_sockets_of_a_process_that_is_silent_are_gone_and_others_are_not(held: Held) -> None:
    held.gateway.open.set()
    await held.hear(Enter(1, str(TABLE), "bob", 0))
    await held.hear(Enter(1, str(TABLE), "cyn", 0), relay="r2")
    await eventually(lambda: len(held.gateway.links) == 2)
    held.time += 8.1
    await held.hear(Leave(99), relay="r2")
    await eventually(lambda: held.gateway.links[0].left)
    assert not held.gateway.links[1].left


async def test_who_may_not_see_a_table_is_sent_the_refusal_and_nothing_else(held: Held) -> None:
    held.gateway.open.set()
    await held.hear(Enter(1, str(uuid4()), "bob", 0))
    await eventually(lambda: held.bus.sent)
    [(_, passed)] = held.bus.sent
    assert (passed.frame, passed.closing and passed.closing.code) == (NO_FRAME, "table_private")
    await eventually(lambda: not held.sockets._sockets)
