"""What becomes of a recording: accepted as ruled, made equally loud, in two forms; heard by a decoder of its own."""

from __future__ import annotations

from itertools import product

import pytest
from recordings import KINDS, Kind, heard_by_ffmpeg, recorded, recording, voice, with_picture

from darbar_contracts.refusals import Reason
from darbar_media.engine.decoding import RATE_HERTZ
from darbar_media.engine.mastering import LOUDNESS_LUFS
from darbar_media.engine.work import NoteRefused, NoteSound, work

SEVEN_SECONDS = 7 * RATE_HERTZ
LOUDNESS_TOLERANCE_LU = 2.0


def made_of(file: bytes) -> NoteSound:
    made = work(file)
    assert isinstance(made, NoteSound), made
    return made


def refused_with(file: bytes) -> str:
    made = work(file)
    assert isinstance(made, NoteRefused)
    return made.code


def assert_good(made: NoteSound) -> None:
    for form in (made.ogg, made.m4a):
        samples, channels, loudness = heard_by_ffmpeg(form)
        assert 0 < samples <= SEVEN_SECONDS
        assert channels == 1
        assert abs(loudness - LOUDNESS_LUFS) <= LOUDNESS_TOLERANCE_LU
    # An MP4 that has its index at the front plays before all of it is there.
    assert made.m4a.index(b"moov") < made.m4a.index(b"mdat")


@pytest.mark.ruling("TL-48")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("seconds", "rate", "channels"),
    [
        *((seconds, *sound) for seconds in (0.2, 6.98, 7.0, 7.02, 7.2) for sound in product((48_000, 16_000), (1, 2))),
        (60.0, 48_000, 1),
        (60.0, 16_000, 2),
    ],
)
def test_seven_seconds_are_taken_and_no_more_tl_48(kind: Kind, seconds: float, rate: int, channels: int) -> None:
    file = recording(seconds, kind, rate=rate, channels=channels)
    # What an encoder of MP4 adds is counted with its sound, as anybody who decodes it hears.
    counted = max(seconds, heard_by_ffmpeg(file)[0] / RATE_HERTZ) if "mp4" in kind else seconds
    if counted > (7.1 if "mp4" in kind else 7.0):
        assert refused_with(file) == Reason.NOTE_TOO_LONG
        return
    made = made_of(file)
    assert min(7.0, seconds) * 1000 <= made.milliseconds <= min(7000, seconds * 1000 + 130)
    assert_good(made)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loudest", [0.02, 8.0])
def test_a_whisper_and_a_clipped_shout_are_equally_loud(kind: Kind, loudest: float) -> None:
    assert_good(made_of(recording(2.0, kind, loudest=loudest)))


@pytest.mark.parametrize("kind", KINDS)
def test_silence_is_no_note(kind: Kind) -> None:
    assert refused_with(recorded(voice(2.0, loudest=0.0), kind)) == Reason.NOTE_SILENT


@pytest.mark.parametrize(
    ("file", "code"),
    [
        (b"", Reason.NOTE_TYPE_UNKNOWN),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", Reason.NOTE_TYPE_UNKNOWN),
        (b"#EXTM3U\nfile:///etc/passwd\n", Reason.NOTE_TYPE_UNKNOWN),
        (b"OggS" + bytes(500), Reason.NOTE_UNREADABLE),
        (with_picture(), Reason.NOTE_TYPE_UNKNOWN),
    ],
    ids=["empty", "wave", "playlist", "zeros", "video"],
)
def test_what_is_no_recording_is_refused(file: bytes, code: Reason) -> None:
    assert refused_with(file) == code
