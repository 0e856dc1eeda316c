"""What a table asks of the wallet and the bots: once, after their pause, and with everything that they must know."""

from __future__ import annotations

import asyncio

import pytest
from engine_desk import Desk
from msgspec.structs import replace
from table_scripts import ANN, BOB, CYN, DAN, SETTINGS, Script

from darbar_contracts import subjects
from darbar_contracts.wallet import SettleRequest, Share, StakeRequest, StakeSeat, WalletAnswer
from darbar_kit.errors import Refused
from darbar_kit.testing import eventually
from darbar_rules.games.king.game import KING_SHORT
from darbar_table.domain.events import GameEnded
from darbar_table.domain.state import Phase, Table
from darbar_table.engine.effects import wallet_request

AT_ONCE = replace(SETTINGS, bot_pause_seconds_min=0.0, bot_pause_seconds_max=0.0)


def played_by_bots() -> Script:
    return Script().sit(BOB).starts_now(ANN).zero().wallet()


async def test_a_bot_is_asked_once_a_turn() -> None:
    script = played_by_bots()
    while not script.table.seats[script.turn.seats[0]].bot:
        script.plays(script.turn.seats[0])
    desk = Desk(script, AT_ONCE)
    for _ in range(3):
        desk.effects.bots(desk.live)
    await eventually(lambda: len(desk.bus.asked) == 1)
    assert (len(desk.tasks), desk.bus.asked[0][0]) == (1, subjects.BOT_DECIDE)
    desk.live.table = script.time_up().table
    desk.effects.bots(desk.live)
    assert len(desk.tasks) == 1 + len([seat for seat in script.turn.seats if script.table.seats[seat].bot])
    await desk.end()


def ended_at_a_bots_first_turn() -> tuple[Script, Table]:
    """The table when a bot begins a game, and the script of its next game, which the same bot begins."""
    for seed in range(100):
        script = Script(f"00000000-0000-4000-8000-{seed:012}").sit(BOB).starts_now(ANN).zero().wallet()
        before = script.table
        script.asks(ANN, "end_game").agrees(BOB).wallet().zero().wallet()
        (seat,) = script.turn.seats
        if before.rules.turn(before.state) == script.turn and before.seats[seat].bot:
            return script, before
    raise AssertionError("no bot begins two games")


@pytest.mark.ruling("TL-39")
async def test_tl_39_a_bot_that_begins_the_next_game_is_asked_again() -> None:
    script, before = ended_at_a_bots_first_turn()
    desk = Desk(script, AT_ONCE)
    ended = next(after for _, event, after in script.log if isinstance(event, GameEnded))
    for table, asked in ((before, 1), (ended, 1), (script.table, 2)):
        desk.live.table = table
        desk.effects.bots(desk.live)
        assert len(desk.tasks) == asked
    await desk.end()


@pytest.mark.ruling("TL-39")
async def test_tl_39_a_bots_answer_for_a_game_that_is_over_says_nothing_in_the_next() -> None:
    script, before = ended_at_a_bots_first_turn()
    desk = Desk(script, AT_ONCE)
    desk.live.table = before
    desk.effects.bots(desk.live)
    await eventually(lambda: len(desk.bus.asked) == 1)
    desk.live.table = script.table
    desk.bus.answers.put_nowait(Refused("decision_failed"))
    await asyncio.wait(desk.tasks, timeout=10)
    assert desk.writer.offered == []
    await desk.end()


@pytest.mark.ruling("TL-18")
async def test_tl_18_a_bot_is_not_asked_before_its_pause_is_over() -> None:
    script = played_by_bots()
    while not script.table.seats[script.turn.seats[0]].bot:
        script.plays(script.turn.seats[0])
    desk = Desk(script, replace(SETTINGS, bot_pause_seconds_min=60.0, bot_pause_seconds_max=60.0))
    desk.effects.bots(desk.live)
    for _ in range(10):
        await asyncio.sleep(0)
    assert (len(desk.tasks), desk.bus.asked) == (1, [])
    await desk.end()


async def test_the_wallet_is_asked_once_and_a_refusal_is_a_no() -> None:
    desk = Desk(Script().sit(BOB, CYN, DAN).zero())
    for _ in range(3):
        desk.effects.wallet(desk.live)
    assert len(desk.tasks) == 1
    desk.bus.answers.put_nowait(Refused("stake_cancelled"))
    await eventually(lambda: len(desk.writer.offered) == 1)
    desk.writer.end()
    assert (desk.live.table.phase, desk.live.table.attempt) == (Phase.COUNTING_IN, 2)
    await desk.end()


async def test_a_wallet_that_says_yes_lets_the_table_go_on() -> None:
    desk = Desk(Script().sit(BOB, CYN, DAN).zero())
    desk.effects.wallet(desk.live)
    desk.bus.answers.put_nowait(WalletAnswer(done=True))
    await eventually(lambda: len(desk.writer.offered) == 1)
    desk.writer.end()
    assert desk.live.table.phase is Phase.PLAYING
    await desk.end()


def test_a_stake_names_every_seat_and_who_holds_it() -> None:
    table = Script().sit(BOB).starts_now(ANN).zero().table
    asked = table.asked
    assert asked is not None
    subject, request = wallet_request(table, asked)
    assert (subject, isinstance(request, StakeRequest)) == (subjects.WALLET_STAKE, True)
    assert isinstance(request, StakeRequest)
    assert request.seats == tuple(StakeSeat(seat, holder) for seat, holder in enumerate(("ann", None, "bob", None)))
    assert (request.key, request.bet_coins, request.attempt) == (asked.key, 100, 1)


@pytest.mark.ruling("TL-37")
def test_tl_37_a_settlement_names_whose_bet_goes_back_who_has_won_and_who_is_still_there() -> None:
    script = Script(rules=KING_SHORT).dealt().play_round()
    script.leaves(DAN).leaves(CYN, BOB)
    given_back = script.leaves(ANN).table
    asked = given_back.asked
    assert asked is not None
    _, request = wallet_request(given_back, asked)
    assert isinstance(request, SettleRequest)
    assert (len(request.bets_back), request.forfeit_coins, request.present_holders) == (3, 100, ())


@pytest.mark.ruling("TL-21")
def test_tl_21_a_settlement_names_the_winners_and_nobody_without_a_share() -> None:
    script = Script().dealt().play_round()
    asked = script.table.asked
    assert asked is not None
    subject, request = wallet_request(script.table, asked)
    assert isinstance(request, SettleRequest)
    holders = script.table.accounts
    pot_coins = 100 * (4 + len(request.pays_again))
    winners = [Share(seat, holders[seat], pot_coins // 2) for seat in script.result.winners]
    assert (subject, list(request.shares)) == (subjects.WALLET_SETTLE, winners)
    assert (request.key, request.present_holders) == (asked.key, ("ann", "cyn", "bob", "dan"))
