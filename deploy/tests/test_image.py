"""The image and compose.yaml: what can be known without building, and a build where a builder runs. Open this when a
container does not start."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from darbar_kit.settings import names
from darbar_local.commands import VERSION, command_parser
from darbar_local.operators.cluster import for_compose, new_secrets
from darbar_local.services import ALL
from darbar_local.settings import GATEWAY_PREFIX, GatewaySettings, MigrateSettings, ProvisionSettings, ServeSettings

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = re.compile(r"\$\{([A-Z_]+)(:-[^}]*)?\}")
INSTRUCTION = re.compile(r"^([A-Z]+) (.*)$", re.MULTILINE)
LOOK_SECONDS_MAX = 20
BUILD_SECONDS_MAX = 900


def dockerfile() -> list[tuple[str, str]]:
    return INSTRUCTION.findall((ROOT / "deploy/Dockerfile").read_text())


def composed() -> dict[str, Any]:
    return dict(msgspec.yaml.decode((ROOT / "deploy/compose.yaml").read_bytes()))


def test_the_image_is_small_asks_nobody_and_is_not_root() -> None:
    instructions = dockerfile()

    assert instructions[0] == ("ARG", "BASE=python:3.11.14-slim-bookworm")
    assert [text for name, text in instructions if name == "FROM"] == ["${BASE} AS installed", "${BASE}"]
    assert ("USER", "10001:10001") in instructions
    text = (ROOT / "deploy/Dockerfile").read_text()
    assert "--no-index --no-deps" in text
    assert not re.search(r"apt-get|curl|ADD |# syntax", text)


def test_the_build_sees_only_what_the_image_takes() -> None:
    seen = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [text.split()[0] for name, text in dockerfile() if name == "COPY" and not text.startswith("--from")]

    assert (ROOT / ".dockerignore").read_text().startswith("*\n")
    assert sorted(seen) == sorted(copied)


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
    own = {name: service for name, service in services.items() if service["image"].startswith("darbar:")}

    assert [name for name, service in services.items() if "ports" in service] == ["gateway"]
    assert {service["image"] for service in own.values()} == {f"darbar:{VERSION}"}
    for service in own.values():
        assert (service["user"], service["read_only"], service["cap_drop"]) == ("10001:10001", True, ["ALL"])


@pytest.mark.timeout(BUILD_SECONDS_MAX + 60)
def test_the_image_is_built_and_every_service_starts_in_it_and_says_what_it_misses() -> None:
    builder = running_builder()
    if builder is None:
        pytest.skip("NO IMAGE WAS BUILT: neither a running docker nor buildah is here, or the base can't be pulled")
    subprocess.run(["bash", str(ROOT / "deploy/image.sh"), "darbar:tested"], check=True, timeout=BUILD_SECONDS_MAX)
    for service in ALL:
        command = [builder, "run", "--rm", "--read-only", "darbar:tested", "serve", service.name]
        started = subprocess.run(command, capture_output=True, text=True, timeout=LOOK_SECONDS_MAX, check=False)
        assert started.returncode == 7, started.stderr
        assert f"{service.prefix}NATS_URL is missing" in started.stderr


def running_builder() -> str | None:
    """Docker, when it runs; its base image is pulled by name, which needs a network."""
    program = shutil.which("docker")
    if program is None:
        return None
    told = subprocess.run([program, "info"], capture_output=True, timeout=LOOK_SECONDS_MAX, check=False)
    return program if told.returncode == 0 else None
