"""The rules stand alone: built, installed and imported with nothing else. Open this when they need a friend."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tracked import ROOT

BUILD_SECONDS_MAX = 120
IMPORT_SECONDS_MAX = 30

# Imports every module but those that are for tests and need hypothesis, and prints where all of it came from.
IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
import darbar_rules
for module in pkgutil.walk_packages(darbar_rules.__path__, "darbar_rules."):
    if not module.name.endswith((".testing", ".indistinguishable")):
        importlib.import_module(module.name)
from darbar_rules.games import ALL
print(*(game.name for game in ALL), sep="\\n")
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the installed rules and nothing else."""
    target = tmp_path_factory.mktemp("rules")
    alone = ["--no-deps", "--no-index", "--no-build-isolation", "--no-compile", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", *alone, "--target", str(target), "libs/rules"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=BUILD_SECONDS_MAX, stdin=subprocess.DEVNULL)
    return target


def run_alone(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python without the environment, the user's packages and the site's packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=IMPORT_SECONDS_MAX,
        check=False,
    )


def test_the_rules_import_with_nothing_else_installed(installed: Path) -> None:
    done = run_alone(IMPORT_ALL, str(installed))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()


def test_the_installed_rules_are_all_that_was_installed(installed: Path) -> None:
    found = {path.name for path in installed.iterdir()}
    assert {name for name in found if not name.endswith(".dist-info")} == {"darbar_rules"}


def test_nothing_else_can_be_imported_there(installed: Path) -> None:
    done = run_alone("import sys; sys.path.insert(0, sys.argv[1]); import msgspec", str(installed))
    assert "No module named 'msgspec'" in done.stderr
