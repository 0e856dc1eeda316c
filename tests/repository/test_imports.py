"""The import contracts cover every package, and bite. Open this when `lint-imports` lets something through."""

from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

import pytest
from test_packages import packages
from tracked import ROOT

LINT_SECONDS_MAX = 60
LINT = (sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")


def contracts() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return parser


def words(value: str) -> set[str]:
    return {word for word in value.split() if word.startswith("darbar_")}


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """Empty packages and modules of every name that a contract speaks of."""
    parser = contracts()
    named = {word for section in parser.sections() for value in parser[section].values() for word in words(value)}
    packaged = {name.rpartition(".")[0] or name for name in named} | {name for name in named if "." not in name}
    services = words(parser["importlinter:contract:inside"]["containers"])
    layered = {f"{service}.{module}" for service in services for module in ("app", "http", "bus", "handlers", "store")}
    for package in packaged:
        write(tmp_path, package.replace(".", "/") + "/__init__.py", "")
    for module in (named | layered) - packaged:
        write(tmp_path, module.replace(".", "/") + ".py", "")
    write(tmp_path, ".importlinter", (ROOT / ".importlinter").read_text())
    return tmp_path


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """From that folder, so that its packages are found before the real ones."""
    return subprocess.run(
        [*LINT, "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LINT_SECONDS_MAX,
        check=False,
    )


def test_every_package_is_under_contract() -> None:
    parser = contracts()
    modules = {package.module for package in packages()}
    assert words(parser["importlinter"]["root_packages"]) == modules
    services = {package.module for package in packages() if package.files[0].path.startswith("services/")}
    assert words(parser["importlinter:contract:inside"]["containers"]) == services


def test_empty_packages_break_no_contract(skeleton: Path) -> None:
    done = lint(skeleton)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("darbar_rules", "darbar_contracts"),
        ("darbar_rules", "msgspec"),
        ("darbar_bots", "darbar_contracts"),
        ("darbar_bots", "msgspec"),
        ("darbar_contracts", "darbar_kit"),
        ("darbar_kit", "darbar_rules"),
        ("darbar_client", "darbar_kit"),
        ("darbar_table", "darbar_lobby"),
        ("darbar_lobby", "darbar_wallet"),
        ("darbar_wallet", "darbar_bot"),
        ("darbar_bot", "darbar_table"),
        ("darbar_table", "darbar_bots"),
        ("darbar_lobby", "darbar_client"),
        ("darbar_wallet", "darbar_local"),
        ("darbar_table/handlers.py", "darbar_table.http"),
        ("darbar_lobby/store.py", "darbar_lobby.handlers"),
        ("darbar_wallet/domain.py", "darbar_wallet.store"),
        ("darbar_wallet/bus.py", "darbar_wallet.app"),
        ("darbar_table/domain.py", "darbar_kit.database"),
        ("darbar_lobby/domain.py", "asyncpg"),
    ],
)
def test_a_planted_import_breaks_a_contract(skeleton: Path, importer: str, imported: str) -> None:
    path = importer if importer.endswith(".py") else f"{importer}/planted.py"
    write(skeleton, path, f"import {imported}\n")
    done = lint(skeleton)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout
