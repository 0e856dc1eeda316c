"""The sums of docs/scaling.md are made of measured figures. Open this after measuring again."""

from __future__ import annotations

import re
from math import ceil

from tracked import ROOT

SECONDS_A_MOVE = 3
EVENTS_A_MOVE = 1.21
MOVES_A_ROUND = 53
REQUESTS_A_UNIT = 2
CORE_USED = 0.6
SERVER_USED = 0.5
SOCKETS_A_TABLE = 4
SOCKETS_A_PROCESS = 14_000
FIGURE = re.compile(r"\(row `(\w+)`\) \| ([\d,]+)")
MEASURED = re.compile(r"^\| (\w+) \| ([\d,]+)", re.MULTILINE)
SUM = re.compile(r"^\| (\d[\d,]*) \| (.+) \|$", re.MULTILINE)


def document() -> str:
    return (ROOT / "docs/scaling.md").read_text()


def figures(text: str, pattern: re.Pattern[str]) -> dict[str, int]:
    return {row: int(figure.replace(",", "")) for row, figure in pattern.findall(text)}


def sums(tables: int, measured: dict[str, int]) -> list[str]:
    moves = tables / SECONDS_A_MOVE
    events = moves * EVENTS_A_MOVE
    asked = moves / MOVES_A_ROUND * REQUESTS_A_UNIT
    return [
        f"{moves:,.0f}",
        f"{events:,.0f}",
        str(ceil(moves / (measured["serving"] * CORE_USED))),
        str(ceil(tables * SOCKETS_A_TABLE / SOCKETS_A_PROCESS)),
        str(ceil(events / (measured["append"] * SERVER_USED))),
        f"{asked / measured['wallet_transfers']:.0%}".replace("%", " %"),
    ]


def test_figures_are_the_last_ones_that_were_measured() -> None:
    used = figures(document(), FIGURE)
    measured = figures((ROOT / "bench/README.md").read_text(), MEASURED)

    assert len(used) == 4
    assert used == {row: measured[row] for row in used}


def test_sums_are_what_follows_from_the_figures() -> None:
    measured = figures(document(), FIGURE)
    rows = SUM.findall(document())

    assert [tables for tables, _ in rows] == ["1,000", "10,000", "100,000", "1,000,000"]
    for tables, cells in rows:
        assert cells.split(" | ") == sums(int(tables.replace(",", "")), measured)
