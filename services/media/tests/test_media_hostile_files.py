"""Files that mean harm: cut off, changed, mixed, blown up. Each gets an answer in time, and the next good one too."""

from __future__ import annotations

import os
import random
import resource
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from recordings import KINDS, SEED, recorded, recording, voice, with_picture

from darbar_kit.errors import Refused
from darbar_kit.offload import Offload
from darbar_media.engine.pipeline import Pipeline
from darbar_media.engine.work import MEMORY_BYTES_MAX, NoteSound, limited_work
from darbar_media.metrics import Metrics

FILES_MIN = 300
CUTS, FLIPS, MIXES, NOISES = 15, 20, 8, 18
STARTS = (b"\x1aE\xdf\xa3", b"OggS", b"\x00\x00\x00\x20ftypisom")
GOOD = [recording(0.15, kind) for kind in KINDS]


def cut(chance: random.Random) -> Iterator[bytes]:
    for file in GOOD:
        yield from (file[: chance.randrange(len(file))] for _ in range(CUTS))


def flipped(chance: random.Random) -> Iterator[bytes]:
    for file in GOOD:
        for flips in (1 + number // 3 for number in range(FLIPS)):
            changed = bytearray(file)
            for _ in range(flips):
                changed[chance.randrange(len(file))] ^= 1 << chance.randrange(8)
            yield bytes(changed)


def mixed(chance: random.Random) -> Iterator[bytes]:
    """Parts of one in another, parts of one again and again, and polyglots: two whole files in one."""
    for file in GOOD:
        for _ in range(MIXES):
            other, at = chance.choice(GOOD), chance.randrange(8, len(file))
            yield file[:at] + other[chance.randrange(len(other)) :] + file[at:]
            yield file[:at] + file[at // 2 : at] * chance.randrange(1, 50) + file[at:]
    yield from (first + second for first in GOOD for second in GOOD if first is not second)


def noise(chance: random.Random) -> Iterator[bytes]:
    for start in STARTS:
        yield from (start + chance.randbytes(chance.randrange(4096)) for _ in range(NOISES))


def blown_up() -> Iterator[bytes]:
    """A minute of almost nothing, and sizes that are not there."""
    yield from (recorded(voice(60.0, loudest=0.0), kind) for kind in KINDS)
    for file in GOOD:
        for size in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x01\xff\xff\xff\xff\xff\xff\xff"):
            yield from (file[:at] + size + file[at + len(size) :] for at in (4, 16, 40, 64))
    yield with_picture()
    yield with_picture() + GOOD[0]


def hostile() -> list[bytes]:
    chance = random.Random(SEED)
    return [*cut(chance), *flipped(chance), *mixed(chance), *noise(chance), *blown_up()]


async def test_no_hostile_file_crashes_hangs_or_spoils_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    pipeline, outcomes = Pipeline(Metrics(), processes=1), Counter[str]()
    await pipeline.run(GOOD[0])
    files = hostile()
    assert len(files) >= FILES_MIN
    slowest = 0.0
    for file in files:
        began = time.monotonic()
        try:
            await pipeline.run(file)
        except Refused as refused:
            outcomes[refused.code] += 1
        else:
            outcomes["taken"] += 1
        slowest = max(slowest, time.monotonic() - began)
    assert (await pipeline.run(GOOD[0])).milliseconds == 150
    assert outcomes["note_unreadable"] > FILES_MIN / 3
    with capsys.disabled():
        print(f"\n  {len(files)} hostile files, the slowest {slowest:.2f} s: {dict(outcomes)}")  # noqa: T201


async def test_no_file_is_read_that_a_recording_names(tmp_path: Path) -> None:
    """A reader of the pipe would wait for a writer for ever, or be found by one."""
    pipe = tmp_path / "secret"
    os.mkfifo(pipe)
    mp4 = recording(0.3, "mp4")
    at = mp4.index(b"url \x00\x00\x00\x01")
    named = f"file:{pipe}".encode() + b"\x00"
    # "In this same file" becomes "at this address", and every box around it has grown.
    changed = bytearray(mp4[: at + 4] + b"\x00\x00\x00\x00" + named + mp4[at + 8 :])
    for box in (b"url ", b"dref", b"dinf", b"minf", b"mdia", b"trak", b"moov"):
        size_at = changed.index(box) - 4
        size = int.from_bytes(changed[size_at : size_at + 4], "big") + len(named)
        changed[size_at : size_at + 4] = size.to_bytes(4, "big")
    playlist = f"#EXTM3U\n#EXTINF:1,\nfile:{pipe}\n".encode()
    for file in (bytes(changed), playlist, GOOD[1] + playlist):
        # Whoever waits for the pipe is ended by the pipeline, which says so with Unavailable.
        with suppress(Refused):
            await Pipeline(Metrics(), processes=1).run(file)
    with pytest.raises(OSError, match="No such device"):
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)


async def test_a_process_that_decodes_has_a_limit_of_memory() -> None:
    offload = Offload(running_max=1, waiting_max=0, seconds_max=20)
    assert isinstance(await offload.run(limited_work, GOOD[0]), NoteSound)
    assert await offload.run(resource.getrlimit, resource.RLIMIT_AS) == (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX)
