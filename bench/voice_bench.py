"""What a voice note costs, and what twenty at once cost the moves of others. Open this about the voice rows.

    python -m bench.voice_bench [--notes 60] [--seconds 8] [--turns 3] [--tables 20]

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
from fractions import Fraction
from io import BytesIO
from statistics import quantiles

import av
from bench.program import main
from bench.rows import Row, made
from bench.turns import in_company, opened, slowest_moves

from darbar_media.engine.pipeline import Pipeline
from darbar_media.engine.work import NoteSound, work
from darbar_media.metrics import Metrics

RATE_HERTZ = 48_000
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
    frame = av.AudioFrame(format="flt", layout="mono", samples=count)
    frame.planes[0].update(sound.tobytes())
    frame.sample_rate, frame.pts, frame.time_base = RATE_HERTZ, 0, Fraction(1, RATE_HERTZ)
    file = BytesIO()
    with av.open(file, "w", format=container, options=options) as opened:
        stream = opened.add_stream(codec, rate=RATE_HERTZ, layout="mono", bit_rate=32_000)
        assert isinstance(stream, av.AudioStream)
        resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=RATE_HERTZ)
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            opened.mux(stream.encode(part))
        opened.mux(stream.encode(None))
    return file.getvalue()


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
    sys.exit(main(bench, __doc__, notes=60, seconds=8.0, turns=3, tables=20))
