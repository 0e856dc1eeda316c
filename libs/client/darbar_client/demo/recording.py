"""A recording as a browser's: three rising tones in WebM/Opus. Open this to say something else."""

from __future__ import annotations

import math
from array import array
from fractions import Fraction
from io import BytesIO

import av

RATE_HERTZ = 48_000
SECONDS = 2
TONES_HERTZ = (440, 554, 659)
LOUDEST = 0.3
MEDIA_TYPE = "audio/webm"


def recording() -> bytes:
    """Of MEDIA_TYPE."""
    count = SECONDS * RATE_HERTZ
    tones = [TONES_HERTZ[number * len(TONES_HERTZ) // count] for number in range(count)]
    return encoded(
        array("f", (LOUDEST * math.sin(2 * math.pi * tone * at / RATE_HERTZ) for at, tone in enumerate(tones)))
    )


def encoded(
    sound: array[float], *, container: str = "webm", codec: str = "libopus", options: dict[str, str] | None = None
) -> bytes:
    """These samples, at RATE_HERTZ, in a file as a browser makes it; `options` are the container's."""
    frame = av.AudioFrame(format="flt", layout="mono", samples=len(sound))
    frame.planes[0].update(sound.tobytes())
    frame.sample_rate, frame.pts, frame.time_base = RATE_HERTZ, 0, Fraction(1, RATE_HERTZ)
    file = BytesIO()
    with av.open(file, "w", format=container, options=options or {}) as opened:
        stream = opened.add_stream(codec, rate=RATE_HERTZ, layout="mono", bit_rate=32_000)
        assert isinstance(stream, av.AudioStream)
        resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=RATE_HERTZ)
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            opened.mux(stream.encode(part))
        opened.mux(stream.encode(None))
    return file.getvalue()
