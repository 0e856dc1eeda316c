"""The page about the socket's protocol against its types. Open this when an example of that page is refused."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from documented_frames import Documented
from tracked import ROOT

from darbar_contracts import frames
from darbar_contracts.frames import TABLE_FRAMES, AnyServerFrame, Frame, ServerFrame
from darbar_contracts.reading import DecisionFrames, client_frame_type

EXAMPLE = re.compile(r"^```json (client|server)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (`[a-z_`, ]+`) \|.*?((?:`[a-z_0-9]+`(?:, )?)*) ?\|$", re.MULTILINE)
WORD = re.compile(r"`([a-z_0-9]+)`")
EXCERPT = re.compile(r"^```transcript\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
HEAD = {"id", "round", "turn", "game"}
NO_COMMANDS = {"hello", "ping", "fresh_token"}


def page() -> str:
    return (ROOT / "docs/protocol.md").read_text()


def examples() -> list[tuple[str, str]]:
    return EXAMPLE.findall(page())


def rows() -> dict[str, set[str]]:
    """What the tables say: each command or decision with its fields."""
    return {kind: set(WORD.findall(fields)) for kinds, fields in ROW.findall(page()) for kind in WORD.findall(kinds)}


def own_fields(frame: Any) -> set[str]:
    return set(frame.__struct_fields__) - HEAD


def kind_of(frame: Any) -> str:
    return str(frame.__struct_config__.tag)


def of_commands() -> dict[str, set[str]]:
    made = {kind_of(frame): set(frame.__struct_fields__) - {"id"} for frame in TABLE_FRAMES}
    return {kind: fields for kind, fields in made.items() if kind not in NO_COMMANDS}


@pytest.mark.parametrize(("side", "example"), examples())
def test_every_example_is_a_message_of_its_side(side: str, example: str) -> None:
    decisions = DecisionFrames()
    message = msgspec.json.decode(example, type=client_frame_type(decisions) if side == "client" else AnyServerFrame)
    assert isinstance(message, Frame if side == "client" else ServerFrame)
    written = msgspec.json.decode(example)
    assert not set(written) - set(message.__struct_fields__) - {"type"}, "a field that the type does not have"


def test_every_excerpt_is_in_the_transcript_line_by_line_and_in_its_order() -> None:
    excerpts = [excerpt.splitlines() for excerpt in EXCERPT.findall(page())]
    assert len(excerpts) >= 8
    for excerpt in excerpts:
        rest = iter((ROOT / "docs/transcript.txt").read_text().splitlines())
        assert [line for line in excerpt if line not in rest] == []


def test_every_line_of_the_transcript_is_in_the_asyncapi_document() -> None:
    documented = Documented()
    for line in (ROOT / "docs/transcript.txt").read_text().splitlines():
        mark, _, frame = line.partition(" ")
        if mark != "#":
            (documented.told if mark == "<" else documented.sent)(msgspec.json.decode(frame))
    assert documented.seen.total() > 100


def test_every_message_of_the_server_has_an_example() -> None:
    shown = {msgspec.json.decode(example)["type"] for side, example in examples() if side == "server"}
    assert shown == {kind_of(frame) for frame in ServerFrame.__subclasses__()}


def test_every_command_of_the_table_is_listed_with_its_fields() -> None:
    listed = {kind: fields for kind, fields in rows().items() if kind in of_commands()}
    assert listed == of_commands()


def test_every_decision_that_is_listed_has_these_fields() -> None:
    made = {kind: own_fields(frame) for kind, frame in DecisionFrames().by_kind.items()}
    listed = {kind: fields for kind, fields in rows().items() if kind not in of_commands()}
    assert listed
    assert listed == {kind: made.get(kind) for kind in listed}


def test_the_limits_are_those_of_the_types() -> None:
    text = " ".join(page().split())
    assert f"at most {frames.FRAME_BYTES_MAX} bytes" in text
    assert f"More than {frames.FRAMES_A_SECOND_MAX} messages a second" in text
    assert f"{frames.COMMAND_ID_CHARACTERS_MIN} to {frames.COMMAND_ID_CHARACTERS_MAX} letters, digits" in text
    assert frames.HEARTBEAT_SECONDS == 5
    assert "at least every five seconds" in text
