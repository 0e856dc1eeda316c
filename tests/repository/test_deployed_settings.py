"""What deploy/k8s sets is what the services read. Open this after adding a setting: it needs a line there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tracked import ROOT, expect_none

from darbar_kit.settings import names
from darbar_local.services import ALL
from darbar_local.settings import WEB_PREFIX, ServeSettings, WebSettings

BASE = ROOT / "deploy/k8s/base"
IN_FILE = re.compile(r"^(DARBAR_[A-Z_]+)=", re.MULTILINE)
IN_MANIFEST = re.compile(r"- name: (DARBAR_[A-Z_]+)$", re.MULTILINE)
KNOWN = {
    service.name: [*names(service.settings_type, service.prefix), *names(ServeSettings, service.prefix)]
    for service in ALL
} | {"web": names(WebSettings, WEB_PREFIX)}


def differences(service: str, given: list[str]) -> Iterator[str]:
    place = f"deploy/k8s/base/settings/{service}.env, or as a secret {service}.yaml,"
    yield from (f"{place} has no {name}" for name in KNOWN[service] if name not in given)
    yield from (f"{place} has {name}, which {service} does not read" for name in given if name not in KNOWN[service])


def given_to(service: str) -> list[str]:
    manifest = (BASE / f"{service}.yaml").read_text()
    shared = "terms.env" if "{name: terms}" in manifest else ""
    files = [f"{service}.env", *([shared] if shared else [])]
    found = [name for file in files for name in IN_FILE.findall((BASE / "settings" / file).read_text())]
    return found + IN_MANIFEST.findall(manifest)


@pytest.mark.parametrize("service", KNOWN)
def test_a_cluster_sets_every_setting_of_a_service_and_no_other(service: str) -> None:
    given = given_to(service)
    assert len(given) == len(set(given))
    expect_none(differences(service, given))


def test_a_missing_and_a_misspelt_setting_are_found() -> None:
    given = [name.replace("WORKERS", "WORKER") for name in given_to("bot")]

    missing, unknown = differences("bot", given)

    assert "has no DARBAR_BOT_WORKERS" in missing
    assert "DARBAR_BOT_WORKER," in unknown
