"""Whole games over real sockets, with everything that can be proven about them. The first place to look when all else
is green and nothing works."""

from __future__ import annotations

from itertools import pairwise

import aiohttp
import pytest
from whole_games import BACKOFF, Game, false_checks, game_of, in_the_middle_of_round

from darbar_client import Darbar, TableSocket
from darbar_client.demo.local_server import LocalServer
from darbar_client.demo.playing import Participant
from darbar_contracts.frames import EventFrame, Snapshot, TableView


async def test_four_people_play_to_ten_points(darbar: Darbar) -> None:
    game = await game_of(darbar)
    await game.play()
    evidence = await game.evidence()
    assert false_checks(evidence) == []
    assert max(max(participant.table.version for participant in game.participants), len(evidence.replay.events)) > 100


@pytest.mark.parametrize("people", [1, 2])
async def test_bots_take_the_empty_seats_and_play_to_the_end(darbar: Darbar, people: int) -> None:
    game = await game_of(darbar, people=people)
    await game.play()
    assert false_checks(await game.evidence()) == []


@pytest.mark.parametrize("trump", ["open", "kaat"])
async def test_the_other_trump_modes_are_played_to_the_end(darbar: Darbar, trump: str) -> None:
    game = await game_of(darbar, trump=trump)
    await game.play()
    assert false_checks(await game.evidence()) == []


async def test_a_socket_that_is_cut_while_others_stay_misses_no_event(darbar: Darbar) -> None:
    game = await game_of(darbar)

    async def cut_one_after_another(participants: list[Participant]) -> None:
        for number, participant in enumerate(participants[1:], start=1):
            await in_the_middle_of_round(participants[0].table, number)
            participant.table.cut()

    await game.play(cut_one_after_another)
    assert false_checks(await game.evidence()) == []
    assert [holes(participant) for participant in game.participants] == [[], [], [], []]


async def test_sockets_that_are_all_cut_at_once_come_back_and_know_all(darbar: Darbar) -> None:
    game = await game_of(darbar)

    async def cut_all(participants: list[Participant]) -> None:
        for number in (1, 2, 3):
            await in_the_middle_of_round(participants[0].table, number)
            for participant in participants:
                participant.table.cut()

    await game.play(cut_all)
    assert false_checks(await game.evidence()) == []
    # A table without a socket keeps no frames: what it stored meanwhile comes as a snapshot.
    assert [unfilled_holes(participant) for participant in game.participants] == [[], [], [], []]


async def test_what_events_say_of_the_table_is_what_a_snapshot_says(darbar: Darbar) -> None:
    game = await game_of(darbar, people=2)

    async def compare(participants: list[Participant]) -> None:
        for number in (1, 2):
            await in_the_middle_of_round(participants[1].table, number)
            await compare_with_a_snapshot(participants[1].table)

    await game.play(compare)
    await game.evidence()


async def test_a_server_that_is_killed_and_started_again_goes_on_with_the_same_round(
    server_to_kill: LocalServer,
) -> None:
    async with Darbar(server_to_kill.url, backoff=BACKOFF) as darbar:
        game = await game_of(darbar)
        rounds: list[tuple[int, int]] = []

        async def kill(participants: list[Participant]) -> None:
            table = participants[0].table
            await in_the_middle_of_round(table, 2)
            await server_to_kill.kill()
            rounds.append((table.now.game_number, table.round))
            await server_to_kill.start()
            await table.until(lambda now: now.caught_up)
            rounds.append((table.now.game_number, table.round))

        await game.play(kill)
        assert false_checks(await game.evidence()) == []
        assert rounds[0] == (1, 2)
        assert shown_rounds(game) == list(range(1, len(shown_rounds(game)) + 1))


async def test_an_invite_url_leads_to_a_page_and_from_there_to_the_table(darbar: Darbar) -> None:
    host, guest = await darbar.guest(), await darbar.guest()
    made = await host.create_table("court_piece")
    async with aiohttp.ClientSession() as browser, browser.get(made.invite_url or "") as page:
        assert page.status == 200
        assert f'href="/v1/invites/{made.invite_token}"' in await page.text()
    assert (await guest.look_up_invite(made.invite_token or "")).table_id == made.table_id


def holes(participant: Participant) -> list[tuple[int, int]]:
    """Where an event was followed by one that is not the next."""
    versions = [frame.version for _, frame in participant.seen if isinstance(frame, EventFrame)]
    return [(before, after) for before, after in pairwise(versions) if after != before + 1]


def unfilled_holes(participant: Participant) -> list[tuple[int, int]]:
    """Holes without a snapshot of the version from which the events go on."""
    snapshots = {frame.version for _, frame in participant.seen if isinstance(frame, Snapshot)}
    return [(before, after) for before, after in holes(participant) if after - 1 not in snapshots]


def shown_rounds(game: Game) -> list[int]:
    """The rounds whose end the first player was told of."""
    frames = [frame for _, frame in game.participants[0].seen if isinstance(frame, EventFrame)]
    return [frame.public["round"] for frame in frames if frame.kind == "seeds_shown"]


async def compare_with_a_snapshot(table: TableSocket) -> None:
    """At a moment when nothing came between the two."""
    for _ in range(100):
        before: tuple[int, TableView] = (table.version, table.now)
        snapshot = await table.refresh()
        if snapshot.version == before[0]:
            assert table.now == before[1]
            return
    raise AssertionError("the table never stood still for a moment")
