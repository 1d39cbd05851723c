"""`interplay tournament --merge` with trained homes: whole ones live together, a damaged or foreign one is one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from interplay.cli.main import run
from interplay.verbs import tournament_kinds
from tests.cli.command import refusal, typed

pytestmark = pytest.mark.slow

MERGE = ("--merge", "--world", "mmo/forage", "--option", "interior=20", "--caps", "8", "--matches", "1", "--window", "30",
         "--horizon", "30")  # fmt: skip


def train_home(out: Path, npop: int, *options: str) -> Path:
    """A home as short as can be."""
    words = [f"world.options.{option}" for option in (f"npop={npop}", "slots=8", "interior=20", *options)]
    begin = ["train", "mmo/forage", "--steps", "1", "--num-worlds", "2", "--workers", "1", "--out", str(out)]
    assert run([*begin, *words]) == 0
    return out


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("homes")
    return {
        "one": train_home(folder / "one", 1),
        "two": train_home(folder / "two", 2),
        "blind": train_home(folder / "blind", 1, "occupancy=false"),
    }


def damaged(run: Path, out: Path, name: str, length: int | None) -> Path:
    """A copy of a run in which a population's file is torn, or missing where no length is given."""
    shutil.copytree(run, out)
    (file,) = out.glob(f"checkpoints/[0-9]*/{name}")
    if length is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:length])
    shutil.rmtree(out / "checkpoints" / "best", ignore_errors=True)
    return out


def test_trained_homes_of_different_size_live_together(capsys, tmp_path, homes):
    out = tmp_path / "merges"
    code, said, errors = typed(
        capsys, "tournament", f"a={homes['one']}", f"b={homes['two']}", *MERGE, "--out", out
    )
    assert code == 0, errors
    assert "mean life beside another home, 8 places" in said
    cells = json.loads((out / "ratings.json").read_text())["cells"]
    assert {(cell["home"], cell["other"]) for cell in cells} == {
        ("a", "a"),
        ("a", "b"),
        ("b", "a"),
        ("b", "b"),
    }


def test_of_the_options_of_the_first_run_those_stay_that_merged_worlds_have(homes):
    """Places and populations are the tournament's own affair."""
    values = {"world": "", "options": {}, "seed": 0, "greedy": False, "caps": (8,), "maps": 1}
    kind = tournament_kinds.merge([f"a={homes['one']}", f"b={homes['two']}"], values)
    settings, policies = kind.run.args
    assert (settings.world, settings.options) == ("mmo/forage", {"interior": 20})
    assert settings.populations == (1, 2)
    assert [len(home) for home in policies] == [1, 1]


@pytest.mark.parametrize("length", [None, 100])
def test_a_population_whose_file_is_missing_or_torn_is_named(capsys, tmp_path, homes, length):
    home = damaged(homes["two"], tmp_path / "home", "policy-pop1.safetensors", length)
    code, _, errors = typed(
        capsys, "tournament", f"a={home}", f"b={homes['one']}", *MERGE, "--out", tmp_path / "cup"
    )
    assert code == 2
    assert "policy-pop1.safetensors" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "cup").exists()


def test_homes_that_see_otherwise_are_not_merged(capsys, tmp_path, homes):
    said = refusal(
        capsys, "tournament", f"a={homes['blind']}", f"b={homes['one']}", *MERGE, "--out", tmp_path / "cup"
    )
    assert "occupancy" in said
    assert str(homes["blind"]) in said
