"""Recordings as browsers make them, made here: a voice-like sound in each container. Open this to need another one."""

from __future__ import annotations

import math
import random
import subprocess
from array import array
from fractions import Fraction
from functools import cache
from io import BytesIO
from typing import Literal

import av
import imageio_ffmpeg

Kind = Literal["webm", "ogg", "mp4", "fragmented mp4"]
KINDS: tuple[Kind, ...] = ("webm", "ogg", "mp4", "fragmented mp4")
FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
SEED = 20261130


def voice(seconds: float, *, rate: int = 48_000, channels: int = 1, loudest: float = 0.3) -> array[float]:
    """Syllables: a tone with two overtones and some breath, four times a second; `loudest` above 1 is clipped."""
    second = _one_second(rate, channels, loudest)
    return (second * math.ceil(seconds))[: round(seconds * rate) * channels]


@cache
def _one_second(rate: int, channels: int, loudest: float) -> array[float]:
    """What comes after it goes on without a click: every tone is whole."""
    chance = random.Random(SEED)
    sound = array("f")
    for number in range(rate):
        at = number / rate
        tone = sum(math.sin(2 * math.pi * 180 * over * at) / over for over in (1, 2, 3)) / 1.8
        syllable = 0.15 + 0.85 * abs(math.sin(math.pi * 2 * at))
        value = max(-1.0, min(1.0, loudest * syllable * (tone + 0.05 * chance.uniform(-1, 1))))
        sound.extend([value] * channels)
    return sound


def recorded(sound: array[float], kind: Kind, *, rate: int = 48_000, channels: int = 1) -> bytes:
    """A file of this kind: WebM and Ogg with Opus, MP4 with AAC."""
    file, layout = BytesIO(), "mono" if channels == 1 else "stereo"
    options = FRAGMENTED if kind == "fragmented mp4" else {}
    with av.open(file, "w", format="mp4" if "mp4" in kind else kind, options=options) as opened:
        stream = opened.add_stream("aac" if "mp4" in kind else "libopus", rate=rate, layout=layout, bit_rate=32_000)
        assert isinstance(stream, av.AudioStream)
        frame = av.AudioFrame(format="flt", layout=layout, samples=len(sound) // channels)
        frame.planes[0].update(sound.tobytes())
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        resampler = av.AudioResampler(format=stream.codec_context.format, layout=layout, rate=rate)
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            opened.mux(stream.encode(part))
        opened.mux(stream.encode(None))
    return file.getvalue()


@cache
def recording(seconds: float, kind: Kind, *, rate: int = 48_000, channels: int = 1, loudest: float = 0.3) -> bytes:
    """The same one whenever it is asked for."""
    return recorded(voice(seconds, rate=rate, channels=channels, loudest=loudest), kind, rate=rate, channels=channels)


def with_picture() -> bytes:
    """A video in WebM."""
    file = BytesIO()
    with av.open(file, "w", format="webm") as opened:
        stream = opened.add_stream("vp8", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for _ in range(10):
            opened.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        opened.mux(stream.encode(None))
    return file.getvalue()


def heard_by_ffmpeg(note: bytes) -> tuple[int, int, float]:
    """What a decoder of its own hears: samples at 48,000 a second, channels, loudness in LUFS.

    Loudness is of the note again and again, as a short one has no whole block to measure.
    """
    measured = "[0:a]asplit[whole][again];[again]aloop=loop=-1:size=48000,atrim=duration=8,ebur128=framelog=quiet[loud]"
    outputs = ("-map", "[whole]", "-f", "s16le", "-ar", "48000", "pipe:1", "-map", "[loud]", "-f", "null", "-")
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-nostdin", "-i", "pipe:0"]
    done = subprocess.run(
        [*command, "-filter_complex", measured, *outputs], input=note, capture_output=True, check=True, timeout=30
    )
    said = done.stderr.decode()
    stream = next(line for line in said.splitlines() if "Audio:" in line)
    loudness = [line for line in said.splitlines() if line.strip().startswith("I:")][-1]
    channels = 1 if "mono" in stream else 2
    return len(done.stdout) // 2 // channels, channels, float(loudness.split()[1])
