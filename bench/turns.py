"""Windows in turns: their sums, and rows that hold one kind of window against another. Open this to add one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from statistics import median

from bench import stack
from bench.load import Window, compiled, drive
from bench.rows import Row, made


class Turns:
    """The windows of one kind, pooled. `processes` are those whose CPU a move costs."""

    def __init__(self, *processes: str, name: str = "") -> None:
        self.name = name or processes[0]
        self._processes = processes
        self.windows: list[Window] = []

    def add(self, window: Window) -> None:
        self.windows.append(window)
        figures = window.figures
        cores = ", ".join(f"{name} {share:.2f}" for name, share in window.cores.items() if share >= 0.005)
        print(
            f"{self.name}: {figures.moves / figures.seconds:,.0f} moves/s,"
            f" {figures.moves / self._cpu_seconds(window):,.0f} for a CPU-second,"
            f" p50 {figures.p50_ms:.1f} ms, p99 {figures.p99_ms:.1f} ms"
            f" | cores: {cores}, client {figures.client_core:.2f}",
            flush=True,
        )

    @property
    def moves(self) -> int:
        return sum(window.figures.moves for window in self.windows)

    @property
    def seconds(self) -> float:
        return sum(window.figures.seconds for window in self.windows)

    @property
    def moves_per_cpu_second(self) -> float:
        """Moves that everybody at the table has, for a second of CPU of the processes."""
        return self.moves / sum(map(self._cpu_seconds, self.windows))

    def core(self, process: str) -> float:
        """The share of a core over all windows."""
        return sum(window.cores.get(process, 0) * window.figures.seconds for window in self.windows) / self.seconds

    def mean(self, figure: str) -> float:
        """The mean over the windows of what the client says."""
        values: list[float] = [getattr(window.figures, figure) for window in self.windows]
        return sum(values) / len(values)

    def median(self, figure: str) -> float:
        """The middle of what the client says of each window: one that others have spoilt changes it little."""
        values: list[float] = [getattr(window.figures, figure) for window in self.windows]
        return median(values)

    def total(self, figure: str) -> int:
        return sum(getattr(window.figures, figure) for window in self.windows)

    def _cpu_seconds(self, window: Window) -> float:
        return sum(window.cores.get(process, 0) for process in self._processes) * window.figures.seconds


class Tables:
    """Some tables of a running Darbar, and the players who are driven at them."""

    def __init__(self, darbar: stack.Darbar, program: Path, table_ids: list[str]) -> None:
        self._darbar = darbar
        self._program = program
        self._table_ids = table_ids

    async def at_home(self) -> None:
        """Waits until processes that came or went have made no more tables move."""
        await self._darbar.at_home(self._table_ids)

    async def window(self, seconds: float, *, moves_a_second: float = 0.0) -> Window:
        """Played anew, in a closed loop or with so many moves a second; sockets go where the tables are now."""
        plan = self._program.with_name("plan")
        plan.write_text("".join(f"{line}\n" for line in await self._darbar.plan(self._table_ids)))
        return await drive(
            self._program,
            plan=plan,
            seconds=seconds,
            moves_a_second=moves_a_second,
            pids=self._darbar.pids,
        )


@asynccontextmanager
async def opened(count: int) -> AsyncIterator[tuple[stack.Darbar, Tables]]:
    """A Darbar of its own with so many tables to play at."""
    async with stack.servers() as servers, stack.darbar(servers) as darbar:
        yield darbar, Tables(darbar, compiled(servers.folder), await darbar.open_tables(count))


Company = Callable[[int], AbstractAsyncContextManager[None]]


async def in_company(window: Callable[[], Awaitable[Window]], company: Company, turns: int) -> tuple[Turns, Turns]:
    """Windows without somebody else's work and with it, in turns."""
    quiet, busy = Turns("table", name="quiet"), Turns("table", name="busy")
    for turn in range(turns):
        quiet.add(await window())
        async with company(turn):
            busy.add(await window())
    return quiet, busy


def slowest_moves(name: str, unit: str, *, quiet: Turns, busy: Turns, **beside: float) -> Row:
    """The p99 of moves beside somebody else's work, held against the same without it: the middle one of the windows."""
    return made(
        name,
        f"ms, p99 of a move {unit}",
        value=busy.median("p99_ms"),
        reference="without them",
        reference_value=quiet.median("p99_ms"),
        beside={
            "p50_ms": busy.median("p50_ms"),
            "quiet_p50_ms": quiet.median("p50_ms"),
            "moves": busy.moves,
            "quiet_moves": quiet.moves,
            **beside,
            **faults(quiet, busy),
        },
    )


def faults(*turns: Turns) -> dict[str, float]:
    """What makes windows void."""
    return {figure: float(sum(each.total(figure) for each in turns)) for figure in ("refused", "closed")}
