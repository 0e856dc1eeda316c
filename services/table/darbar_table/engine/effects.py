"""What a table needs of others after an event is stored: the wallet, the bots. Never on the way of a move."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any

import msgspec
import structlog

from darbar_contracts import subjects
from darbar_contracts.bots import BotAnswer, BotRequest
from darbar_contracts.wallet import (
    RefundRequest,
    SettleRequest,
    Share,
    StakeRequest,
    StakeSeat,
    WalletAnswer,
)
from darbar_kit.backoff import Backoff
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_rules.game import Turn
from darbar_table.domain.commands import BotDecided, WalletAnswered
from darbar_table.domain.events import RefundAsked, SettleAsked, StakesAsked
from darbar_table.domain.state import Phase, Table
from darbar_table.engine.freezer import Freezer
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.owner import Owner
from darbar_table.metrics import Metrics
from darbar_table.settings import Settings

BOT_SECONDS_MAX = 2.0
WALLET_SECONDS_MAX = 2.0
WALLET_PAUSE_SECONDS_MIN = 0.2
WALLET_PAUSE_SECONDS_MAX = 5.0
WALLET_ALERT_SECONDS = 60.0

log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode


class Effects:
    """Each effect is a task of its own; its result comes back to the table as a command."""

    def __init__(
        self,
        settings: Settings,
        *,
        bus: Bus,
        metrics: Metrics,
        owner: Owner,
        freezer: Freezer,
        spawn: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self._settings = settings
        self._bus = bus
        self._metrics = metrics
        self._owner = owner
        self._freezer = freezer
        self._spawn = spawn

    def bots(self, live: LiveTable) -> None:
        """Ask for the decisions of seats on turn that a bot plays, once a turn."""
        table = live.table
        if table.phase is not Phase.PLAYING:
            live.asked_bots = None  # The next game counts its rounds and turns anew.
            return
        turn: Turn = table.rules.turn(table.state)
        due = tuple([seat for seat in turn.seats if table.seats[seat].played_by_bot])
        if not due:
            return
        mark = (turn.round, turn.turn, due)
        if mark == live.asked_bots:
            return
        live.asked_bots = mark
        for seat in due:
            self._spawn(self._ask_bot(live, table, seat=seat, turn=turn))

    def wallet(self, live: LiveTable) -> None:
        """Ask the wallet what the table waits for, once; the effect goes on until there is an answer."""
        asked = live.table.asked
        if asked is None or asked.key == live.asked_key:
            return
        live.asked_key = asked.key
        self._spawn(self._ask_wallet(live, live.table, asked))

    async def _ask_bot(self, live: LiveTable, table: Table, *, seat: int, turn: Turn) -> None:
        pause = random.uniform(self._settings.bot_pause_seconds_min, self._settings.bot_pause_seconds_max)
        if pause:
            await asyncio.sleep(pause)
        with self._freezer.guard(live):
            decision = await self._bot_decision(table, seat)
            command = BotDecided(seat=seat, round=turn.round, turn=turn.turn, decision=decision)
            if self._owner.live_tables.get(live.table_id) is live and live.table.game == table.game:
                self._owner.submit(live, command)

    async def _bot_decision(self, table: Table, seat: int) -> Any | None:
        """None when there is no good answer in time: the fallback decides (TL-18)."""
        view = msgspec.Raw(_encode(table.rules.view(table.state, seat)))
        request = BotRequest(game=table.rules.name, level=table.terms.bot_level, seat=seat, view=view)
        try:
            answer = await self._bus.request(subjects.BOT_DECIDE, request, BotAnswer, timeout_seconds=BOT_SECONDS_MAX)
            return msgspec.json.decode(answer.decision, type=table.rules.decisions[answer.type])
        except (Refused, Unavailable, KeyError, msgspec.DecodeError, RecursionError) as error:
            log.warning("bot_silent", table_id=table.table_id, seat=seat, error=str(error))
            return None

    async def _ask_wallet(self, live: LiveTable, table: Table, asked: StakesAsked | SettleAsked | RefundAsked) -> None:
        with self._freezer.guard(live):
            subject, request = wallet_request(table, asked)
            began = monotonic()
            backoff = Backoff(seconds_min=WALLET_PAUSE_SECONDS_MIN, seconds_max=WALLET_PAUSE_SECONDS_MAX)
            while self._owner.live_tables.get(live.table_id) is live:
                try:
                    answer = await self._bus.request(subject, request, WalletAnswer, timeout_seconds=WALLET_SECONDS_MAX)
                except Refused as refusal:
                    answer = WalletAnswer(done=False, reason=refusal.code)
                except Unavailable as error:
                    self._metrics.wallet_retries.inc()
                    level = log.error if monotonic() - began >= WALLET_ALERT_SECONDS else log.warning
                    level("wallet_silent", table_id=table.table_id, subject=subject, error=str(error))
                    await backoff.pause()
                    continue
                self._owner.submit(live, WalletAnswered(key=asked.key, answer=answer))
                return


def wallet_request(
    table: Table, asked: StakesAsked | SettleAsked | RefundAsked
) -> tuple[str, StakeRequest | SettleRequest | RefundRequest]:
    """The subject and the message for what a table asks; the same ones for the same event, whoever asks again."""
    holders = table.accounts
    match asked:
        case StakesAsked():
            seats = tuple(StakeSeat(seat=number, account_id=holder) for number, holder in enumerate(holders))
            return subjects.WALLET_STAKE, StakeRequest(
                key=asked.key,
                table_id=table.table_id,
                unit=asked.unit,
                attempt=asked.attempt,
                bet_coins=asked.bet_coins,
                seats=seats,
            )
        case SettleAsked():
            return subjects.WALLET_SETTLE, _settle_request(table, asked, holders)
        case RefundAsked():
            return subjects.WALLET_REFUND, RefundRequest(
                asked.key, asked.stake_key, table.table_id, asked.unit, asked.purpose
            )


def _settle_request(table: Table, asked: SettleAsked, holders: tuple[str | None, ...]) -> SettleRequest:
    """Where nobody wins, people may sit down while the wallet is asked: its request does not depend on them."""
    payees = holders if any(asked.shares) else ()
    return SettleRequest(
        key=asked.key,
        stake_key=asked.stake_key,
        table_id=table.table_id,
        unit=asked.unit,
        purpose=asked.purpose,
        pays_again=asked.pays_again,
        shares=tuple(Share(number, holders[number], coins) for number, coins in enumerate(asked.shares) if coins),
        bets_back=asked.bets_back,
        forfeit_coins=asked.forfeit_coins,
        rounding_coins=asked.rounding_coins,
        present_holders=tuple(holder for holder in payees if holder is not None),
    )
