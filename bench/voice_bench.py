"""What a voice note costs, and what twenty at once cost the moves of others. Open this about the voice rows.

    python -m bench.voice_bench [--notes 60] [--seconds 4] [--turns 5] [--tables 20]

Notes are of seven seconds, as browsers record them. The first row is processor time from the last byte of a recording
to both forms; the second plays in a closed loop at other tables while twenty notes are in work, all the time.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import quantiles

from bench.program import main
from bench.rows import Row, made
from bench.turns import in_company, opened, slowest_moves

from darbar_client.demo.recording import RATE_HERTZ, encoded
from darbar_media.engine.pipeline import Pipeline
from darbar_media.engine.work import NoteSound, work
from darbar_media.metrics import Metrics

SECONDS = 7
AT_ONCE = 20
KINDS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("webm", "libopus", {}),
    ("mp4", "aac", {}),
    ("mp4", "aac", {"movflags": "frag_keyframe+empty_moov"}),
)


def recorded(container: str, codec: str, options: dict[str, str]) -> bytes:
    """Syllables for seven seconds."""
    count = SECONDS * RATE_HERTZ
    sound = array(
        "f",
        (0.3 * math.sin(880 * math.pi * at / RATE_HERTZ) * abs(math.sin(math.pi * at / 12_000)) for at in range(count)),
    )
    return encoded(sound, container=container, codec=codec, options=options)


def pipeline_row(files: list[bytes], notes: int) -> Row:
    """The slowest twentieth of the notes, in milliseconds of one processor."""
    spent = []
    for number in range(notes):
        began = time.process_time()
        made_of = work(files[number % len(files)])
        spent.append(1000 * (time.process_time() - began))
        assert isinstance(made_of, NoteSound), made_of
    ends = quantiles(spent, n=20)
    return made(
        "voice_pipeline",
        "ms of a processor for a note of seven seconds, p95",
        value=ends[-1],
        reference="",
        reference_value=0.0,
        beside={"p50_ms": ends[9], "notes": notes},
    )


@asynccontextmanager
async def working(pipeline: Pipeline, file: bytes, done: list[int]) -> AsyncIterator[None]:
    """Twenty notes in work, from the beginning of the block to its end."""

    async def again() -> None:
        while True:
            done.append((await pipeline.run(file)).milliseconds)

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(again()) for _ in range(AT_ONCE)]
        yield
        for task in running:
            task.cancel()


async def moves_row(file: bytes, *, tables: int, turns: int, seconds: float) -> Row:
    """Moves with twenty notes in work and without, in turns."""
    done = list[int]()
    pipeline = Pipeline(Metrics(), processes=1)
    await pipeline.run(file)
    async with opened(tables) as (_, played):
        quiet, busy = await in_company(lambda: played.window(seconds), lambda _: working(pipeline, file, done), turns)
    return slowest_moves("voice_moves", "while 20 voice notes are in work", quiet=quiet, busy=busy, notes=len(done))


async def bench(*, notes: int, tables: int, turns: int, seconds: float) -> list[Row]:
    """Both rows, one after the other."""
    files = [recorded(*kind) for kind in KINDS]
    pipeline = pipeline_row(files, notes)
    return [pipeline, await moves_row(files[0], tables=tables, turns=turns, seconds=seconds)]


if __name__ == "__main__":
    sys.exit(main(bench, __doc__, notes=60, seconds=4.0, turns=5, tables=20))
