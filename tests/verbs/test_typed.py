"""A user's script under ``mypy --strict``: every mistake is found, and nothing else is blamed; what the run says of the rest."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import interplay
from interplay.train.settings import TrainSettings
from interplay.train.settings.train import SettingsKeywords

pytestmark = pytest.mark.slow

SCRIPT = '''\
"""Trains, measures and shows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay import Run
from interplay.evaluate import play
from interplay.train.settings import TrainSettings


def on_update(run: Run, numbers: Mapping[str, Any]) -> bool:
    print(run.folder, numbers["agent_steps"])
    return bool(numbers["agent_steps"] > 1_000)


def main(folder: Path) -> None:
    run = interplay.train("dilemma/fixed", folder, steps=2_000, on_update=on_update, ppo={"clip": 0.1})
    settings: TrainSettings = run.settings
    steps: np.ndarray[Any, Any] = run.metrics["agent_steps"]
    table = run.evaluate(episodes=4)
    print(settings.seed, steps[-1], table.summary()["return"].mean)
    interplay.train("dilemma/fixed", steps="many")  # MISTAKE 1
    interplay.train("dilemma/fixed", stpes=3)  # MISTAKE 2
    interplay.train("dilemma/fixed", ppo=0.1)  # MISTAKE 3
    run.evaluate(episods=20)  # MISTAKE 4
    run.record(frame=3)  # MISTAKE 5
    interplay.train("dilemma/fixed", league={"period": 1}, world={"options": {}}, algorithm="ppo")
    learnt = run.evaluate(at_checkpoints=True)["agent_steps"]
    policy = interplay.load_policy(run.folder, greedy=True)
    policy.export(3)  # MISTAKE 8
    policy.look({}, agent=3)  # MISTAKE 9
    policy.to_numpy(3)  # MISTAKE 10
    env = interplay.make("dilemma/fixed")
    observations, infos = env.reset(seed=1)
    actions = policy.act(observations, infos)
    print(actions, policy.look(observations["agent0"]).probabilities.shape)
    run.polcy()  # MISTAKE 6
    media = interplay.record(run, folder / "episode.mp4", every=2)
    length: int = media.path  # MISTAKE 7
    world = interplay.make_world("dilemma/fixed", num_worlds=4)
    print(learnt, length, len(play(world, interplay.make_policy(world, "random"), episodes=4)))
    print(interplay.tournament([folder, "random"], matches=2), interplay.evaluate(policy).seed)


main(Path("runs/first"))
'''


ROOT = Path(__file__).parents[2]
# Pages whose examples are scripts of users; those of the others hold untyped neighbours or reach into one world.
PAGES = (
    "matrix-games",
    "pictures",
    "pommerman",
    "python",
    "quickstart",
    "self-play",
    "survival",
    "talk",
    "tournaments",
    "train",
)


def checked(folder: Path, *names: str) -> str:
    """What mypy says of scripts in a folder; the package is followed as an installed one is: errors inside of it are not the user's."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--follow-imports", "silent"]
    done = subprocess.run(
        [*command, "--cache-dir", str(folder / "cache"), *names],
        cwd=folder,
        env={"MYPYPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_a_script_with_mistakes_has_those_and_no_other(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    said = checked(tmp_path, "script.py")
    found = [int(line) for line in re.findall(r"^script\.py:(\d+): error", said, re.MULTILINE)]
    planted = [number for number, line in enumerate(SCRIPT.splitlines(), 1) if "MISTAKE" in line]
    assert len(planted) == 10
    assert found == planted, said
    assert (ROOT / "interplay" / "py.typed").exists()


def test_examples_of_the_pages_have_no_mistake(tmp_path):
    names = []
    for page in PAGES:
        blocks = re.findall(
            r"^```python\n(.*?)^```$", (ROOT / "docs" / f"{page}.md").read_text(), re.M | re.S
        )
        plain = [block for block in blocks if ">>>" not in block]
        assert plain, page
        names.append(f"page_{page.replace('-', '_')}.py")
        (tmp_path / names[-1]).write_text("\n".join(plain))
    assert checked(tmp_path, *names) == ""


def test_groups_are_the_settings_that_are_no_argument():
    arguments = set(inspect.signature(interplay.train).parameters) - {"world", "train"}
    assert set(SettingsKeywords.__annotations__) == set(TrainSettings.model_fields) - arguments


@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_help_of_a_package_that_is_called_shows_the_arguments(name):
    text = pydoc.plain(pydoc.render_doc(getattr(interplay, name)))
    for argument in inspect.signature(getattr(interplay, name)).parameters.values():
        call = text.partition("PACKAGE CONTENTS")[0].partition("Args:")[0]
        assert re.search(rf"[(, ]{argument.name}[,=)]", call)
