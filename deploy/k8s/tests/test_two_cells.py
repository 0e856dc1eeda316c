"""Production with tables in two databases: the second cell is as the first one, and everybody finds it."""

from __future__ import annotations

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import msgspec
from rendered import labels_of, name_of, of_kind, one, rendered, workloads
from test_manifests import KUBERNETES, OF_OPERATORS

FOLDER = "overlays/two-cells"
RENAMED = {
    "table-b": "table",
    "table-pods-b": "table-pods",
    "darbar-table-b": "darbar-table",
    "$(DARBAR_TABLE_PROCESS_NAME).table-pods-b:8080": "$(DARBAR_TABLE_PROCESS_NAME).table-pods:8080",
    "postgres-b": "postgres",
    "nightly-b": "nightly",
}


def test_kubernetes_takes_every_object_once() -> None:
    found = [(manifest["kind"], name_of(manifest)) for manifest in rendered(FOLDER)]
    assert len(set(found)) == len(found) > len(rendered("overlays/production"))
    for manifest in rendered(FOLDER):
        assert manifest["metadata"].get("namespace", "darbar") == "darbar"
        if manifest["kind"] not in OF_OPERATORS:
            kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_what_the_first_cell_has_of_its_own_the_second_one_has_too() -> None:
    own = (
        ("StatefulSet", "table"),
        ("Service", "table"),
        ("Service", "table-pods"),
        ("PodDisruptionBudget", "table"),
        ("HorizontalPodAutoscaler", "table"),
        ("Cluster", "postgres"),
        ("ScheduledBackup", "nightly"),
    )
    for kind, name in own:
        first, second = one(FOLDER, kind, name), one(FOLDER, kind, f"{name}-b")
        assert first == one("overlays/production", kind, name)
        assert renamed(first["spec"]) == renamed(second["spec"]) != second["spec"] or kind == "Cluster"
    added = len(rendered(FOLDER)) - len(rendered("overlays/production"))
    settings, routes = 2, len(of_kind("overlays/production", "HTTPRoute")) - 1
    assert added == len(own) + settings + 2 * routes, "and nothing else is there twice"


def test_selectors_of_one_cell_find_no_pods_of_the_other() -> None:
    for kind in ("Service", "PodDisruptionBudget", "StatefulSet"):
        for manifest in of_kind(FOLDER, kind):
            selector = manifest["spec"]["selector"]
            wanted = selector.get("matchLabels", selector)
            labels = {key: value for key, value in wanted.items() if not key.startswith("statefulset.")}
            assert len([one for one in workloads(FOLDER) if labels.items() <= labels_of(one).items()]) == 1


def test_whoever_may_do_something_with_tables_may_with_those_of_the_second_cell() -> None:
    named = 0
    for manifest in of_kind(FOLDER, "NetworkPolicy", "PodMonitor"):
        for values in lists_in(manifest["spec"]):
            named += "table" in values
            assert ("table" in values) == ("table-b" in values), name_of(manifest)
            assert ("postgres" in values) == ("postgres-b" in values), name_of(manifest)
        assert '"cnpg.io/cluster":"postgres"' not in msgspec.json.encode(manifest["spec"]).decode()
    assert named == 7


def test_paths_lead_to_both_cells_and_to_each_pod_of_the_second() -> None:
    for rule in one(FOLDER, "HTTPRoute", "public")["spec"]["rules"]:
        names = {backend["name"] for backend in rule["backendRefs"]}
        assert ("table" in names) == ("table-b" in names)
    replicas = one(FOLDER, "HorizontalPodAutoscaler", "table-b")["spec"]["maxReplicas"]
    for number in range(replicas):
        name = f"table-b-{number}"
        [rule] = one(FOLDER, "HTTPRoute", name)["spec"]["rules"]
        assert rule["matches"][0]["path"]["value"] == f"/play/at/{name}-[0-9a-f]+/.*"
        assert [backend["name"] for backend in rule["backendRefs"]] == [name]
        selector = one(FOLDER, "Service", name)["spec"]["selector"]
        pod = "statefulset.kubernetes.io/pod-name"
        assert selector == {"app.kubernetes.io/name": "table-b", pod: name}


def renamed(part: Any) -> Any:
    """With the first cell's names, and settings by their names without the hash of what they say."""
    if isinstance(part, dict):
        return {key: renamed(value) for key, value in part.items()}
    if isinstance(part, list):
        return [renamed(value) for value in part]
    for settings in ("table", "terms"):
        for infix in (f"{settings}-b-", f"{settings}-"):
            if isinstance(part, str) and part.startswith(infix) and part not in RENAMED and "pods" not in part:
                return settings
    return RENAMED.get(part, part) if isinstance(part, str) else part


def lists_in(part: Any) -> list[list[str]]:
    """Every list of names in it."""
    if isinstance(part, dict):
        return [found for value in part.values() for found in lists_in(value)]
    if isinstance(part, list):
        inner = [found for value in part for found in lists_in(value)]
        return [part, *inner] if all(isinstance(value, str) for value in part) else inner
    return []
