"""Frames come out as they went in, however the bytes arrive. Open this about the socket to a child."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darbar_bot.engine.framing import FRAME_BYTES_MAX, LENGTH_BYTES, FrameReader, FrameTooLarge, frame


@given(messages=st.lists(st.binary(max_size=40)), cuts=st.lists(st.integers(1, 20), min_size=1))
def test_frames_come_out_whole_and_in_order(messages: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frame(message) for message in messages)
    frames, received, at = FrameReader(), [], 0
    while at < len(stream):
        size = cuts[at % len(cuts)]
        received += frames.take(stream[at : at + size])
        at += size
    assert received == messages


def test_a_frame_that_is_too_large_ends_the_conversation() -> None:
    with pytest.raises(FrameTooLarge):
        FrameReader().take((FRAME_BYTES_MAX + 1).to_bytes(LENGTH_BYTES, "big"))
