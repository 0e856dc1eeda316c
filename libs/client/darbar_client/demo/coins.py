"""What each account must have won and lost by a table's log. Open this when a ledger and a log disagree."""

from __future__ import annotations

from collections import Counter

import msgspec

from darbar_client.proofs.log import Step, steps
from darbar_contracts.api import Replay
from darbar_contracts.tables import Person


class RoundCoins(msgspec.Struct, frozen=True):
    """The coins of one stake unit, a number a seat: what each seat won less what it paid."""

    round: int
    won: tuple[int, ...]


class _TableCreated(msgspec.Struct, frozen=True):
    host: Person


class _SeatTaken(msgspec.Struct, frozen=True):
    seat: int
    account_id: str


class _SeatFreed(msgspec.Struct, frozen=True):
    seat: int


class _CountInStarted(msgspec.Struct, frozen=True):
    round: int


class _SettleAsked(msgspec.Struct, frozen=True):
    shares: tuple[int, ...]
    pays_again: tuple[int, ...]
    forfeit_coins: int
    rounding_coins: int


class LoggedCoins:
    """The coins of a whole log: by the alias of each account, and by stake unit for the score sheet."""

    def __init__(self, replay: Replay) -> None:
        self.by_alias: Counter[str] = Counter()
        self.units: list[RoundCoins] = []
        self.lost_to_house = 0
        self._bet_coins = replay.terms.bet_coins
        self._holders: dict[int, str] = {}
        self._stakers: dict[int, str] = {}
        self._asked: _SettleAsked | None = None
        self._round = 0
        for step in steps(replay):
            self._note(step)

    def _note(self, step: Step) -> None:
        match step.kind:
            case "table_created":
                self._holders[0] = step.body(_TableCreated).host.account_id
            case "seat_taken":
                taken = step.body(_SeatTaken)
                self._holders[taken.seat] = taken.account_id
            case "seat_freed":
                self._holders.pop(step.body(_SeatFreed).seat, None)
            case "stakes_granted":
                self._stakers = dict(self._holders)
            case "count_in_started":
                self._round = step.body(_CountInStarted).round
            case "settle_asked":
                self._asked = step.body(_SettleAsked)
            case "settled" if self._asked is not None:
                self._settled(self._asked)

    def _settled(self, asked: _SettleAsked) -> None:
        """Who staked pays; who holds the seat wins."""
        won = []
        for seat, share in enumerate(asked.shares):
            paid = self._bet_coins * (2 if seat in asked.pays_again else 1)
            if seat in self._stakers:
                self.by_alias[self._stakers[seat]] -= paid
            if seat in self._holders:
                self.by_alias[self._holders[seat]] += share
            won.append(share - paid)
        self.lost_to_house += asked.forfeit_coins + asked.rounding_coins
        self.units.append(RoundCoins(self._round, tuple(won)))
