"""The images and compose.yaml: what can be known without building; tests/image builds. Open this when one does not fit
the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from darbar_kit.settings import names
from darbar_local.commands import VERSION, command_parser
from darbar_local.operators.cluster import for_compose, new_secrets
from darbar_local.services import ALL
from darbar_local.settings import (
    GATEWAY_PREFIX,
    WEB_PREFIX,
    GatewaySettings,
    MigrateSettings,
    ProvisionSettings,
    ServeSettings,
    WebSettings,
)

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = re.compile(r"\$\{([A-Z_]+)(:-[^}]*)?\}")
SECRET = re.compile(r"- name: (DARBAR_[A-Z_]+)\n +valueFrom: \{secretKeyRef: (?!.*optional)")
INSTRUCTION = re.compile(r"^([A-Z]+) (.*)$", re.MULTILINE)


def dockerfile() -> list[tuple[str, str]]:
    return INSTRUCTION.findall((ROOT / "deploy/Dockerfile").read_text())


def composed() -> dict[str, Any]:
    return dict(msgspec.yaml.decode((ROOT / "deploy/compose.yaml").read_bytes()))


def test_the_images_are_on_one_base_ask_nobody_and_are_not_root() -> None:
    first, *stages = re.split(r"^(?=FROM )", (ROOT / "deploy/Dockerfile").read_text(), flags=re.MULTILINE)
    targets = dict(re.findall(r"^FROM (.*) AS (.*)$", stage, re.MULTILINE)[0][::-1] for stage in stages)

    assert "\nARG BASE=python:3.11.14-slim-bookworm\n" in first
    behind = dict.fromkeys(("compiled", "web-installed", "installed"), "${BASE}")
    assert targets == {**behind, "darbar-web": "compiled", "darbar": "compiled"}
    for name, stage in zip(targets, stages, strict=True):
        assert ("USER 10001:10001" in stage) == (name not in behind)
        assert ("RUN " in stage) == (name in behind)
        assert ("pip" in stage) == ("--no-index" in stage)
        assert not re.search(r"apt-get|curl|ADD |# syntax", stage)


def test_each_image_has_what_it_serves_and_nothing_else() -> None:
    stages = re.split(r"^FROM ", (ROOT / "deploy/Dockerfile").read_text(), flags=re.MULTILINE)[1:]
    copied = {stage.split()[2]: re.findall(r"^COPY (?!--from)(\S+)", stage, re.MULTILINE) for stage in stages}

    assert (copied["darbar"], copied["darbar-web"]) == (["docs/rules"], ["web/dist"])


def test_the_build_sees_only_what_the_image_takes() -> None:
    seen = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = {text.split()[0] for name, text in dockerfile() if name == "COPY" and not text.startswith("--from")}
    mounted = set(re.findall(r"--mount=type=bind,source=([^,]+),", (ROOT / "deploy/Dockerfile").read_text()))

    assert (ROOT / ".dockerignore").read_text().startswith("*\n")
    assert sorted(seen) == sorted(copied | mounted)


def test_every_package_of_the_project_is_in_the_image() -> None:
    script = (ROOT / "deploy/image.sh").read_text()
    for project in ROOT.glob("*/*/pyproject.toml"):
        assert project.parent.relative_to(ROOT).as_posix() in script


def test_compose_gives_each_service_the_settings_that_have_no_default() -> None:
    services = composed()["services"]
    for service in ALL:
        given = services[service.name]["environment"]
        fields = msgspec.structs.fields(service.settings_type)
        needed = {service.prefix + field.name.upper() for field in fields if field.required}
        known = {*names(service.settings_type, service.prefix), *names(ServeSettings, service.prefix)}
        assert needed <= given.keys() <= known, service.name
        assert given[f"{service.prefix}HTTP_HOST"] == "0.0.0.0"
    assert services["gateway"]["environment"].keys() <= set(names(GatewaySettings, GATEWAY_PREFIX))
    assert services["web"]["environment"].keys() <= set(names(WebSettings, WEB_PREFIX))


def test_compose_gives_each_service_every_secret_that_a_cluster_gives_it() -> None:
    """A service does without some of them, and so without what needs them."""
    services = composed()["services"]
    for service in ALL:
        manifest = (ROOT / f"deploy/k8s/base/{service.name}.yaml").read_text()
        secrets = set(SECRET.findall(manifest))
        assert secrets
        assert secrets <= services[service.name]["environment"].keys()


def test_compose_runs_commands_that_there_are_before_services_start() -> None:
    services = composed()["services"]
    with_database = [service for service in ALL if service.database]
    for service in with_database:
        job = services[f"migrations-{service.name}"]
        (line,) = job["command"]
        for command in line.split(" && "):
            command_parser().parse_args(command.split()[1:])
        types = (ProvisionSettings, MigrateSettings)
        known = {name for settings in types for name in names(settings, service.prefix)} | {"DATABASE_URL"}
        assert job["environment"].keys() == known
    for name in (*(service.name for service in ALL), "gateway"):
        command_parser().parse_args(services[name]["command"])
        waited = services[name]["depends_on"]
        assert {f"migrations-{service.name}" for service in with_database} <= waited.keys()


def test_compose_reads_only_variables_that_its_secrets_have() -> None:
    used = VARIABLE.findall((ROOT / "deploy/compose.yaml").read_text())
    told = for_compose(new_secrets(postgres="postgres", nats="nats"))
    made = set(re.findall(r"^([A-Z_]+)='", told, re.MULTILINE))

    assert {name for name, default in used if not default} <= made
    assert "'" not in re.sub(r"^[A-Z_]+='|'$", "", told, flags=re.MULTILINE)


def test_only_the_gateway_and_nothing_as_root_is_reached_from_outside() -> None:
    services = composed()["services"]
    own = {name: service for name, service in services.items() if service["image"].startswith("darbar")}

    assert [name for name, service in services.items() if "ports" in service] == ["gateway"]
    images = {name: service["image"] for name, service in own.items()}
    assert images == {name: f"darbar{'-web' if name == 'web' else ''}:{VERSION}" for name in own}
    for service in own.values():
        assert (service["user"], service["read_only"], service["cap_drop"]) == ("10001:10001", True, ["ALL"])
