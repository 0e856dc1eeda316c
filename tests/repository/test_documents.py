"""The documents of the API against what they are written from, and as documents of their kind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from documented_answers import documented
from documented_frames import Documented
from tracked import ROOT
from write_documents import written

from darbar_contracts.documents import document
from darbar_contracts.frames import TABLE_FRAMES, EventFrame, Frame, ServerFrame, Snapshot
from darbar_contracts.public.routes import BY_SERVICE
from darbar_contracts.reading import DecisionFrames
from darbar_contracts.refusals import REFUSALS
from darbar_contracts.route import Route
from darbar_rules.games import ALL
from darbar_table.domain.events import KIND_OF

ROUTES = [route for routes in BY_SERVICE.values() for route in routes]


def references(value: Any) -> Iterator[str]:
    """Every `$ref` in a document."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def found(document: Any, reference: str) -> Any:
    """What a reference leads to. Raises KeyError when it leads nowhere."""
    for name in reference.removeprefix("#/").split("/"):
        document = document[name.replace("~1", "/")]
    return document


@pytest.mark.parametrize("path", written())
def test_a_file_that_is_made_from_the_contracts_is_no_older_than_they(path: str) -> None:
    assert (ROOT / path).read_text() == written()[path], "`make documents` writes it anew"


@pytest.mark.parametrize("name", ["openapi.json", "asyncapi.json"])
def test_every_reference_leads_somewhere_and_every_schema_is_used(name: Any) -> None:
    made = json.loads(document(name))
    leads = set(references(made))
    assert leads
    for reference in leads:
        assert found(made, reference)
    for part in ("schemas", "responses", "messages"):
        assert {f"#/components/{part}/{key}" for key in made["components"].get(part, {})} <= leads


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_route_is_in_the_document_with_all_that_it_may_answer(route: Route) -> None:
    made = json.loads(document("openapi.json"))
    operation = made["paths"][route.path][route.method.lower()]
    statuses = {str(status) for status in route.answers} | {str(REFUSALS[code].status) for code in route.refusals}
    assert set(operation["responses"]) == statuses | {"503"}
    assert operation["operationId"] == route.name
    assert ("requestBody" in operation) == (route.body is not None or route.recording != ())
    parameters = {parameter["name"] for parameter in operation.get("parameters", [])}
    assert parameters >= set(re.findall(r"{(\w+)}", route.path))
    assert route.query is None or parameters >= set(route.query.__struct_fields__)


def test_no_two_operations_have_one_name_or_one_method_and_path() -> None:
    assert len({route.name for route in ROUTES}) == len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_every_frame_and_every_kind_of_event_has_a_message() -> None:
    messages = set(json.loads(document("asyncapi.json"))["components"]["messages"])
    frames: list[type[Frame] | type[ServerFrame]] = [*TABLE_FRAMES, *ServerFrame.__subclasses__()]
    named = {str(frame.__struct_config__.tag) for frame in frames}
    named |= set(DecisionFrames().by_kind) | {f"table.{kind}" for kind in KIND_OF.values()}
    named |= {f"{game.name}.{kind}" for game in ALL for kind in (*game.events, "snapshot")}
    assert messages == named - {"snapshot", "event"}


def test_every_refusal_is_a_code_of_the_socket() -> None:
    schemas = json.loads(document("asyncapi.json"))["components"]["schemas"]
    assert schemas["Code"]["enum"] == sorted(REFUSALS)


def test_the_page_leads_nowhere_else_and_runs_nothing() -> None:
    page = document("docs.html").decode()
    links = set(re.findall(r'href="([^"]+)"', page))
    anchors = {f"#{anchor}" for anchor in re.findall(r'id="([^"]+)"', page)}
    assert links - anchors == {"/v1/openapi.json", "/v1/asyncapi.json"}
    assert not re.search(r"<script|<link|<img|\bsrc=|\bon\w+=|://", page)


def test_a_planted_reference_that_leads_nowhere_is_found() -> None:
    [reference] = references({"a": [{"$ref": "#/b/c"}]})
    assert found({"b": {"c": 1}}, reference) == 1
    with pytest.raises(KeyError):
        found({"b": {}}, reference)


@pytest.mark.parametrize(
    "change",
    [{"colour": "red"}, {"version": "7"}, {"kind": "seat_swapped"}, {"public": {"seat": 1}}, {"type": "events"}],
)
def test_a_planted_frame_that_the_document_does_not_tell_is_found(change: dict[str, Any]) -> None:
    frame = {"type": "event", "version": 7, "kind": "bot_seated", "public": {"seat": 1, "name": "Zara"}}
    Documented().told(frame)
    with pytest.raises(AssertionError, match="is not in the AsyncAPI document"):
        Documented().told(frame | change)


def test_a_planted_command_that_the_document_does_not_tell_is_found() -> None:
    Documented().sent({"type": "sit", "id": "0123456789abcdef"})
    with pytest.raises(AssertionError, match="is not in the AsyncAPI document"):
        Documented().sent({"type": "sit", "id": "short"})


def test_a_planted_answer_that_no_route_tells_is_found() -> None:
    documented("GET", "/v1/me", 401, {"code": "token_missing"})
    documented("GET", "/nothing/of/ours", 418, {})
    for status, body in ((401, {"code": "name_not_allowed"}), (418, {"code": "token_missing"}), (201, {})):
        with pytest.raises(AssertionError, match="GET /v1/me says nothing of"):
            documented("GET", "/v1/me", status, body)


@pytest.mark.parametrize("frame", [Snapshot, EventFrame], ids=lambda frame: frame.__name__)
def test_frames_that_are_described_by_hand_have_the_fields_of_their_type(frame: type[ServerFrame]) -> None:
    tag = frame.__struct_config__.tag
    messages = json.loads(document("asyncapi.json"))["components"]["messages"].values()
    fields = [one["payload"]["properties"] for one in messages if "properties" in one["payload"]]
    told = [set(each) for each in fields if each["type"].get("const") == tag]
    assert told
    assert set().union(*told) == {"type", *frame.__struct_fields__}
