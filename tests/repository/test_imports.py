"""The import contracts cover every package, and bite. Open this when `lint-imports` lets something through."""

from __future__ import annotations

import configparser
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from test_packages import packages
from tracked import ROOT

LINT_SECONDS_MAX = 60
# A package whose modules have no floors yet.
WITHOUT_A_PLAN = ("darbar_local",)
LINT = (sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")


def contracts() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    return parser


def words(value: str) -> set[str]:
    """The modules that a value names; `games.*` stands for any two."""
    named = {word for word in value.split() if word.startswith("darbar_")}
    any_two = {word.replace("*", some) for word in named if "*" in word for some in ("some", "other")}
    return {word for word in named if "*" not in word} | any_two


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """Empty packages and modules of every name that a contract speaks of."""
    parser = contracts()
    named = {word for section in parser.sections() for value in parser[section].values() for word in words(value)}
    packaged = {name.rpartition(".")[0] or name for name in named} | {name for name in named if "." not in name}
    services = words(parser["importlinter:contract:inside"]["containers"])
    layered = {f"{service}.{module}" for service in services for module in ("app", "http", "bus", "handlers", "store")}
    layered |= {module for floors in floor_plans() for floor in floors for module in floor}
    packaged |= {name.rpartition(".")[0] for name in layered}
    for package in packaged:
        write(tmp_path, package.replace(".", "/") + "/__init__.py", "")
    for module in (named | layered) - packaged:
        write(tmp_path, module.replace(".", "/") + ".py", "")
    write(tmp_path, ".importlinter", (ROOT / ".importlinter").read_text())
    return tmp_path


def floor_plans() -> list[list[list[str]]]:
    """The floors of every package whose contract names all its modules, from the top down."""
    sections = [section for section in contracts().values() if section.get("exhaustive")]
    return [
        [
            [f"{container}.{name.strip(' ()')}" for name in floor.split("|")]
            for floor in section["layers"].strip().splitlines()
        ]
        for section in sections
        for container in section["containers"].split()
    ]


def wrong_imports() -> list[tuple[str, str]]:
    """Each module of a floor plan with one from the floor above it, and with its neighbour on the same floor."""
    wrong: list[tuple[str, str]] = []
    for floors in floor_plans():
        wrong += [(module, above[0]) for above, floor in pairwise(floors) for module in floor]
        wrong += [pair for floor in floors for pair in pairwise(floor)]
    return wrong


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


def test_every_package_has_a_plan_of_its_floors() -> None:
    planned = {floors[0][0].rpartition(".")[0] for floors in floor_plans()}
    assert {package.module for package in packages()} - planned == set(WITHOUT_A_PLAN)


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
        ("darbar_table/handlers/planted.py", "darbar_table.http"),
        ("darbar_lobby/store.py", "darbar_lobby.handlers"),
        ("darbar_wallet/domain.py", "darbar_wallet.store"),
        ("darbar_wallet/bus.py", "darbar_wallet.app"),
        ("darbar_table/domain/planted.py", "darbar_kit.database"),
        ("darbar_lobby/domain.py", "asyncpg"),
        ("darbar_rules/games/some.py", "darbar_rules.games.other"),
    ],
)
def test_a_planted_import_breaks_a_contract(skeleton: Path, importer: str, imported: str) -> None:
    path = importer if importer.endswith(".py") else f"{importer}/planted.py"
    write(skeleton, path, f"import {imported}\n")
    done = lint(skeleton)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


def test_every_import_against_the_floors_is_found(skeleton: Path) -> None:
    wrong = wrong_imports()
    for importer, imported in wrong:
        path = importer.replace(".", "/")
        planted = f"{path}/__init__.py" if (skeleton / path).is_dir() else f"{path}.py"
        with (skeleton / planted).open("a") as file:
            file.write(f"import {imported}\n")
    done = lint(skeleton)
    said = " ".join(done.stdout.split())
    missed = [pair for pair in wrong if f"{pair[0]} is not allowed to import {pair[1]}:" not in said]
    assert len(wrong) >= 30
    assert not missed, done.stdout


def test_a_module_without_a_floor_is_found(skeleton: Path) -> None:
    packages_planned = [floors[0][0].rpartition(".")[0] for floors in floor_plans()]
    for package in packages_planned:
        write(skeleton, package.replace(".", "/") + "/unheard_of.py", "")
    done = lint(skeleton)
    assert done.returncode == 1
    assert not [package for package in packages_planned if f"- {package}.unheard_of" not in done.stdout]
