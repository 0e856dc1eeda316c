"""What production promises: a roll-out or a failover loses no move. Open this about sizes and routes."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from rendered import (
    OVERLAYS,
    Manifest,
    containers_of,
    environment_of,
    labels_of,
    name_of,
    of_kind,
    one,
    pod_of,
    rendered,
    workloads,
)

from darbar_kit.embedded.nats import find_program
from darbar_kit.service import SHUTDOWN_SECONDS
from darbar_local.operators.cluster import new_secrets
from darbar_local.services import ALL, owner
from darbar_table.app import START_SECONDS_MAX
from darbar_table.engine.handover import LEAVING_SECONDS_MAX
from darbar_table.engine.node import DRAIN_SECONDS_MAX, new_process_id

PRODUCTION = "overlays/production"
RESERVE_SECONDS = 10
# Whatever answers players' requests, or what these wait for.
ANSWERING = (*(service.name for service in ALL), "web")
PATHS = (
    "/play/tables/7d3f/socket",
    "/v1/tables/7d3f/replay",
    "/v1/tables/7d3f/audit",
    "/v1/tables/7d3f",
    "/v1/tables",
    "/v1/me",
    "/v1/me/wallet",
    "/v1/me/wallet/entries",
    "/v1/wallet/audit",
    "/v1/me/voice",
    "/v1/voice-notes",
    "/v1/voice-notes/1/report",
    "/join/abc",
    "/metrics",
    "/healthz",
    "/readyz",
    "/",
    "/assets/index.js",
    "/t/7d3f",
)


def test_a_move_is_on_two_disks_before_it_is_shown() -> None:
    spec = one(PRODUCTION, "Cluster", "postgres")["spec"]

    assert spec["instances"] >= 3
    assert spec["postgresql"]["synchronous"] == {"method": "any", "number": 1, "dataDurability": "required"}
    for parameter in ("synchronous_commit", "fsync", "full_page_writes"):
        assert spec["postgresql"]["parameters"][parameter] == "on"
    assert spec["affinity"]["podAntiAffinityType"] == "required"


def test_any_moment_of_all_databases_can_be_restored_together() -> None:
    assert len(of_kind(PRODUCTION, "Cluster")) == 1
    (plugin,) = one(PRODUCTION, "Cluster", "postgres")["spec"]["plugins"]
    store = one(PRODUCTION, "ObjectStore", plugin["parameters"]["barmanObjectName"])
    assert plugin["isWALArchiver"] is True
    assert store["spec"]["retentionPolicy"] == "30d"
    assert one(PRODUCTION, "ScheduledBackup", "nightly")["spec"]["cluster"]["name"] == "postgres"


def test_streams_have_a_copy_on_each_of_three_servers() -> None:
    nats = one(PRODUCTION, "StatefulSet", "nats")
    (container,) = containers_of(one(PRODUCTION, "Job", "streams"))

    assert nats["spec"]["replicas"] == 3
    assert container["args"] == ["replicate", "3"]
    routes = re.findall(r"nats://(nats-\d)\.nats-pods:6222", nats_conf(PRODUCTION))
    assert routes == ["nats-0", "nats-1", "nats-2"]


@pytest.mark.parametrize("folder", OVERLAYS)
async def test_the_nats_server_takes_its_configuration(folder: str, tmp_path: Path) -> None:
    (tmp_path / "nats.conf").write_text(nats_conf(folder))
    (tmp_path / "users.conf").write_text(new_secrets(postgres="postgres", nats="nats")["darbar-nats"]["users.conf"])

    looked = await asyncio.create_subprocess_exec(
        *(str(find_program()), "-t", "-c", str(tmp_path / "nats.conf")),
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath, "POD_NAME": "nats-0"},
    )
    _, told = await looked.communicate()

    assert looked.returncode == 0, told.decode()
    assert "sync_interval: always" in nats_conf(folder)


@pytest.mark.parametrize("folder", OVERLAYS)
def test_a_pod_that_goes_has_time_to_answer_store_and_hand_over(folder: str) -> None:
    for name in ANSWERING:
        workload = of_service(folder, name)
        (container,) = containers_of(workload)
        still_asked = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        draining = DRAIN_SECONDS_MAX + LEAVING_SECONDS_MAX if name == "table" else 0
        needed = still_asked + draining + SHUTDOWN_SECONDS + RESERVE_SECONDS

        assert still_asked >= 2 * container["readinessProbe"]["periodSeconds"]
        assert pod_of(workload)["terminationGracePeriodSeconds"] >= needed


@pytest.mark.parametrize("folder", OVERLAYS)
def test_a_new_pod_may_take_as_long_as_loading_its_tables_takes(folder: str) -> None:
    (container,) = containers_of(of_service(folder, "table"))
    probe = container["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= START_SECONDS_MAX + RESERVE_SECONDS


@pytest.mark.parametrize("folder", OVERLAYS)
def test_pods_are_replaced_one_at_a_time_and_never_all_evicted(folder: str) -> None:
    for name in ANSWERING:
        workload = of_service(folder, name)
        assert one(folder, "PodDisruptionBudget", name)["spec"]["maxUnavailable"] == 1
        assert workload["spec"]["minReadySeconds"] > 0
        if workload["kind"] == "Deployment":
            at_once = workload["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"]
        else:
            at_once = workload["spec"]["updateStrategy"].get("rollingUpdate", {}).get("partition", 0)
        assert at_once == 0


def test_pods_of_a_service_are_spread_over_zones_and_nodes() -> None:
    for name in ANSWERING:
        keys = [spread["topologyKey"] for spread in pod_of(of_service(PRODUCTION, name))["topologySpreadConstraints"]]
        assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]


def test_autoscalers_scale_what_is_there_by_what_is_counted() -> None:
    adapter = one(PRODUCTION, "ConfigMap", "adapter-rules")["data"]["rules.yaml"]
    scalers = of_kind(PRODUCTION, "HorizontalPodAutoscaler")
    assert scalers
    for scaler in scalers:
        target = scaler["spec"]["scaleTargetRef"]
        workload = one(PRODUCTION, target["kind"], target["name"])
        assert "replicas" not in workload["spec"], "a roll-out would undo what the autoscaler said"
        for metric in scaler["spec"]["metrics"]:
            if metric["type"] == "Pods":
                assert metric["pods"]["metric"]["name"] in adapter
            else:
                assert "cpu" in next(containers_of(workload))["resources"]["requests"]
    metrics = one(PRODUCTION, "HorizontalPodAutoscaler", "table")["spec"]["metrics"]
    assert [metric.get("pods", metric.get("resource")) for metric in metrics][2]["name"] == "cpu"
    sockets = next(m["pods"] for m in metrics if m["type"] == "Pods" and m["pods"]["metric"]["name"] == "table_sockets")
    limit = environment_of(PRODUCTION, next(containers_of(of_service(PRODUCTION, "table"))))["DARBAR_TABLE_SOCKETS_MAX"]
    assert int(sockets["target"]["averageValue"]) <= 0.8 * int(limit)


def test_each_table_pod_that_may_be_has_a_route_for_its_sockets() -> None:
    pods = one(PRODUCTION, "HorizontalPodAutoscaler", "table")["spec"]["maxReplicas"]
    for number in range(pods):
        path = f"/play/at/{new_process_id(f'table-{number}')}/tables/7d3f/socket"
        assert backends(path) == [f"table-{number}"]
        selector = one(PRODUCTION, "Service", f"table-{number}")["spec"]["selector"]
        assert selector["statefulset.kubernetes.io/pod-name"] == f"table-{number}"
    assert backends(f"/play/at/{new_process_id(f'table-{pods}')}/tables/7d3f/socket") == ["table"]


@pytest.mark.parametrize("path", PATHS)
def test_paths_lead_to_the_service_that_answers_them_and_others_to_the_web_client(path: str) -> None:
    assert backends(path) == [owner(path) or "web"]


def test_routes_lead_to_services_that_are_there() -> None:
    for route in of_kind(PRODUCTION, "HTTPRoute"):
        for rule in route["spec"]["rules"]:
            for backend in rule["backendRefs"]:
                ports = one(PRODUCTION, "Service", backend["name"])["spec"]["ports"]
                assert backend["port"] in [port["port"] for port in ports]


def test_nobody_speaks_to_anybody_unless_a_policy_says_so() -> None:
    everybody = one(PRODUCTION, "NetworkPolicy", "nothing")["spec"]
    assert everybody == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_policies_let_each_service_reach_what_its_settings_name() -> None:
    for service in ALL:
        workload = of_service(PRODUCTION, service.name)
        reached = {port for policy in policies_of(workload) for port in ports_to(policy)}
        assert reached == {53, 4222} | ({5432} if service.database else set())
        asked = {port for policy in policies_of(workload) for port in ports_from(policy)}
        assert asked == {8080}
    assert {5432} <= {port for policy in policies_with("migrations") for port in ports_to(policy)}


def test_the_web_client_is_reached_and_reaches_nobody() -> None:
    policies = policies_of(of_service(PRODUCTION, "web"))
    assert {port for policy in policies for port in ports_to(policy)} == {53}
    assert {port for policy in policies for port in ports_from(policy)} == {8080}


def policies_with(name: str) -> list[Manifest]:
    labels = {"app.kubernetes.io/name": name}
    return [policy for policy in of_kind(PRODUCTION, "NetworkPolicy") if selects(policy["spec"]["podSelector"], labels)]


def policies_of(workload: Manifest) -> list[Manifest]:
    return [
        policy
        for policy in of_kind(PRODUCTION, "NetworkPolicy")
        if selects(policy["spec"]["podSelector"], labels_of(workload))
    ]


def selects(selector: Manifest, labels: dict[str, str]) -> bool:
    expressions = selector.get("matchExpressions", [])
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        expression["operator"] == "In" and labels.get(expression["key"]) in expression["values"]
        for expression in expressions
    )


def ports_to(policy: Manifest) -> list[int]:
    return [port["port"] for rule in policy["spec"].get("egress", []) for port in rule["ports"]]


def ports_from(policy: Manifest) -> list[int]:
    return [port["port"] for rule in policy["spec"].get("ingress", []) for port in rule["ports"]]


def backends(path: str) -> list[str]:
    """Where a gateway leads: regular expressions first, then the longest prefix."""
    found: list[tuple[bool, int, str]] = []
    for route in of_kind(PRODUCTION, "HTTPRoute"):
        for rule in route["spec"]["rules"]:
            for match in rule["matches"]:
                kind, value = match["path"]["type"], match["path"]["value"]
                is_regular = kind == "RegularExpression"
                if re.fullmatch(value, path) if is_regular else has_prefix(path, value):
                    found.append((is_regular, len(value), rule["backendRefs"][0]["name"]))
    return [max(found)[2]] if found else []


def has_prefix(path: str, prefix: str) -> bool:
    """Whole parts only, as the Gateway API has it."""
    return path == prefix.rstrip("/") or path.startswith(prefix.rstrip("/") + "/")


def of_service(folder: str, name: str) -> Manifest:
    (found,) = [workload for workload in workloads(folder) if name_of(workload) == name]
    return found


def nats_conf(folder: str) -> str:
    (found,) = [manifest for manifest in rendered(folder) if "nats.conf" in manifest.get("data", {})]
    return str(found["data"]["nats.conf"])
