"""A game that only this test registers is played whole over real sockets, and one that leaks is noticed there.

What a seat received is held against the stored log, which knows every hand: no frame names a card too many (GEN-7).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import pytest
from plain_tricks.game import PLAIN_TRICKS, Dealt, Ended
from plain_tricks.game import Played as CardPlayed
from table_stack import Stack, StartTable

from darbar_contracts.wallet import SettleRequest, StakeRequest
from darbar_kit.testing import TestDatabase
from darbar_rules.cards import TEXTS
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_rules.indistinguishable import seeing, showing, telling_secrets
from darbar_table.app import SERVICE
from darbar_table.domain.events import Played
from darbar_table.handlers.log_reader import fingerprint
from darbar_table.store.codec import EventCodec
from darbar_table.store.replay import replay
from darbar_table.store.store import StoredEvent

# Ann, bob, cyn and dan: where nobody has a partner they sit down in turn. Eve looks on.
VIEWERS = (0, 1, 2, 3, None)
BET_COINS = 100
Frame = dict[str, Any]
Received = dict[int | None, list[Frame]]


class Leak(NamedTuple):
    """A card in a frame whose receiver could not know it at that version; seat None is a spectator."""

    seat: int | None
    version: int
    card: str


def cards_in(value: object) -> Iterator[str]:
    """Every text in a frame that is a card."""
    if isinstance(value, dict):
        for part in value.values():
            yield from cards_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from cards_in(part)
    elif isinstance(value, str) and value in TEXTS:
        yield value


def known_cards(rows: list[StoredEvent], seat: int | None) -> list[set[str]]:
    """What a seat may know at each version, from 0 on: its hand, what was played, and everything after a round."""
    codec, known = EventCodec(PLAIN_TRICKS), [set[str]()]
    for row in rows:
        event = codec.decode(row.kind, row.body)
        now = set(known[-1])
        match event.event if isinstance(event, Played) else None:
            case Dealt() as dealt:
                now = set() if seat is None else set(dealt.hands[seat])
            case CardPlayed() as played:
                now.add(played.card)
            case Ended():
                now = set(TEXTS)
        known.append(now)
    return known


def leaks(frames: list[Frame], rows: list[StoredEvent], seat: int | None) -> list[Leak]:
    known = known_cards(rows, seat)
    return [
        Leak(seat, frame["version"], card)
        for frame in frames
        for card in cards_in(frame)
        if card not in known[frame["version"]]
    ]


async def log_of(database: TestDatabase, table_id: str) -> list[StoredEvent]:
    connection = await asyncpg.connect(database.owner_url)
    try:
        rows = await connection.fetch(
            "SELECT version, kind, body::text, at, chain FROM event WHERE table_id = $1 ORDER BY version",
            UUID(table_id),
        )
    finally:
        await connection.close()
    return [StoredEvent(*row) for row in rows]


async def played(stack: Stack, until: str) -> tuple[str, Received]:
    """A table at which this has happened, and all frames by seat; dan has lost his socket in the first round."""
    table_id, players = await stack.full_table(game=PLAIN_TRICKS.name)
    players.append(await stack.join(table_id, "eve"))
    await players[4].event("plain_dealt")
    await players[3].close()
    lost, players[3] = players[3].frames, await stack.join(table_id, "dan")
    await asyncio.gather(*(player.play(lambda frame: frame.get("kind") == until) for player in players))
    received = {seat: player.frames for seat, player in zip(VIEWERS, players, strict=True)}
    return table_id, {**received, 3: lost + received[3]}


async def test_a_game_that_only_a_test_registers_is_played_to_its_end(
    start_table: StartTable, table_database: TestDatabase
) -> None:
    with BY_NAME.registered(PLAIN_TRICKS):
        stack = await start_table(count_in_seconds=0.5)
        table_id, received = await played(stack, until="game_ended")
        ended = next(frame for frame in received[0] if frame.get("kind") == "game_ended")
        table = stack.runner.app[SERVICE].present_node().owner.live_tables[UUID(table_id)].table
        rows = await log_of(table_database, table_id)
        replayed = replay(UUID(table_id), rows[: table.version], PLAIN_TRICKS, EventCodec(PLAIN_TRICKS))
        assert fingerprint(replayed) == fingerprint(table)
    kinds = [row.kind for row in rows[: ended["version"]]]
    assert [kinds.count(kind) for kind in ("plain_dealt", "plain_played", "plain_ended")] == [2, 104, 2]
    assert ended["public"]["reason"] == "played"
    assert [leaks(frames, rows, seat) for seat, frames in received.items()] == [[]] * 5
    paid = stack.wallet.requests[:4]
    assert [type(request) for request in paid] == [StakeRequest, SettleRequest] * 2
    settled = [request for request in paid if isinstance(request, SettleRequest)]
    assert [sum(s.coins for s in r.shares) + r.rounding_coins for r in settled] == [
        4 * BET_COINS
    ] * 2  # Three may share 400.


async def test_the_law_sees_what_a_seat_receives(start_table: StartTable, table_database: TestDatabase) -> None:
    """Each hand reaches its seat and no other, and a card that is played reaches everybody."""
    with BY_NAME.registered(PLAIN_TRICKS):
        stack = await start_table(count_in_seconds=0.5)
        table_id, received = await played(stack, until="plain_ended")
        rows = await log_of(table_database, table_id)
    dealt = next(row.version for row in rows if row.kind == "plain_dealt")
    for seat, frames in received.items():
        then = {card for frame in frames if frame.get("version") == dealt for card in cards_in(frame)}
        assert then == known_cards(rows, seat)[dealt]
        assert len(known_cards(rows, seat)[dealt]) == (0 if seat is None else 13)
        in_tricks = [frame for frame in frames if frame.get("kind") == "plain_played"]
        assert {frame["public"]["card"] for frame in in_tricks} == set(TEXTS[:52])


def a_hand_in_the_deal(game: AnyGame) -> AnyGame:
    return showing(game, "plain_dealt", lambda before, event: {"first": event.hands[0]})


def a_card_before_it_is_played(game: AnyGame) -> AnyGame:
    return showing(game, "plain_played", lambda before, event: {"next": game.view(before, 3).hand[-1:]})


def a_neighbours_hand(game: AnyGame) -> AnyGame:
    return seeing(game, lambda state, seat: {"hand": game.view(state, 0).hand})


@pytest.mark.ruling("GEN-7")
@pytest.mark.parametrize(
    ("leaking", "told"),
    [
        (telling_secrets, (0, 1, 2, 3)),
        (a_hand_in_the_deal, (1, 2, 3)),
        (a_card_before_it_is_played, (0, 1, 2)),
        (a_neighbours_hand, (3,)),
    ],
)
async def test_gen_7_a_game_that_leaks_is_noticed_by_what_its_seats_received(
    start_table: StartTable, table_database: TestDatabase, leaking: Callable[[AnyGame], AnyGame], told: tuple[int, ...]
) -> None:
    with BY_NAME.registered(leaking(PLAIN_TRICKS)):
        stack = await start_table(count_in_seconds=0.5)
        table_id, received = await played(stack, until="plain_ended")
        rows = await log_of(table_database, table_id)
    found = {leak.seat for seat, frames in received.items() for leak in leaks(frames, rows, seat)}
    assert found - {None} == set(told)
