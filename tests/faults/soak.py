"""Plays thousands of tables for many minutes and says whether anything grew or stood still: `make faults MINUTES=15`.

Nothing is hurt. Ends with 1 when the memory of a process of Darbar grew, a table was stuck, or a move was lost.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped,unused-ignore]
from crowd import SETTINGS, TURN_SECONDS, Crowd, crowd_at, people_allowed, spread
from fault_stack import fault_stack, lasts

from darbar_kit.testing import eventually
from darbar_table.shards.placement import SHARDS

SAMPLE_SECONDS = 5.0
TELL_SECONDS = 60.0
# All begin together, so that their first rounds end together: more frames wait at once than ever again.
FIRST_ROUND_SECONDS_MAX = 1800.0
# Caches fill and pools open in the first third; then nothing may grow by more than this until the end.
WARM_SHARE = 1 / 3
GROWTH_SHARE_MAX = 0.03
GROWTH_MEBIBYTES_MIN = 4.0
SAMPLES_MIN = 12
STUCK_SECONDS = TURN_SECONDS + 10.0
MEBIBYTE = 1024 * 1024
EVENTS = "table_events_total"


class Memory:
    """What each process of Darbar holds, over time."""

    def __init__(self) -> None:
        self.samples: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)

    def note(self, processes: Mapping[str, psutil.Process], at: float) -> None:
        for name, process in processes.items():
            self.samples[name].append((at, process.memory_info().rss / MEBIBYTE))

    def told(self) -> list[str]:
        """Prints a line for each; the names of those that grew."""
        grown = []
        print(f"{'process':12} {'MiB at first':>12} {'warm':>7} {'at last':>8} {'growth':>8}")
        for name, samples in sorted(self.samples.items()):
            warm = samples[int(len(samples) * WARM_SHARE) :]
            growth = grown_mebibytes(warm)
            is_flat = is_flat_in(warm)
            grown += [] if is_flat else [name]
            sizes = f"{samples[0][1]:12.1f} {warm[0][1]:7.1f} {samples[-1][1]:8.1f} {growth:+8.1f}"
            print(f"{name:12} {sizes} {'' if is_flat else 'NOT flat'}")
        return grown


def grown_mebibytes(samples: Sequence[tuple[float, float]]) -> float:
    """By the line that fits the samples best, from the first to the last."""
    slope, _ = statistics.linear_regression(*zip(*samples, strict=True))
    return slope * (samples[-1][0] - samples[0][0])


def is_flat_in(samples: Sequence[tuple[float, float]]) -> bool:
    """Whether a process grew by no more than may be between two looks at a heap; too few samples show nothing."""
    size = statistics.fmean(mebibytes for _, mebibytes in samples)
    allowed = max(GROWTH_SHARE_MAX * size, GROWTH_MEBIBYTES_MIN)
    return len(samples) >= SAMPLES_MIN and grown_mebibytes(samples) <= allowed


class Watch:
    """When something last happened at each table, as its first player was told."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._last: dict[str, tuple[int, float]] = {}
        self.stuck: set[str] = set()

    def look(self) -> None:
        """A decision is due and nothing has come of it within a turn and ten seconds: the table is stuck."""
        now = time.monotonic()
        for [first, *_] in self._crowd.tables:
            table = first.table
            version, since = self._last.get(table.table_id, (0, now))
            if table.version != version or table.now.phase != "playing":
                self._last[table.table_id] = (table.version, now)
            elif now - since > STUCK_SECONDS and table.table_id not in self.stuck:
                self.stuck.add(table.table_id)
                print(f"stuck: {table.table_id} at {version}", flush=True)


async def soak(folder: Path, tables: int, *, seconds: float) -> int:
    """Prints what was seen; 1 when it was not flat, or a table was stuck, or a move lost."""
    people = people_allowed(tables)
    memory = Memory()
    async with fault_stack(folder, "--processes", "--tables", "2", **SETTINGS) as stack:
        assert stack.run is not None
        processes = {"gateway": psutil.Process(stack.run.pid), **stack.run.children()}
        async with crowd_at(stack, tables=tables, people=people, shards=range(SHARDS)) as crowd:
            await _first_round_is_over(crowd)
            watch, before = Watch(crowd), await stack.metric(EVENTS)
            began = time.monotonic()
            await _watched(seconds, crowd, watch, memory, processes)
            events = await stack.metric(EVENTS) - before
            decided = crowd.decisions.since(began)
            print(f"{events:.0f} events in {seconds:.0f} s, {events / seconds:.0f} a second")
            print(f"{len(decided)} decisions acknowledged {spread(decided)}; {crowd.result.games_ended} games ended")
            compared = await crowd.compared(stack)
        grown = memory.told()
    is_good = not grown and not watch.stuck and not compared.wrong and bool(decided)
    print(f"{len(grown)} processes grew, {len(watch.stuck)} tables were stuck, {len(compared.wrong)} things wrong")
    print("met: flat, nothing stuck" if is_good else "NOT met", flush=True)
    return 0 if is_good else 1


async def _first_round_is_over(crowd: Crowd) -> None:
    began = time.monotonic()
    firsts = [first for [first, *_] in crowd.tables]
    await eventually(
        lambda: all(first.table.round > 1 or first.failure is not None for first in firsts),
        seconds=FIRST_ROUND_SECONDS_MAX,
    )
    print(f"first rounds are over after {time.monotonic() - began:.0f} s", flush=True)


async def _watched(
    seconds: float, crowd: Crowd, watch: Watch, memory: Memory, processes: Mapping[str, psutil.Process]
) -> None:
    began = told = time.monotonic()
    while (now := time.monotonic()) < began + seconds:
        memory.note(processes, now - began)
        watch.look()
        if now - told >= TELL_SECONDS:
            sizes = ", ".join(f"{name} {samples[-1][1]:.0f}" for name, samples in sorted(memory.samples.items()))
            print(f"{now - began:5.0f} s  MiB: {sizes}", flush=True)
            decided = crowd.decisions.since(told)
            print(f"         {len(decided)} decisions of this minute acknowledged {spread(decided)}", flush=True)
            told = now
        await lasts(SAMPLE_SECONDS)
