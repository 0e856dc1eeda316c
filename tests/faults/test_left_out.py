"""What can't be tried on a machine is told, fault by fault and as a number."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_disks
from fault_run import Count
from full_disks import FULL_DISKS
from small_disks import NoSmallDisk, small_disk


def test_faults_that_were_left_out_are_named_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    count = Count()
    count.leave_out(FULL_DISKS, "no small disk can be mounted here")
    count.told()
    lines = capsys.readouterr().out.splitlines()
    for name in FULL_DISKS:
        assert any(line.startswith(name) and line.endswith("LEFT OUT") for line in lines), name
    assert lines[-1].split(maxsplit=1) == [
        str(len(FULL_DISKS)),
        "faults LEFT OUT: no small disk can be mounted here",
    ]


def test_a_run_that_tried_everything_says_that_nothing_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Count().told()
    assert capsys.readouterr().out.splitlines()[-1].strip() == "0 faults LEFT OUT"


def test_a_disk_that_can_not_be_mounted_is_told_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_disks, "DISK_BYTES", "many")
    with pytest.raises(NoSmallDisk, match="no small disk can be mounted here"), small_disk(tmp_path / "disk"):
        pass
