"""Compiles what bots search with: a copy of the bots' package with compiled kernels in it. Open this about their speed.

    python libs/bots/compile_kernels.py [FOLDER]

FOLDER (build/kernels when it is left out) then has `darbar_bots`; a program that has it first on PYTHONPATH uses it and
decides the same, only sooner. Nothing else imports it. It takes a C compiler, Python's headers and setuptools: where
one is missing this says so, makes nothing, and ends with code 2.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().with_name("darbar_bots")
FOLDER: Final = PACKAGE.parents[2] / "build/kernels"
KERNELS: Final = ("playouts.py", "worlds.py", "*/playout.py")
LEFT_OUT: Final = 2


def missing() -> list[str]:
    """What compiling needs and this machine has not."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    headers = Path(sysconfig.get_path("include"), "Python.h")
    needed = {
        f"a C compiler ({compiler})": shutil.which(compiler) is not None,
        f"Python's headers ({headers.name})": headers.exists(),
        "setuptools": find_spec("setuptools") is not None,
        "mypyc": find_spec("mypyc") is not None,
    }
    return [what for what, is_there in needed.items() if not is_there]


def compile_into(folder: Path) -> list[Path]:
    """The compiled modules. Raises CalledProcessError, after the compiler has said what it does not like."""
    shutil.rmtree(folder, ignore_errors=True)
    copy = folder / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    kernels = sorted(str(path.relative_to(folder)) for pattern in KERNELS for path in copy.glob(pattern))
    # Without the settings of this repository, which would have the sources checked and not the copies.
    (folder / "mypy.ini").write_text("[mypy]\nexplicit_package_bases = true\n")
    command = [sys.executable, "-m", "mypyc", "--config-file", "mypy.ini", *kernels]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return sorted(copy.rglob("*.so"))


def main() -> int:
    folder = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else FOLDER
    if lacks := missing():
        sys.stderr.write(f"kernels: left out; not here: {', '.join(lacks)}\n")
        return LEFT_OUT
    compiled = compile_into(folder)
    sys.stdout.write(f"kernels: {len(compiled)} modules compiled into {folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
