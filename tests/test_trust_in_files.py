"""Small versions of `bench.trust_damaged_files` and `bench.trust_disk`, with fixed seeds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench import trust_damaged_files, trust_disk

DAMAGES = 60  # of each kind of file
CUTS = 4  # of each writer


@pytest.mark.parametrize("name", trust_damaged_files.SUBJECTS)
def test_damaged_files_are_refused_or_equal_in_meaning(tmp_path: Path, name: str) -> None:
    before = trust_damaged_files.grown()
    counts, faults = trust_damaged_files.count_damage(name, DAMAGES, 3, tmp_path)
    assert faults == []
    assert counts["refused"] > DAMAGES // 4
    assert trust_damaged_files.grown() - before < trust_damaged_files.MEMORY


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
@pytest.mark.parametrize("name", trust_disk.writers())
def test_a_failing_disk_leaves_what_was_there(tmp_path: Path, name: str) -> None:
    found = trust_disk.fail(name, trust_disk.writers()[name], CUTS, tmp_path)
    assert set(found) <= {"refused", "went through"}
    assert found["refused"] >= 1
