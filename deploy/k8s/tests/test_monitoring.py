"""Alerts and dashboards ask for what is counted, and alerts are told when they must be. Open this after a change."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec
import pytest
from rendered import ROOT, one

from darbar_local.services import ALL

MONITORING = ROOT / "components/monitoring"
DASHBOARD = MONITORING / "dashboards/darbar.json"
OPERATIONS = ROOT.parents[1] / "docs/operations.md"
PROGRAM_SECONDS_MAX = 60
# What prometheus-client adds to a name.
ENDINGS = {
    "Counter": ("_total",),
    "CounterMetricFamily": ("_total",),
    "Gauge": ("",),
    "Histogram": ("_bucket", "_count", "_sum"),
}
# What Prometheus itself adds to every series of a pod.
OF_PROMETHEUS = {"pod", "container", "namespace", "le"}
OF_SERVICE = "|".join(service.name for service in ALL)
SERIES = re.compile(rf"\b((?:{OF_SERVICE})_[a-z_]+)(?:\{{([^}}]*)\}})?")
GROUPS = re.compile(r"by \(([^)]*)\) \((?:(?:rate|increase)\()?([a-z]+_[a-z_]+)")
BY_PATTERN = re.compile(r'__name__=~"\(([a-z|]+)\)(_[a-z_]+)"')


@cache
def counted() -> Mapping[str, frozenset[str]]:
    """Each series of the services with its labels."""
    return dict(series for service in ALL for series in _of_code(service.name))


def _of_code(service: str) -> Iterator[tuple[str, frozenset[str]]]:
    # What the kit's supervisor counts for each.
    yield f"{service}_task_restarts_total", frozenset({"task"})
    yield f"{service}_tasks_running", frozenset()
    path = ROOT.parents[1] / f"services/{service}/darbar_{service}/metrics.py"
    for call in ast.walk(ast.parse(path.read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ENDINGS:
            name = ast.literal_eval(call.args[0])
            listed = [part for part in call.args[2:] if isinstance(part, ast.List)]
            labels = ast.literal_eval(listed[0]) if listed else []
            yield from ((name + ending, frozenset(labels)) for ending in ENDINGS[call.func.id])


def expressions() -> list[str]:
    """Of every alert and every panel, with patterns of names written out."""
    alerts = [rule["expr"] for rule in rules()]
    board = msgspec.json.decode(DASHBOARD.read_bytes())
    panels = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    return alerts + panels


def rules() -> list[dict[str, str]]:
    (group,) = one("overlays/production", "PrometheusRule", "darbar")["spec"]["groups"]
    return list(group["rules"])


def unknown_in(expression: str) -> Iterator[str]:
    """Series that nothing counts, and labels that they do not have."""
    for services, ending in BY_PATTERN.findall(expression):
        yield from (name + ending for name in services.split("|") if name + ending not in counted())
    plain = BY_PATTERN.sub("", expression)
    for name, matchers in SERIES.findall(plain):
        if name not in counted():
            yield name
            continue
        labels = set(re.findall(r"([a-z_]+)(?:=|!)", matchers))
        yield from (f"{name}{{{label}}}" for label in labels - counted()[name] - OF_PROMETHEUS)
    for labels, name in GROUPS.findall(plain):
        known = counted().get(name, frozenset()) | OF_PROMETHEUS
        yield from (f"{name} by {label}" for label in set(labels.split(", ")) - known)


def test_every_alert_and_panel_asks_for_series_and_labels_that_there_are() -> None:
    asked = expressions()

    assert len(asked) > 60
    assert [unknown for expression in asked for unknown in unknown_in(expression)] == []


@pytest.mark.parametrize(
    "expression",
    [
        "sum(table_frozen)",
        'rate(table_refusals_total{code="busy"}[5m])',
        "sum by (table) (rate(table_moves_total[5m]))",
        'increase({__name__=~"(lobby|tables)_task_restarts_total"}[5m])',
        "histogram_quantile(0.5, table_append_seconds)",
    ],
)
def test_a_series_or_label_that_nothing_counts_is_found(expression: str) -> None:
    assert list(unknown_in(expression))


def test_the_dashboard_shows_all_that_is_counted_except_what_only_a_search_needs() -> None:
    text = " ".join(expressions())
    shown = {name for name in counted() if re.search(rf"\b{name}\b", text)}
    hidden = {re.sub(r"_(total|bucket|count|sum)$", "", name) for name in counted().keys() - shown}
    hidden -= {re.sub(r"_(total|bucket|count|sum)$", "", name) for name in shown}

    assert hidden - {f"{service.name}{end}" for service in ALL for end in ("_task_restarts", "_tasks_running")} == {
        "table_events",
        "lobby_limit_keys",
        "lobby_refreshes",
        "lobby_milestones_failed",
        "wallet_batch_requests",
        "wallet_audit_transfers",
    }


def test_panels_have_a_place_of_their_own_and_a_source() -> None:
    board = msgspec.json.decode(DASHBOARD.read_bytes())
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in board["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    sources = {panel["datasource"]["uid"] for panel in board["panels"] if panel["type"] != "row"}
    assert sources == {f"${{{variable['name']}}}" for variable in board["templating"]["list"]}


def test_the_dashboard_is_in_the_cluster_as_it_is_in_the_repository() -> None:
    shown = one("overlays/production", "ConfigMap", "dashboards")
    assert shown["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert shown["data"]["darbar.json"] == DASHBOARD.read_text()


def test_the_document_says_of_each_alert_what_to_do() -> None:
    _, _, after = OPERATIONS.read_text().partition("\n## Alerts\n")
    section = re.split(r"^## ", after, maxsplit=1, flags=re.MULTILINE)[0]
    assert re.findall(r"^### (\w+)$", section, re.MULTILINE) == [rule["alert"] for rule in rules()]


def test_each_alert_is_tried_when_it_must_be_told_and_when_not() -> None:
    tried = msgspec.yaml.decode((ROOT / "tests/alert_tests.yaml").read_bytes())["tests"]
    told = [bool(case["exp_alerts"]) for test in tried for case in test["alert_rule_test"]]
    names = [case["alertname"] for test in tried for case in test["alert_rule_test"]]

    assert names == [rule["alert"] for rule in rules() for _ in (True, False)]
    assert told == [True, False] * len(rules())


def test_prometheus_takes_the_alerts_and_tells_them_as_the_tests_say(tmp_path: Path) -> None:
    program = promtool()
    if program is None:
        pytest.skip("THE ALERTS WERE NOT TRIED: there is no promtool here; deploy/k8s/tests/promtool.sh brings it")
    spec = one("overlays/production", "PrometheusRule", "darbar")["spec"]
    (tmp_path / "alerts.yaml").write_bytes(msgspec.yaml.encode(spec))
    shutil.copy(ROOT / "tests/alert_tests.yaml", tmp_path)

    for arguments in (["check", "rules", "alerts.yaml"], ["test", "rules", "alert_tests.yaml"]):
        tried = subprocess.run(
            [program, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PROGRAM_SECONDS_MAX,
            check=False,
        )
        assert tried.returncode == 0, tried.stdout + tried.stderr


def promtool() -> str | None:
    """From PATH, or where the script puts it."""
    return shutil.which("promtool", path=f"{ROOT.parents[1] / 'build/promtool/usr/bin'}") or shutil.which("promtool")
