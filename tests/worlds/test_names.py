"""``from interplay.worlds import ...``: every name of the table is there, and nothing is imported before it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from interplay import worlds


@pytest.mark.parametrize("name", worlds._MODULE_OF)
def test_every_name_is_a_class_of_that_name(name):
    assert getattr(worlds, name).__name__ == name
    assert name in dir(worlds)


def test_other_names_are_no_attributes():
    with pytest.raises(ImportError, match="MultiCorrido"):
        from interplay.worlds import MultiCorrido  # noqa: F401


def test_the_package_imports_no_world():
    code = "import sys, interplay.worlds; print(*[m for m in sys.modules if m.startswith(('interplay.worlds.', 'interplay.sim'))])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == ""
    )
