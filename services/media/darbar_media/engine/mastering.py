"""Makes every note equally loud and writes it in two forms. Open this when one is too quiet, or does not play.

Loudness is measured as broadcasters do (EBU R 128, ITU-R BS.1770).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO

import av
from av.filter import Graph

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_media.engine.decoding import RATE_HERTZ, SAMPLE_BYTES

LOUDNESS_LUFS = -18.0
# Below that there is nothing to hear but the room.
SILENCE_LUFS = -50.0
# What the limiter takes away is added again, this often.
ROUNDS_MAX = 3
TOLERANCE_LU = 0.5
# A block of the measurement is 0.4 s; shorter notes are measured as if they went on.
MEASURED_SAMPLES_MIN = RATE_HERTZ
LIMIT = "0.85"
OPUS_BITS_A_SECOND = 28_000
AAC_BITS_A_SECOND = 56_000
# Room for the index at the front of an MP4, so that it plays before all of it is there: seven seconds need a third.
INDEX_BYTES = 6_144


def mastered(sound: bytes) -> bytes:
    """The same sound, LOUDNESS_LUFS loud and with no peak above the limit. Raises Refused note_silent."""
    loudness = loudness_of(sound)
    if loudness < SILENCE_LUFS:
        raise Refused(Reason.NOTE_SILENT)
    gain, made = LOUDNESS_LUFS - loudness, b""
    for _ in range(ROUNDS_MAX):
        made = _limited(sound, gain)
        missing = LOUDNESS_LUFS - loudness_of(made)
        if missing < TOLERANCE_LU:
            break
        gain += missing
    return made


def loudness_of(sound: bytes) -> float:
    """In LUFS; -70 is silence."""
    count = len(sound) // SAMPLE_BYTES
    repeated = sound * -(-MEASURED_SAMPLES_MIN // count)
    # Each block of it says what has been measured so far; a last one that is no whole block says nothing.
    measured = [frame.metadata.get("lavfi.r128.I") for frame in _filtered(repeated, ("ebur128", "metadata=1"))]
    return float([said for said in measured if said is not None][-1])


def opus(sound: bytes) -> bytes:
    """Ogg/Opus."""
    return _encoded(sound, container="ogg", codec="libopus", bits_a_second=OPUS_BITS_A_SECOND, options={})


def aac(sound: bytes) -> bytes:
    """MP4/AAC with its index at the front."""
    index = {"moov_size": str(INDEX_BYTES)}
    return _encoded(sound, container="mp4", codec="aac", bits_a_second=AAC_BITS_A_SECOND, options=index)


def _limited(sound: bytes, gain_decibels: float) -> bytes:
    filters = (
        ("volume", f"volume={gain_decibels:.3f}dB:precision=float"),
        ("alimiter", f"limit={LIMIT}:level=0:attack=5:release=50:latency=1"),
        ("aformat", "sample_fmts=flt"),
    )
    frames = _filtered(sound, *filters)
    return b"".join(bytes(frame.planes[0])[: frame.samples * SAMPLE_BYTES] for frame in frames)[: len(sound)]


def _filtered(sound: bytes, *filters: tuple[str, str]) -> Iterator[av.AudioFrame]:
    graph = Graph()
    source = graph.add_abuffer(format="flt", sample_rate=RATE_HERTZ, layout="mono", time_base=Fraction(1, RATE_HERTZ))
    nodes = [source, *(graph.add(name, settings) for name, settings in filters), graph.add("abuffersink")]
    graph.link_nodes(*nodes).configure()
    graph.push(_frame(sound))
    graph.push(None)
    while True:
        try:
            pulled = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        assert isinstance(pulled, av.AudioFrame)
        yield pulled


def _frame(sound: bytes) -> av.AudioFrame:
    frame = av.AudioFrame(format="flt", layout="mono", samples=len(sound) // SAMPLE_BYTES)
    frame.planes[0].update(sound)
    frame.sample_rate, frame.pts, frame.time_base = RATE_HERTZ, 0, Fraction(1, RATE_HERTZ)
    return frame


def _encoded(sound: bytes, *, container: str, codec: str, bits_a_second: int, options: dict[str, str]) -> bytes:
    file = BytesIO()
    with av.open(file, "w", format=container, options=options) as opened:
        stream = opened.add_stream(codec, rate=RATE_HERTZ, layout="mono", bit_rate=bits_a_second)
        assert isinstance(stream, av.AudioStream)
        context = stream.codec_context
        resampler = av.AudioResampler(format=context.format, layout="mono", rate=RATE_HERTZ)
        for part in (*resampler.resample(_frame(sound)), *resampler.resample(None)):
            opened.mux(stream.encode(part))
        opened.mux(stream.encode(None))
    return file.getvalue()
