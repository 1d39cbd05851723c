"""Kernels that come with the package: used without compiling, never written to, never used where they do not fit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interplay.core import shipped
from interplay.core.kernel_cache import made_with

pytestmark = pytest.mark.slow

# A package's kernels, as a wheel would bring them; then the count of compilations.
PLAY = (
    "from pathlib import Path\nfrom interplay.core import shipped\n"
    "shipped.FOLDER = Path('compiled').resolve()\n"
    "from interplay.core import jit\n"
    "class Count(jit.event.Listener):\n    n = 0\n"
    "    def on_start(self, event): Count.n += 1\n    def on_end(self, event): pass\n"
    "jit.event.register('numba:compile', Count())\n"
    "import acting; print(acting.act(2.0), Count.n)\n"
)


def play(folder: Path, cache: str = "cache") -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", PLAY],
        cwd=folder,
        env={**os.environ, "INTERPLAY_CACHE": str(folder / cache), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a module, and its compiled kernel as a wheel would bring it."""
    (tmp_path / "acting.py").write_text(
        "from interplay.core.jit import kernel\nFACTOR = 2.0\n@kernel\ndef act(x):\n    return x * FACTOR + 1.0\n"
    )
    assert play(tmp_path, "first").stdout == "5.0 1\n"
    shutil.copytree(tmp_path / "first" / "kernels", tmp_path / "compiled")
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_packages_kernels_are_loaded_and_nothing_is_written(package):
    before = files(package / "compiled")
    done = play(package)
    assert (done.stdout, done.stderr) == ("5.0 0\n", "")
    assert not files(package / "cache")
    assert files(package / "compiled") == before


def test_they_are_loaded_also_where_no_cache_can_be_kept(package):
    (package / "cache").mkdir()
    (package / "cache").chmod(0o777)
    assert play(package).stdout == "5.0 0\n"


def test_an_edited_constant_makes_them_unfit(package):
    acting = package / "acting.py"
    acting.write_text(acting.read_text().replace("2.0\n", "3.0\n"))
    assert play(package).stdout == "7.0 1\n"
    assert play(package).stdout == "7.0 0\n"  # from the user's own cache then


@pytest.mark.parametrize("damage", ["cut", "planted"])
def test_a_damaged_one_is_said_left_as_it_is_and_compiled(package, damage):
    (entry,) = (package / "compiled").rglob("*.kernel")
    entry.write_bytes(entry.read_bytes()[:100] if damage == "cut" else b"planted")
    before = files(package / "compiled")
    done = play(package)
    assert done.stdout == "5.0 1\n"
    assert done.stderr.count("install the package again") == 1
    assert files(package / "compiled") == before


def test_other_versions_are_named(monkeypatch, tmp_path):
    here = made_with()
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    shipped.shipped_with.cache_clear()
    assert shipped.why_unfit(here) is None  # a checkout
    shipped.shipped_with.cache_clear()
    (tmp_path / shipped.INDEX).write_text(json.dumps({"made_with": {**here, "Numba": "0.1"}}))
    said = shipped.why_unfit(here)
    shipped.shipped_with.cache_clear()
    assert said is not None
    assert "Numba 0.1" in said
    assert f"here is Numba {here['Numba']}" in said
    (tmp_path / shipped.INDEX).write_text(json.dumps({"made_with": here}))
    assert shipped.why_unfit(here) is None
    shipped.shipped_with.cache_clear()


@pytest.mark.parametrize("text", ["{}", '{"made_with": 5}', '{"made_with": {"Numba": 1}}', "[1]", "{", ""])
def test_a_damaged_index_is_one_line(monkeypatch, tmp_path, caplog, text):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    (tmp_path / shipped.INDEX).write_text(text)
    shipped.shipped_with.cache_clear()
    assert [shipped.why_unfit(made_with()) for _ in range(2)] == [None, None]  # as in a checkout
    shipped.shipped_with.cache_clear()
    (record,) = caplog.records
    said = record.getMessage()
    assert "index.json is damaged (" in said
    assert said.endswith("; install the package again")
    assert "\n" not in said


def test_what_kernels_are_made_with_tells_releases_that_matter():
    here = made_with()
    assert sys.implementation.cache_tag in here["Python"]
    assert here["NumPy"].count(".") == 1
