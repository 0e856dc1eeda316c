"""What a finished round moves between pot, seats and house. Open this when a payout looks wrong (CP-34, GEN-8)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from darbar_rules.game import RoundResult


@dataclass(frozen=True, slots=True)
class Shares:
    """The coins of a stake unit that has ended; all that was paid in is somewhere in here."""

    paid_again_coins: tuple[int, ...]  # by each seat, into the pot, before it is shared
    won_coins: tuple[int, ...]  # to each seat, its own stake included
    forfeit_coins: int  # what away winners would have had: the house's forfeit account
    rounding_coins: int  # what did not divide: the house's rounding account


def shares(result: RoundResult, *, bet_coins: int, away: Collection[int] = (), given_back_coins: int = 0) -> Shares:
    """Share the pot, to which every seat paid the bet, among the winners of a stake unit.

    `away` are the seats whose players were away when the round ended. They win nothing, and their share is nobody
    else's; unless the round ended the game, where everyone is paid alike. Losers pay whether away or not.
    `given_back_coins` leave the pot before it is shared: bets of players who gave up waiting (TL-37).
    """
    if not result.winners:
        raise ValueError("this round did not end a stake unit: nothing is shared")
    seats = range(len(result.totals))
    paid_again = tuple(bet_coins if result.losers_pay_again and seat not in result.winners else 0 for seat in seats)
    pot = bet_coins * len(seats) + sum(paid_again) - given_back_coins
    share, rounding = divmod(pot, len(result.winners))
    unpaid = () if result.game_over else tuple(seat for seat in result.winners if seat in away)
    return Shares(
        paid_again_coins=paid_again,
        won_coins=tuple(share if seat in result.winners and seat not in unpaid else 0 for seat in seats),
        forfeit_coins=share * len(unpaid),
        rounding_coins=rounding,
    )
