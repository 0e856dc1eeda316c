"""One recording from first to last, in a process that has nothing to lose. Open this about hostile files."""

from __future__ import annotations

import resource
import signal

import msgspec

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_media.engine import mastering
from darbar_media.engine.decoding import RATE_HERTZ, SAMPLE_BYTES, decoded

MEMORY_BYTES_MAX = 600 * 1024**2
# Of the processor, for one recording: ten times what the longest good one needs. The kernel ends who needs more.
PROCESSOR_SECONDS_MAX = 1.4


class NoteSound(msgspec.Struct, frozen=True):
    """A note as it is kept."""

    milliseconds: int
    ogg: bytes
    m4a: bytes


class NoteRefused(msgspec.Struct, frozen=True):
    """Why there is none."""

    code: str
    details: dict[str, object] = {}


def limited_work(recording: bytes) -> NoteSound | NoteRefused:
    """`work` where it may need no more than that: its process ends with what needs more, or crashes."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS_MAX)
    try:
        return work(recording)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def work(recording: bytes) -> NoteSound | NoteRefused:
    """What a recording comes to. A decoder that meets hostile bytes may raise anything."""
    try:
        sound = mastering.mastered(decoded(recording))
        milliseconds = len(sound) // SAMPLE_BYTES * 1000 // RATE_HERTZ
        return NoteSound(milliseconds, mastering.opus(sound), mastering.aac(sound))
    except Refused as refused:
        return NoteRefused(refused.code, refused.details)
    except Exception as error:  # noqa: BLE001  # The decoders have no list of what they raise.
        return NoteRefused(Reason.NOTE_UNREADABLE, {"problem": type(error).__name__})
