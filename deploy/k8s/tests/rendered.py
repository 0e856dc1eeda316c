"""The manifests as a cluster gets them: what kustomize makes of this folder. Open this to look at another overlay."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
OVERLAYS = ("overlays/local", "overlays/production")
JOBS = ("jobs/before", "jobs/after")
EVERYTHING = OVERLAYS + JOBS
RENDER_SECONDS_MAX = 60
_POD_KINDS = ("Deployment", "StatefulSet", "Job")
_BETWEEN = re.compile(r"^---$", re.MULTILINE)

Manifest = dict[str, Any]


@cache
def rendered(folder: str) -> tuple[Manifest, ...]:
    """Every object, by the kustomize inside kubectl."""
    program = Path(sys.executable).parent / "kubectl"
    made = subprocess.run(
        [str(program), "kustomize", str(ROOT / folder)],
        capture_output=True,
        text=True,
        timeout=RENDER_SECONDS_MAX,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return tuple(msgspec.yaml.decode(part) for part in _BETWEEN.split(made.stdout) if part.strip())


def of_kind(folder: str, *kinds: str) -> list[Manifest]:
    return [manifest for manifest in rendered(folder) if manifest["kind"] in kinds]


def one(folder: str, kind: str, name: str) -> Manifest:
    (found,) = [manifest for manifest in of_kind(folder, kind) if name_of(manifest) == name]
    return found


def name_of(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


def workloads(folder: str) -> list[Manifest]:
    """Whatever makes pods."""
    return of_kind(folder, *_POD_KINDS)


def pod_of(workload: Manifest) -> Manifest:
    return dict(workload["spec"]["template"]["spec"])


def labels_of(workload: Manifest) -> dict[str, str]:
    """Of its pods, with what Kubernetes adds to those of a StatefulSet, for each of them."""
    return dict(workload["spec"]["template"]["metadata"]["labels"])


def containers_of(workload: Manifest) -> Iterator[Manifest]:
    pod = pod_of(workload)
    yield from pod.get("initContainers", [])
    yield from pod["containers"]


def every_container(folder: str) -> list[Manifest]:
    return [container for workload in workloads(folder) for container in containers_of(workload)]


def environment_of(folder: str, container: Manifest) -> dict[str, str]:
    """What the container reads; of a secret, where it comes from; of one that may be missing, nothing."""
    found: dict[str, str] = {}
    for source in container.get("envFrom", []):
        found |= one(folder, "ConfigMap", source["configMapRef"]["name"])["data"]
    for variable in container.get("env", []):
        place = variable.get("valueFrom", {})
        secret = place.get("secretKeyRef")
        if secret and secret.get("optional"):
            found[variable["name"]] = ""
            continue
        found[variable["name"]] = f"{secret['name']}/{secret['key']}" if secret else variable.get("value", str(place))
    return found


def secrets_of(folder: str) -> set[tuple[str, str]]:
    """(name, key) of every secret that a container needs; it may do without an optional one."""
    variables = [variable for container in every_container(folder) for variable in container.get("env", [])]
    references = [variable["valueFrom"]["secretKeyRef"] for variable in variables if "secretKeyRef" in str(variable)]
    return {(reference["name"], reference["key"]) for reference in references if not reference.get("optional")}
