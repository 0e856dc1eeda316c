"""What deploy/k8s sets is what the services read. Open this after adding a setting: it needs a line there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tracked import ROOT, expect_none

from darbar_kit.settings import names
from darbar_local.services import ALL, Service
from darbar_local.settings import ServeSettings

BASE = ROOT / "deploy/k8s/base"
IN_FILE = re.compile(r"^(DARBAR_[A-Z_]+)=", re.MULTILINE)
IN_MANIFEST = re.compile(r"- name: (DARBAR_[A-Z_]+)$", re.MULTILINE)


def differences(service: Service, given: list[str]) -> Iterator[str]:
    known = [*names(service.settings_type, service.prefix), *names(ServeSettings, service.prefix)]
    place = f"deploy/k8s/base/settings/{service.name}.env, or as a secret {service.name}.yaml,"
    yield from (f"{place} has no {name}" for name in known if name not in given)
    yield from (f"{place} has {name}, which {service.name} does not read" for name in given if name not in known)


def given_to(service: Service) -> list[str]:
    manifest = (BASE / f"{service.name}.yaml").read_text()
    shared = "terms.env" if "{name: terms}" in manifest else ""
    files = [f"{service.name}.env", *([shared] if shared else [])]
    found = [name for file in files for name in IN_FILE.findall((BASE / "settings" / file).read_text())]
    return found + IN_MANIFEST.findall(manifest)


@pytest.mark.parametrize("service", ALL, ids=lambda service: service.name)
def test_a_cluster_sets_every_setting_of_a_service_and_no_other(service: Service) -> None:
    given = given_to(service)
    assert len(given) == len(set(given))
    expect_none(differences(service, given))


def test_a_missing_and_a_misspelt_setting_are_found() -> None:
    (bot,) = [service for service in ALL if service.name == "bot"]
    given = [name.replace("WORKERS", "WORKER") for name in given_to(bot)]

    missing, unknown = differences(bot, given)

    assert "has no DARBAR_BOT_WORKERS" in missing
    assert "DARBAR_BOT_WORKER," in unknown
