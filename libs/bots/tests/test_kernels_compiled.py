"""Kernels are compiled only where that can be done. Open this when compiling them leaves something half done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[1] / "compile_kernels.py"


def test_where_there_is_no_compiler_it_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert "left out" in ran.stderr
    assert "a C compiler" in ran.stderr
    assert not folder.exists()
