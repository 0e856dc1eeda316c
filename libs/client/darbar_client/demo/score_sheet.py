"""The score sheet and the ledgers as text. Open this to change what the demo prints at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from darbar_client.demo.checks import Ledger
from darbar_client.demo.coins import LoggedCoins
from darbar_client.proofs.log import rules_of, steps
from darbar_contracts.api import Replay
from darbar_rules.game import RoundResult

COLUMN = 10


class _GameEnded(msgspec.Struct, frozen=True):
    places: tuple[int, ...]
    totals: tuple[int, ...]


def score_sheet(replay: Replay, names: Sequence[str]) -> Iterator[str]:
    """A line a round: points of each seat, totals, and the coins that changed hands."""
    rules = rules_of(replay)
    coins = {unit.round: unit.won for unit in LoggedCoins(replay).units}
    yield _line("round", *names)
    for step in steps(replay):
        if step.kind == "seeds_shown":
            result = rules.result(step.state)
            if result is not None:
                won = coins.get(result.round)
                yield _line(str(result.round), *(_cell(result, seat, won) for seat in range(len(names))))
        elif step.kind == "game_ended":
            ended = step.body(_GameEnded)
            yield _line("places", *map(str, ended.places))
            yield _line("total", *map(str, ended.totals))


def ledger_lines(ledgers: Sequence[Ledger]) -> Iterator[str]:
    """A line a player: the balance, and what it is made of."""
    for ledger in ledgers:
        counts = Counter(entry.reason for entry in ledger.entries)
        sums: Counter[str] = Counter()
        for entry in ledger.entries:
            sums[entry.reason] += entry.coins
        parts = ", ".join(f"{reason} {sums[reason]:+} ({counts[reason]})" for reason in sorted(counts))
        yield f"  {ledger.name:<{COLUMN}} {ledger.balance_coins:>6} coins: {parts}"


def _cell(result: RoundResult, seat: int, won: tuple[int, ...] | None) -> str:
    coins = "" if won is None else f" {won[seat]:+}"
    return f"{result.points[seat]}{coins}"


def _line(first: str, *cells: str) -> str:
    return f"  {first:<8}" + "".join(f"{cell:>{COLUMN}}" for cell in cells)
