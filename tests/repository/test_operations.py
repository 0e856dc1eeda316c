"""The operators' document names every setting and every metric. Open this when one is missing there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from test_tidy import dotted
from tracked import ROOT, Source, expect_none, sources

from darbar_contracts.refusals import REFUSALS

METRIC_TYPES = ("Counter", "CounterMetricFamily", "Gauge", "Histogram", "Summary")
# What the kit's supervisor counts for each service.
SUPERVISED = ("_task_restarts", "_tasks_running")
METRIC_NAME = re.compile(r"`((?:lobby|table|wallet|media|bot)_[a-z_]+)`")


def settings_of(source: Source) -> list[str]:
    """The variables of a settings.py, without their prefix."""
    classes = [node for node in source.tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings"]
    fields = [item for node in classes for item in node.body if isinstance(item, ast.AnnAssign)]
    return [dotted(field.target).upper() for field in fields]


def metrics_of(source: Source) -> list[str]:
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and node.args]
    names = [call.args[0] for call in calls if dotted(call.func).rpartition(".")[2] in METRIC_TYPES]
    supervised = [call.args[0] for call in calls if dotted(call.func) == "Supervisor"]
    return [
        *(str(name.value) for name in names if isinstance(name, ast.Constant)),
        *(f"{name.value!s}{end}" for name in supervised if isinstance(name, ast.Constant) for end in SUPERVISED),
    ]


def logged_in(source: Source) -> set[str]:
    """The names of what it logs."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and node.args]
    names = [call.args[0] for call in calls if dotted(call.func).startswith(("log.", "_log."))]
    return {str(name.value) for name in names if isinstance(name, ast.Constant)}


def unnamed_settings(document: str, source: Source) -> Iterator[str]:
    """In the section of the service."""
    service = source.path.split("/")[1]
    _, _, after = document.partition(f"### {service.capitalize()}\n")
    section = re.split(r"^##", after, maxsplit=1, flags=re.MULTILINE)[0]
    for name in settings_of(source):
        if f"`{name}`" not in section:
            yield f"docs/operations.md does not name {name} of {service}"


def unnamed_metrics(document: str, source: Source) -> Iterator[str]:
    yield from (
        f"docs/operations.md does not name {name}" for name in metrics_of(source) if f"`{name}`" not in document
    )


def unknown_metrics(document: str, known: set[str]) -> Iterator[str]:
    for name in METRIC_NAME.findall(document):
        if name not in known and name not in ("table_process", "table_id"):
            yield f"docs/operations.md: nothing counts {name}"


def document() -> str:
    return (ROOT / "docs/operations.md").read_text()


def of_services() -> list[Source]:
    return [source for source in sources() if source.is_python and source.path.startswith("services/")]


def test_every_setting_is_in_the_document() -> None:
    settings = [source for source in of_services() if source.name == "settings.py"]
    assert settings
    expect_none(finding for source in settings for finding in unnamed_settings(document(), source))


def test_every_metric_is_in_the_document() -> None:
    expect_none(finding for source in of_services() for finding in unnamed_metrics(document(), source))


def test_every_metric_of_the_document_is_counted() -> None:
    known = {name for source in of_services() for name in metrics_of(source)}
    assert known
    others = {name for source in of_services() for name in logged_in(source)} | set(REFUSALS)
    expect_none(unknown_metrics(document(), known | others))


@pytest.mark.parametrize("text", ["### Table\n`DATABASE_URL`\n", "### Table\n\n### Lobby\n`TURN_SECONDS`\n", ""])
def test_a_planted_unnamed_setting_is_found(text: str) -> None:
    source = Source("services/table/darbar_table/settings.py", "class Settings(Struct):\n    turn_seconds: int\n")
    assert list(unnamed_settings(text, source))
    assert not list(unnamed_settings("### Table\n`TURN_SECONDS`\n", source))


def test_what_a_supervisor_counts_is_a_metric_of_its_service() -> None:
    source = Source("services/table/darbar_table/app.py", "supervisor = Supervisor('table', registry)\n")
    assert metrics_of(source) == ["table_task_restarts", "table_tasks_running"]


def test_what_is_logged_is_no_metric() -> None:
    source = Source(
        "services/table/darbar_table/x.py", "log.error('table_frozen', table_id=1)\nerror('table_thawed')\n"
    )
    assert logged_in(source) == {"table_frozen"}


def test_planted_metrics_are_found() -> None:
    source = Source("services/table/darbar_table/x.py", "Counter('table_moves', 'Moves')\n")
    assert list(unnamed_metrics("`table_events`", source))
    assert not list(unnamed_metrics("`table_moves`", source))
    assert list(unknown_metrics("`table_events`", {"table_moves"}))
    assert not list(unknown_metrics("`table_moves`", {"table_moves"}))
