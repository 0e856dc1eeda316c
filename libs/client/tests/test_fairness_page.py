"""The program that docs/fairness.md gives to its readers, run as it stands there on a stored game."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from shared_logs import shared_as_now

from darbar_client import Replay

ROOT = Path(__file__).parents[3]
LOG = Path(__file__).parent / "golden" / "court_piece_hidden.ndjson"


@pytest.fixture
def page() -> dict[str, Any]:
    """The names that the page's program defines."""
    program = (ROOT / "docs/fairness.md").read_text().split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(compile(program, "docs/fairness.md", "exec"), names)
    return names


@pytest.fixture
def replay() -> dict[str, Any]:
    head, *events = (json.loads(line) for line in LOG.read_text().splitlines())
    return {**head, "events": events}


def change(replay: dict[str, Any], kind: str, **fields: Any) -> None:
    """Other fields in the last event of a kind."""
    event = [event for event in replay["events"] if event["kind"] == kind and event["body"] is not None][-1]
    event["body"] = json.dumps(json.loads(event["body"]) | fields)


def test_the_program_of_the_page_finds_nothing_wrong_with_a_fair_game(
    page: dict[str, Any], replay: dict[str, Any]
) -> None:
    assert page["check"](replay) == []
    shown = [json.loads(event["body"]) for event in replay["events"] if event["kind"] == "seeds_shown"]
    assert len(shown) >= 7
    assert any(body["bag_seed"] for body in shown), "a whole bag was used"
    assert any(body["strings"] for body in shown)


@pytest.mark.parametrize(
    ("kind", "fields", "found"),
    [
        ("seeds_shown", {"server_seed": "00" * 32}, "the seed is not the one"),
        ("seeds_shown", {"strings": {"0": "another"}}, "a string is not the one"),
        ("seeds_shown", {"strings": {}}, "the cards were dealt otherwise"),
        ("count_in_started", {"commitment": "00" * 32}, "the seed is not the one"),
    ],
)
def test_the_program_of_the_page_finds_a_broken_promise(
    page: dict[str, Any], replay: dict[str, Any], kind: str, fields: dict[str, Any], found: str
) -> None:
    change(replay, kind, **fields)
    assert any(found in line for line in page["check"](replay))


def test_the_program_of_the_page_finds_flags_that_are_not_those_of_the_bag(
    page: dict[str, Any], replay: dict[str, Any]
) -> None:
    event = next(event for event in replay["events"] if event["kind"] == "seeds_shown")
    body = json.loads(event["body"])
    event["body"] = json.dumps(body | {"filtered": not body["filtered"]})
    assert any("the flags of the bag are others" in line for line in page["check"](replay))


def test_the_program_of_the_page_follows_the_chain_with_accounts_and_with_aliases(
    page: dict[str, Any], replay: dict[str, Any]
) -> None:
    assert page["broken"](replay) is None
    shared = shared_as_now(msgspec.convert(replay, Replay))
    log = msgspec.to_builtins(shared)
    assert page["broken"](log) is None
    assert '"account_id":"account-' not in json.dumps([event["body"] for event in log["events"]])
    for place in (0, 1, 30):
        wrong = copy.deepcopy(log)
        wrong["events"][place]["body"] = wrong["events"][place]["body"].replace(":", ": ", 1)
        assert page["broken"](wrong) == place + 1


def test_the_program_of_the_page_finds_cards_that_changed_hands(page: dict[str, Any], replay: dict[str, Any]) -> None:
    event = [event for event in replay["events"] if event["kind"] == "round_ended"][-1]
    body = json.loads(event["body"])
    dealt = body["event"]["deal"]["hands"]
    dealt[0][0], dealt[1][0] = dealt[1][0], dealt[0][0]
    event["body"] = json.dumps(body)
    assert any("the cards were dealt otherwise" in line for line in page["check"](replay))
