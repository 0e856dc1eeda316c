"""What a voice note costs, and what twenty at once cost the moves of others. Open this about the voice rows.

    python -m bench.voice_bench [--notes 60] [--seconds 8] [--turns 3] [--tables 20]

Notes are of seven seconds, as browsers record them. The first row is processor time from the last byte of a recording
to both forms; the second plays in a closed loop at other tables while twenty notes are in work, all the time.
"""

from __future__ import annotations

import argparse
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
import msgspec
import uvloop
from bench import stack
from bench.load import Window, compiled, drive
from bench.rows import Row, made
from bench.serving_bench import WARM_SECONDS, Turns

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
    quiet, spoken, done = Turns("table"), Turns("table"), list[int]()
    pipeline = Pipeline(Metrics(), processes=1)
    await pipeline.run(file)
    async with stack.servers() as servers, stack.darbar(servers) as darbar:
        program, plan = compiled(servers.folder), servers.folder / "plan"
        plan.write_text("".join(f"{line}\n" for line in await darbar.open_tables(tables)))

        async def window() -> Window:
            return await drive(
                program, port=darbar.port, plan=plan, warm_seconds=WARM_SECONDS, seconds=seconds, pids=darbar.pids
            )

        for _ in range(turns):
            quiet.add(await window())
            async with working(pipeline, file, done):
                spoken.add(await window())
    return made(
        "voice_moves",
        "ms, p99 of a move while 20 voice notes are in work",
        value=spoken.mean("p99_ms"),
        reference="without them",
        reference_value=quiet.mean("p99_ms"),
        beside={
            "p50_ms": spoken.mean("p50_ms"),
            "quiet_p50_ms": quiet.mean("p50_ms"),
            "moves": spoken.moves,
            "quiet_moves": quiet.moves,
            "notes": len(done),
            "refused": quiet.total("refused") + spoken.total("refused"),
            "closed": quiet.total("closed") + spoken.total("closed"),
        },
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each window")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--tables", type=int, default=20)
    options = parser.parse_args()
    files = [recorded(*kind) for kind in KINDS]
    rows = [pipeline_row(files, options.notes)]
    print(msgspec.json.encode(rows[0]).decode(), flush=True)
    rows.append(uvloop.run(moves_row(files[0], tables=options.tables, turns=options.turns, seconds=options.seconds)))
    print(msgspec.json.encode(rows[1]).decode())
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
