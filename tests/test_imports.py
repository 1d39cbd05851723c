"""What is light stays light: the package's import and the command line's help."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

HEAVY = ("jax", "torch", "ray", "matplotlib", "pygame", "numba", "av", "stable_baselines3")


def loaded_after(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after `statement`."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        .stdout.splitlines()[-1]
        .split()
    )


@pytest.mark.parametrize(
    "statement",
    ["import interplay", "import interplay; interplay.list_worlds()", "import interplay.cli.main"],
)
def test_light_imports_load_nothing_heavy(statement):
    assert not loaded_after(statement) & set(HEAVY)


@pytest.mark.parametrize("module", ["interplay.registry", "interplay.evaluate", "interplay.view.video"])
def test_only_train_imports_jax_and_only_connect_its_neighbours(module):
    assert not loaded_after(f"import {module}") & {"jax", "torch", "stable_baselines3", "matplotlib"}


def test_the_viewer_starts_without_the_settings_of_training():
    code = "import sys, interplay.view.server.app, interplay.verbs.viewing; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "interplay.view.server.sources" in loaded
    assert not {"jax", "numba", "interplay.train.settings"} & set(loaded.split())


def test_help_loads_nothing_beside_the_library_that_reads_the_command_line():
    code = "import sys, runpy; sys.argv = ['interplay', '--help']\ntry: runpy.run_module('interplay.cli')\nexcept SystemExit: pass"
    of_help = loaded_after(code) - sys.stdlib_module_names
    assert of_help - loaded_after("import typer") == {"interplay"}


def test_the_page_of_the_house_names_the_layers_that_imports_are_held_to():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [name.strip() for layer in contracts[0]["layers"] for name in layer.split("|")]
    rooms = [name.removeprefix("interplay.") for name in layers]
    package = ROOT / "interplay"
    there = {p.stem for p in package.iterdir() if p.name[0] not in "_." and p.suffix in ("", ".py")}
    assert set(rooms) == there
    picture = (ROOT / "docs/images/rooms.svg").read_text()
    assert re.findall(r'font-weight="600">(\w+)<', picture) == rooms
    page = (ROOT / "docs/architecture.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, flags=re.M)) == there
    for room, files in re.findall(r"^\| `(\w+)` \|[^|]*\| (.*?) ?\|$", page, flags=re.M):
        assert all((package / room / name).exists() for name in re.findall(r"`([\w/]+\.py)`", files)), room
