"""The rows of the bots' kernels and of the strong bots' decisions, plain and compiled. Open this when they are missing.

    python -m bench.kernels_bench

Two processes measure in turns, one of them with the compiled copy of the bots' package that
`libs/bots/compile_kernels.py` makes; each figure is the middle one of its turns. Where there is no compiler the
compiled rows say `not_compiled`. Decisions are made once, and the games' slowest policy counts.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import IO, Final, TypeVar

import msgspec
from bench.kernel_figures import Decisions, Figures
from bench.rows import TARGETS, Row, made
from bench.rules_row import spread

from darbar_kit.settings import environment

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDER: Final = ROOT / "build/kernels"
TURNS: Final = 3

ASKED: Final = {Figures: "kernels", Decisions: "decisions"}

Measured = TypeVar("Measured", Figures, Decisions)
# Of each kind of figure: what its rows are called, their unit, and which one it is.
KINDS: Final[tuple[tuple[str, str, Callable[[Figures], float]], ...]] = (
    ("playouts", "moves/s of rounds played by chance", lambda figures: figures.moves_a_second),
    ("worlds", "worlds/s drawn and played out, full deal", lambda figures: figures.worlds_a_second),
)


class Measuring:
    """A process that measures when asked."""

    def __init__(self, asked: IO[bytes], told: IO[bytes]) -> None:
        self._asked = asked
        self._told = told

    def measure(self, kind: type[Measured]) -> Measured:
        self._asked.write(f"{ASKED[kind]}\n".encode())
        self._asked.flush()
        return msgspec.json.decode(self._told.readline(), type=kind)


@contextmanager
def measuring(*folders: Path) -> Iterator[Measuring]:
    """A process that finds its modules in these folders first."""
    variables = {**environment(), "PYTHONPATH": ":".join(map(str, folders))}
    command = [sys.executable, "-m", "bench.kernel_figures"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdin=pipe, stdout=pipe) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        yield Measuring(running.stdin, running.stdout)
        running.stdin.close()


def compiled() -> bool:
    """Whether the compiled copy is there, now that it has been made anew."""
    program = ROOT / "libs/bots/compile_kernels.py"
    return subprocess.run([sys.executable, str(program), str(FOLDER)], check=False).returncode == 0


def measured() -> tuple[list[Figures], list[Figures], list[Decisions]]:
    """Of the plain kernels and of the compiled ones, turn by turn, none of these where they can't be compiled; then
    the decisions of both."""
    if not compiled():
        with measuring() as plain:
            return [plain.measure(Figures) for _ in range(TURNS)], [], [plain.measure(Decisions)]
    with measuring() as plain, measuring(FOLDER) as quick:
        pairs = [(plain.measure(Figures), quick.measure(Figures)) for _ in range(TURNS)]
        decisions = [plain.measure(Decisions), quick.measure(Decisions)]
    both = [figures for pair in pairs for figures in pair]
    if len({figures.result for figures in both}) != 1:
        raise AssertionError("the compiled kernels come to something else than the plain ones")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs if pair[1].compiled], decisions


def rows_of(plain: list[Figures], quick: list[Figures]) -> Iterator[Row]:
    for what, unit, of in KINDS:
        slow, fast = list(map(of, plain)), list(map(of, quick))
        beside = {"turns": float(TURNS), "compiled": float(len(fast))}
        value = median(fast) if fast else 0.0
        yield made(
            f"{what}_compiled",
            unit,
            value=value,
            reference="plain Python",
            reference_value=median(slow),
            beside=beside | spread("", fast) | spread("reference_", slow),
        )
        if f"{what}_plain" in TARGETS:
            yield made(
                f"{what}_plain",
                f"{unit}, plain Python",
                value=median(slow),
                reference="compiled" if fast else "",
                reference_value=value,
                beside={"turns": float(TURNS)} | spread("", slow),
            )


def decision_rows(decisions: Sequence[Decisions]) -> Iterator[Row]:
    for is_compiled, name in ((True, "strong_decision_compiled"), (False, "strong_decision_plain")):
        spent = next((each.spent for each in decisions if each.compiled == is_compiled), {})
        beside = {
            f"{table}_{part}": float(figure)
            for table in spent
            for part, figure in msgspec.structs.asdict(spent[table]).items()
        }
        if is_compiled:
            beside["compiled"] = float(bool(spent))
        yield made(
            name,
            f"ms of the CPU for a decision of the strong level{'' if is_compiled else ', plain Python'}, p95",
            value=max((each.p95 for each in spent.values()), default=0.0),
            reference="",
            reference_value=0.0,
            beside=beside,
        )


def main() -> int:
    plain, quick, decisions = measured()
    found = [*rows_of(plain, quick), *decision_rows(decisions)]
    for row in found:
        print(msgspec.json.encode(row).decode())
    return 0 if all(row.met for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
