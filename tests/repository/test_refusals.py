"""One code, one member, one status, one sentence. Open this when a refusal is called doubtful."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from importlib import import_module

import pytest
from test_tidy import dotted
from tracked import Source, expect_none, sources

from darbar_contracts.refusals import REFUSALS, Reason
from darbar_rules.game import Refusal

CODE = re.compile(r"[a-z]+(_[a-z0-9]+)*")
STATUSES = frozenset({400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 421, 422, 429, 500, 502, 503, 504})
# What is raised or answered with a code as its first argument.
RAISED = frozenset(
    (
        *("Refused", "RuleRefused", "Unavailable", "refused", "CannotDecide"),
        *("DarbarError", "CommandRefused", "Unreachable", "SocketEnded", "EventsMissed"),
    )
)
NAMED = re.compile(r"\b\w*(?:Reason|Refusal)\.([A-Z0-9_]+)\b")


def bare_codes(source: Source) -> Iterator[str]:
    """A code written as a string is nobody's."""
    for call in raising_calls(source.tree):
        if isinstance(call.args[0], ast.Constant | ast.JoinedStr):
            yield f"{source.path}:{call.lineno}: a refusal without a member: {ast.unparse(call.args[0])}"


def other_statuses(source: Source, statuses: Mapping[str, int]) -> Iterator[str]:
    """A status that is given beside a code is the code's own."""
    for call in raising_calls(source.tree):
        given = [keyword.value for keyword in call.keywords if keyword.arg == "status"] + call.args[3:4]
        member = dotted(call.args[0]).rpartition(".")[2]
        for status in (node.value for node in given if isinstance(node, ast.Constant)):
            if statuses.get(member, status) != status:
                yield f"{source.path}:{call.lineno}: {member} has the status {statuses[member]}, not {status!r}"


def raising_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and dotted(node.func).rpartition(".")[2] in RAISED:
            yield node


def never_raised(members: Iterable[str], texts: Iterable[str]) -> Iterator[str]:
    named = {name for text in texts for name in NAMED.findall(text)}
    yield from (f"{name}: nothing is refused for this reason" for name in members if name not in named)


def differing_twins(twins: Iterable[StrEnum], reasons: Mapping[str, Reason]) -> Iterator[str]:
    """The kit's codes are in the registry, and say there what they say in the kit."""
    for twin in twins:
        reason = reasons.get(twin.value)
        if reason is None:
            yield f"{type(twin).__name__}.{twin.name}: {twin.value} is not in contracts/refusals.py"
            continue
        for field in ("status", "sentence"):
            if getattr(twin, field, getattr(reason, field)) != getattr(reason, field):
                yield f"{twin.value}: the kit has another {field} than contracts/refusals.py"


def kit_reasons() -> list[StrEnum]:
    """Every member of the kit's enums of reasons, wherever they are."""
    found = [
        (source.path.removeprefix("libs/kit/").removesuffix(".py").replace("/", "."), node.name)
        for source in production()
        if source.path.startswith("libs/kit/darbar_kit/")
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Reason")
    ]
    return [member for module, name in found for member in getattr(import_module(module), name)]


def production() -> list[Source]:
    return [source for source in sources() if source.is_python and not source.is_test and source.name != "refusals.py"]


def test_no_two_enums_have_the_same_code() -> None:
    assert len(REFUSALS) == len(Reason) + len(Refusal)


@pytest.mark.parametrize("code", sorted(REFUSALS))
def test_a_refusal_has_a_code_a_status_and_a_sentence(code: str) -> None:
    refusal = REFUSALS[code]
    assert CODE.fullmatch(code)
    assert refusal.code == code
    assert refusal.status in STATUSES
    assert refusal.sentence[0].isupper()
    assert refusal.sentence.endswith(".")
    assert refusal.retry == (refusal.status in (429, 503))


def test_a_member_is_named_like_its_code() -> None:
    assert all(member.name == member.value.upper() for member in (*Reason, *Refusal))


def test_the_kit_says_the_same() -> None:
    assert kit_reasons()
    expect_none(differing_twins(kit_reasons(), {reason.value: reason for reason in Reason}))


def test_nothing_is_refused_without_a_member() -> None:
    expect_none(finding for source in production() for finding in bare_codes(source))


def test_no_code_is_given_another_status() -> None:
    statuses = {member.name: REFUSALS[member.value].status for member in (*Reason, *Refusal)}
    expect_none(finding for source in production() for finding in other_statuses(source, statuses))


def test_every_code_is_used() -> None:
    expect_none(never_raised([member.name for member in (*Reason, *Refusal)], (item.text for item in production())))


@pytest.mark.parametrize(
    "text", ["raise Refused('seat_taken')", "Unavailable(f'{x}')", "raise errors.Refused('a', 'b')"]
)
def test_a_planted_bare_code_is_found(text: str) -> None:
    assert list(bare_codes(Source("a.py", text)))
    assert not list(bare_codes(Source("a.py", "raise Refused(Reason.SEAT_TAKEN, 'message')\nrefused(code)\n")))


@pytest.mark.parametrize("text", ["refused(Reason.SEAT_TAKEN, status=404)", "Refused(XReason.SEAT_TAKEN, '', {}, 404)"])
def test_a_planted_second_status_is_found(text: str) -> None:
    assert list(other_statuses(Source("a.py", text), {"SEAT_TAKEN": 409}))
    assert not list(other_statuses(Source("a.py", text), {"SEAT_TAKEN": 404}))


def test_a_planted_code_that_nobody_uses_is_found() -> None:
    assert list(never_raised(["SEAT_TAKEN"], ["seat_taken Reason.SEAT_TAKEN_TWICE"]))
    assert not list(never_raised(["SEAT_TAKEN"], ["x = TableReason.SEAT_TAKEN\n"]))


def test_a_planted_twin_that_differs_is_found() -> None:
    kit = StrEnum("kit", {"NOT_FOUND": "not_found", "GONE": "gone"})
    assert [finding.split(":")[0] for finding in differing_twins(kit, {"not_found": Reason.NOT_FOUND})] == ["kit.GONE"]
    assert list(differing_twins([Reason.NOT_FOUND], {"not_found": Reason.INTERNAL}))
