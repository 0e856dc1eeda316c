"""What each account must have won and lost by a table's log. Open this when a ledger and a log disagree."""

from __future__ import annotations

from collections import Counter
from typing import Any

from darbar_client.proofs.log import steps
from darbar_contracts.api import Replay


class RoundCoins:
    """The coins of one stake unit, a number a seat: what each seat won less what it paid."""

    def __init__(self, round: int, won: tuple[int, ...]) -> None:
        self.round = round
        self.won = won


class LoggedCoins:
    """The coins of a whole log: by account, and by stake unit for the score sheet."""

    def __init__(self, replay: Replay) -> None:
        self.by_account: Counter[str] = Counter()
        self.units: list[RoundCoins] = []
        self.lost_to_house = 0
        self._holders: dict[int, str] = {}
        self._stakers: dict[int, str] = {}
        self._bet = 0
        self._asked: dict[str, Any] = {}
        self._round = 0
        for step in steps(replay):
            self._note(step.kind, step.body or {})

    def _note(self, kind: str, body: dict[str, Any]) -> None:
        match kind:
            case "table_created":
                self._holders[0] = body["host"]["account_id"]
                self._bet = body["terms"]["bet_coins"]
            case "seat_taken":
                self._holders[body["seat"]] = body["account_id"]
            case "seat_freed":
                self._holders.pop(body["seat"], None)
            case "stakes_granted":
                self._stakers = dict(self._holders)
            case "count_in_started":
                self._round = body["round"]
            case "settle_asked":
                self._asked = body
            case "settled":
                self._settled(self._asked)

    def _settled(self, asked: dict[str, Any]) -> None:
        """Who staked pays; who holds the seat wins."""
        won = []
        for seat, share in enumerate(asked["shares"]):
            paid = self._bet * (2 if seat in asked["pays_again"] else 1)
            back = self._bet if seat in asked["bets_back"] else 0
            if seat in self._stakers:
                self.by_account[self._stakers[seat]] += back - paid
            if seat in self._holders:
                self.by_account[self._holders[seat]] += share
            won.append(share + back - paid)
        self.lost_to_house += asked["forfeit_coins"] + asked["rounding_coins"]
        self.units.append(RoundCoins(self._round, tuple(won)))
