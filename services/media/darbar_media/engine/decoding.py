"""What a recording is, and the sound in it: 48,000 numbers a second, one channel. Open this when a good one is refused.

Everything here reads bytes from strangers. It runs in a process of its own, with limits: see work.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import av
import msgspec
from av.container import InputContainer

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused

RATE_HERTZ = 48_000
SAMPLES_MAX = 7 * RATE_HERTZ
# What an encoder of MP4 puts before and after the sound is counted with it: it is cut off again (TL-48).
SAMPLES_PADDED = RATE_HERTZ // 10
SAMPLES_MIN = RATE_HERTZ // 20
CHANNELS_MAX = 2
RATE_HERTZ_MAX = 96_000
# Seven seconds in the smallest frames that Opus has are 2,800.
PACKETS_MAX = 4_000
SAMPLE_BYTES = 4
CODECS = frozenset(("opus", "aac"))


class Container(msgspec.Struct, frozen=True):
    """A kind of file. `demuxer`: the one that reads it, and no other is tried, whatever the bytes say further on."""

    demuxer: str
    samples_max: int


WEBM = Container("matroska", SAMPLES_MAX)
OGG = Container("ogg", SAMPLES_MAX)
MP4 = Container("mov", SAMPLES_MAX + SAMPLES_PADDED)


def container_of(recording: bytes) -> Container:
    """By its first bytes; what a header said does not count. Raises Refused note_type_unknown."""
    if recording.startswith(b"\x1aE\xdf\xa3"):
        return WEBM
    if recording.startswith(b"OggS"):
        return OGG
    if recording[4:8] == b"ftyp":
        return MP4
    raise Refused(Reason.NOTE_TYPE_UNKNOWN)


def decoded(recording: bytes) -> bytes:
    """Its sound as 32-bit floats in the machine's order. Raises Refused, and whatever a decoder makes of bad bytes."""
    container = container_of(recording)
    with av.open(BytesIO(recording), format=container.demuxer, metadata_errors="replace") as opened:
        assert isinstance(opened, InputContainer)
        stream = _only_stream(opened)
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE_HERTZ)
        sound = bytearray()
        for frame in _frames(opened, stream):
            for part in resampler.resample(frame):
                sound += bytes(part.planes[0])[: part.samples * SAMPLE_BYTES]
            if len(sound) > container.samples_max * SAMPLE_BYTES:
                raise Refused(Reason.NOTE_TOO_LONG)
    if len(sound) < SAMPLES_MIN * SAMPLE_BYTES:
        raise Refused(Reason.NOTE_SILENT)
    return bytes(sound[: SAMPLES_MAX * SAMPLE_BYTES])


def _only_stream(opened: InputContainer) -> av.AudioStream:
    """Raises Refused for anything beside one stream of sound in a codec that browsers record with."""
    streams = list(opened.streams)
    if len(streams) != 1 or not isinstance(streams[0], av.AudioStream):
        raise Refused(Reason.NOTE_TYPE_UNKNOWN, details={"problem": "streams"})
    context = streams[0].codec_context
    if context.name not in CODECS:
        raise Refused(Reason.NOTE_TYPE_UNKNOWN, details={"problem": "codec"})
    if not (1 <= context.channels <= CHANNELS_MAX and 1 <= context.sample_rate <= RATE_HERTZ_MAX):
        raise Refused(Reason.NOTE_UNREADABLE)
    context.thread_count = 1
    return streams[0]


def _frames(opened: InputContainer, stream: av.AudioStream) -> Iterator[av.AudioFrame | None]:
    """Decoded one after the other; None at the end, for what a resampler holds back."""
    for count, packet in enumerate(opened.demux(stream)):
        if count >= PACKETS_MAX:
            raise Refused(Reason.NOTE_UNREADABLE)
        for frame in packet.decode():
            if len(frame.layout.channels) > CHANNELS_MAX:
                raise Refused(Reason.NOTE_UNREADABLE)
            yield frame
    yield None
