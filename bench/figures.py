"""What documents say of the last figures: README.md, bench/README.md, docs/scaling.md. Open this to change a table.

    python -m bench.figures [--write]

Prints the machine, the versions and the table of every row; with `--write` the three documents have them. What it
replaces there stands between two marks; in docs/scaling.md it is the figures and the sums.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from math import ceil
from pathlib import Path

from bench.machine import PEERS, described
from bench.rows import Row, read_results, short, target_of

ROOT = Path(__file__).resolve().parents[1]
MARKS = re.compile(r"(<!-- figures -->\n).*?(<!-- end of figures -->)", re.DOTALL)
HOW_TO_READ = (
    "Only ratios mean anything. The last column is how many of the cores everybody else used meanwhile: where it is",
    "more than a few hundredths, latencies and all that counts wall time are spoilt.",
)
# Of README.md, with what people who have never seen the others would call them.
SHORT = {
    "serving": "moves for a CPU-second of the table process: checked, stored, sent to four players",
    "serving_boardgame": "the same beside boardgame.io, which stores nothing",
    "serving_boardgame_postgres": "the same beside boardgame.io with PostgreSQL",
    "serving_colyseus": "the same beside a room of Colyseus, which stores nothing and has fewer rules",
    "latency_p50": "ms from sending a move to the last of four players, median at half of saturation",
    "serving_memory": "KiB for a table with four sockets",
    "append": "events a second stored by one PostgreSQL",
    "rebuild": "events a second read and replayed when tables are loaded",
    "wallet_transfers": "stakes and settlements a second",
    "rules_court_piece": "moves a second of the rules alone",
    "playouts_compiled": "cards a second that a searching bot can play out in its head",
}
SCALED = ("serving", "append", "serving_memory", "wallet_transfers")
FIGURE = re.compile(r"(\(row `(\w+)`\) \| )[\d,.]+")
SUM = re.compile(r"^\| (\d[\d,]*) \| .+ \|$", re.MULTILINE)
SECONDS_A_MOVE = 3
EVENTS_A_MOVE = 1.21
MOVES_A_ROUND = 53
REQUESTS_A_ROUND = 2
CORE_USED = 0.6
SERVER_USED = 0.5
SOCKETS_A_TABLE = 4
SOCKETS_A_PROCESS = 14_000
TABLES_A_PROCESS = SOCKETS_A_PROCESS // SOCKETS_A_TABLE
MEMORY = re.compile(rf"{TABLES_A_PROCESS:,} tables needs [\d,]+ MiB")


def whole(rows: list[Row]) -> str:
    """The machine and every row, as Markdown."""
    head = ["| row | value | reference | ratio | target | | others' cores |", "|---|---|---|---|---|---|---|"]
    return "\n".join([*_machines(rows), *HOW_TO_READ, "", *head, *map(_line, rows)])


def _machines(rows: list[Row]) -> list[str]:
    """What each row was measured on, said when it was measured; with the rows' names where machines differ."""
    measured: dict[str, list[str]] = {}
    for row in rows:
        measured.setdefault(row.machine or "a machine that was not noted.", []).append(row.row)
    if not measured:
        measured[described()] = []
    said = [machine if len(measured) == 1 else f"{', '.join(names)}: {machine}" for machine, names in measured.items()]
    return [*said, f"Beside them: {PEERS}."]


def _line(row: Row) -> str:
    reference = f"{short(row.reference_value)} {row.reference}" if row.reference_value else ""
    ratio = f"{row.ratio:.2f}" if row.reference_value else ""
    cells = (row.row, f"{short(row.value)} {row.unit}", reference, ratio, _target(row), _verdict(row))
    return f"| {' | '.join(cells)} | {row.others_cores:.2f} |"


def _target(row: Row) -> str:
    target = target_of(row)
    if target.target is None:
        return ""
    return f"{short(target.target)}{' at most' if target.better == 'less' else ''}"


def _verdict(row: Row) -> str:
    if target_of(row).target is None:
        return ", ".join(row.voids)
    return ", ".join(["met" if row.met else "not met", *row.voids])


def in_short(rows: list[Row]) -> str:
    """The machine and what README.md shows."""
    found = {row.row: row for row in rows}
    head = ["| what | Darbar | beside | ratio | target |", "|---|---|---|---|---|"]
    lines = []
    for name, what in SHORT.items():
        if (row := found.get(name)) is None:
            continue
        beside = f"{short(row.reference_value)} {row.reference}" if row.reference_value else ""
        ratio = f"{row.ratio:.2f}" if row.reference_value else ""
        held = ": ".join(filter(None, [_target(row), _verdict(row)]))
        lines.append(f"| {what} | {short(row.value)} | {beside} | {ratio} | {held} |")
    return "\n".join([*_machines(rows), "", *head, *lines])


def marked(document: str, text: str) -> str:
    """A document with this between its marks."""
    found, count = MARKS.subn(lambda marks: f"{marks[1]}\n{text}\n\n{marks[2]}", document)
    if count != 1:
        raise ValueError("a document has its two marks once")
    return found


def scaled(document: str, rows: list[Row]) -> str:
    """docs/scaling.md with these figures, and with the sums that follow from them."""
    found = {row.row: row for row in rows}
    values = {name: float(short(found[name].value).replace(",", "")) for name in SCALED}
    process = TABLES_A_PROCESS * values["serving_memory"] / 1024
    document = MEMORY.sub(f"{TABLES_A_PROCESS:,} tables needs {process:,.0f} MiB", document)
    document = FIGURE.sub(lambda figure: f"{figure[1]}{short(values[figure[2]])}", document)
    return SUM.sub(lambda line: f"| {line[1]} | {' | '.join(sums(int(line[1].replace(',', '')), values))} |", document)


def sums(tables: int, figures: dict[str, float]) -> list[str]:
    """Moves and events a second, processes by CPU and by sockets, PostgreSQL servers, the wallet's load."""
    moves = tables / SECONDS_A_MOVE
    events = moves * EVENTS_A_MOVE
    asked = moves / MOVES_A_ROUND * REQUESTS_A_ROUND
    return [
        f"{moves:,.0f}",
        f"{events:,.0f}",
        str(ceil(moves / (figures["serving"] * CORE_USED))),
        str(ceil(tables * SOCKETS_A_TABLE / SOCKETS_A_PROCESS)),
        str(ceil(events / (figures["append"] * SERVER_USED))),
        f"{asked / figures['wallet_transfers']:.0%}".replace("%", " %"),
    ]


def main() -> int:
    rows = read_results()
    print(whole(rows))
    if "--write" in sys.argv[1:]:
        if missing := set(SCALED) - {row.row for row in rows}:
            print(f"nothing is written: {', '.join(sorted(missing))} was not measured", file=sys.stderr)
            return 1
        _rewrite("README.md", lambda document: marked(document, in_short(rows)))
        _rewrite("bench/README.md", lambda document: marked(document, whole(rows)))
        _rewrite("docs/scaling.md", lambda document: scaled(document, rows))
    return 0


def _rewrite(name: str, change: Callable[[str], str]) -> None:
    path = ROOT / name
    path.write_text(change(path.read_text()))


if __name__ == "__main__":
    sys.exit(main())
