"""The service against a real NATS: asked by a table, it decides or says why not. Open this about the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import msgspec
import pytest
from bot_fixtures import ANSWER_SECONDS, MakeRequest, Service

from darbar_bot.settings import Settings
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_contracts.subjects import BOT_DECIDE
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_kit.settings import SettingsInvalid, load
from darbar_kit.testing import eventually
from darbar_rules.games import BY_NAME
from darbar_rules.games.court_piece.options import CourtPieceOptions

GAME = BY_NAME["court_piece"]


async def ask(bus: Bus, request: BotRequest) -> BotAnswer:
    return await bus.request(BOT_DECIDE, request, BotAnswer, timeout_seconds=ANSWER_SECONDS)


async def read(url: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()


async def test_a_decision_can_be_read_as_the_game_says(
    service: Service, bus: Bus, views: list[Any], request_of: MakeRequest
) -> None:
    for view in views[:8]:
        answer = await ask(bus, request_of(view))
        decision = msgspec.json.decode(answer.decision, type=GAME.decisions[answer.type])
        assert answer.type in view.legal.also or decision.card in (*view.legal.play, *view.legal.name)


async def test_the_port_does_not_wait_for_the_children_but_readiness_does(
    service: Service, bus: Bus, views: list[Any], request_of: MakeRequest
) -> None:
    _, url = service
    assert (await read(f"{url}/healthz"))[0] == 200
    early = asyncio.gather(*(ask(bus, request_of(view)) for view in views[:4]))
    assert await read(f"{url}/readyz") == (503, '{"status":"waiting","missing":["children"]}')
    assert len(await early) == 4
    assert (await read(f"{url}/readyz"))[0] == 200


async def test_when_nobody_watches_the_children_any_more_the_process_says_that_it_is_lost(service: Service) -> None:
    _, url = service
    for task in asyncio.all_tasks():
        if task.get_name() == "supervisor":
            task.cancel()

    async def is_lost() -> bool:
        return await read(f"{url}/healthz") == (503, '{"status":"failing","missing":["task:child_1"]}')

    await eventually(is_lost)


def of_another_seat(view: Any) -> BotRequest:
    return BotRequest("court_piece", "normal", (view.seat + 1) % 4, msgspec.Raw(msgspec.json.encode(view)))


def of_a_spectator(view: Any) -> BotRequest:
    spectator = msgspec.to_builtins(view) | {"seat": None}
    return BotRequest("court_piece", "normal", 0, msgspec.Raw(msgspec.json.encode(spectator)))


def before_the_deal(_view: Any) -> BotRequest:
    view = GAME.view(GAME.new(CourtPieceOptions(), 4), 0)
    return BotRequest("court_piece", "normal", 0, msgspec.Raw(msgspec.json.encode(view)))


def with_unknown_cards(view: Any) -> BotRequest:
    strange = msgspec.to_builtins(view) | {"hand": ["ZZ"]}
    return BotRequest("court_piece", "normal", view.seat, msgspec.Raw(msgspec.json.encode(strange)))


def that_is_none(view: Any) -> BotRequest:
    return BotRequest("court_piece", "normal", view.seat, msgspec.Raw(b'{"hand": 7}'))


def of_a_game_that_is_not_played(view: Any) -> BotRequest:
    return BotRequest("bridge", "normal", view.seat, msgspec.Raw(b"{}"))


def at_a_level_that_nobody_has(view: Any) -> BotRequest:
    return BotRequest("court_piece", "godlike", view.seat, msgspec.Raw(msgspec.json.encode(view)))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (that_is_none, "view_invalid"),
        (of_another_seat, "view_invalid"),
        (of_a_spectator, "view_invalid"),
        (before_the_deal, "view_invalid"),
        (with_unknown_cards, "view_invalid"),
        (of_a_game_that_is_not_played, "game_unknown"),
        (at_a_level_that_nobody_has, "level_unknown"),
    ],
)
async def test_refuses_a_view(
    service: Service, bus: Bus, views: list[Any], make: Callable[[Any], BotRequest], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        await ask(bus, make(views[0]))


async def test_metrics_count_decisions_and_refusals(
    service: Service, bus: Bus, views: list[Any], request_of: MakeRequest
) -> None:
    _, url = service
    await ask(bus, request_of(views[0]))
    with pytest.raises(Refused):
        await ask(bus, that_is_none(views[0]))
    status, text = await read(f"{url}/metrics")
    assert status == 200
    assert "bot_decisions_total 1.0" in text
    assert 'bot_failures_total{reason="view_invalid"} 1.0' in text
    assert "bot_children_ready 1.0" in text


async def test_two_services_share_the_requests(
    service: Service, second_service: Service, bus: Bus, views: list[Any], request_of: MakeRequest
) -> None:
    async def decided(url: str) -> bool:
        return "bot_decisions_total 0.0" not in (await read(f"{url}/metrics"))[1]

    async def both_have_decided() -> bool:
        await ask(bus, request_of(views[0]))
        return await decided(service[1]) and await decided(second_service[1])

    await eventually(both_have_decided)


@pytest.mark.parametrize("workers", ["0", "8", "many"])
def test_a_number_of_children_that_cannot_be_is_refused_at_the_start(workers: str) -> None:
    with pytest.raises(SettingsInvalid):
        load(Settings, prefix="BOT_", environ={"BOT_NATS_URL": "nats://localhost", "BOT_WORKERS": workers})
