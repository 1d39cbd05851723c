"""Algorithms: a further built-in one needs two files; a user-defined one learns, and its faults are named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest

from examples.own_algorithm import Hysteretic
from interplay.core.errors import UserError
from interplay.train.advantage import Returns
from interplay.train.algorithms import Algorithm, Segments, make_algorithm
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.train.runs import log_of, short_run
from tests.train.toy_worlds import make_corridor

pytestmark = pytest.mark.slow

OWN = "examples.own_algorithm:Hysteretic"


def settings_of(algorithm: str = OWN, **own: Any) -> TrainSettings:
    values = {
        "num_worlds": 32,
        "algorithm": algorithm,
        "train": {"max_updates": 4},
        "network": {"hidden": [16]},
    }
    return short_run("corridor", values, **own)


def test_the_example_learns(tmp_path: Path) -> None:
    own = {"train": {"shards": 2, "max_updates": 24, "checkpoint_seconds": 1000.0}}
    log = log_of(train(settings_of(**own), tmp_path / "run", make_corridor))
    returns = [line["episode_return"] for line in log if "episode_return" in line]
    assert returns[-1] > 0.55  # the best is 0.6
    assert returns[0] < 0.0  # what began with chance; later windows have learned before they end
    rates = [line["rates"]["learning_rate"] for line in log]
    assert rates[0] == pytest.approx(1e-2)
    assert rates[-1] == pytest.approx(1e-2 / 24)


class Lazy(Algorithm):
    """Has no loss."""


class Foreign:
    """Is no subclass."""

    def __init__(self, settings: TrainSettings) -> None: ...


class Late(Hysteretic):
    """Gives what the last steps were worth alone."""

    def estimate(self, segments: Segments) -> Returns:
        return Returns(*(part[-1:] for part in super().estimate(segments)))


class Rooted(Hysteretic):
    """Takes a root that there is not."""

    def estimate(self, segments: Segments) -> Returns:
        found = super().estimate(segments)
        return found._replace(target=jnp.sqrt(found.target - 100.0))


class Uneven(Hysteretic):
    """Memory would be learnt through 16 of 24 steps."""

    rollout = 24


def test_sequences_of_an_own_algorithm_divide_its_rollout() -> None:
    settings = settings_of("tests.train.test_algorithms:Uneven", network={"kind": "mlp", "memory": "gru"})
    with pytest.raises(UserError, match="its sequence = 16 does not divide its rollout = 24"):
        make_algorithm(settings)
    make_algorithm(settings_of("tests.train.test_algorithms:Uneven"))  # nobody reads it


def function(settings: TrainSettings) -> None: ...


def test_an_own_algorithm_that_fails_in_its_import_is_one_line(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "lame_rule.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"algorithm = lame_rule:Mine: .*ZeroDivisionError"):
        make_algorithm(settings_of("lame_rule:Mine"))


def test_a_file_that_names_an_algorithm_names_a_program() -> None:
    names = dict(settings_of().code_names())
    assert names["algorithm"] == OWN
    assert "algorithm_options" in names
    assert "algorithm" not in dict(settings_of("ppo").code_names())


PACKAGE = Path(__file__).parents[2] / "interplay"
THROWAWAY = '''
from interplay.train.algorithms.a2c import A2c


class Throwaway(A2c):
    """The actor-critic with twice the bonus of entropy."""

    def entropy_coefficient(self, rates):
        return 2.0 * rates["entropy_coefficient"]
'''
GROUP = """
class ThrowawayGroup(ActorCriticGroup):
    implementation = "interplay.train.algorithms.throwaway:Throwaway"


class AlgorithmSettings(RunSettings):
"""


def test_a_further_built_in_algorithm_is_its_file_and_a_group_in_the_list(tmp_path: Path) -> None:
    copy = tmp_path / "interplay"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "static", "web"))
    (copy / "train/algorithms/throwaway.py").write_text(THROWAWAY)
    listed = copy / "train/settings/algorithms.py"
    text = listed.read_text().replace("class AlgorithmSettings(RunSettings):\n", GROUP)
    last = "    qmix: QmixGroup = QmixGroup()\n"
    listed.write_text(text.replace(last, f"{last}    throwaway: ThrowawayGroup = ThrowawayGroup()\n"))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from interplay.cli.main import main; main()", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)

    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    asked = ["train", "dilemma/fixed", "network.kind=mlp", "throwaway.rollout=8", "--out", "run"]
    refused = run(*asked)
    assert refused.returncode == 2
    assert "throwaway.rollout = 8 is not read by algorithm = ppo" in refused.stderr
    done = run(*asked, "algorithm=throwaway", "--steps", "2048", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert tomllib.loads((tmp_path / "run/settings.toml").read_text())["throwaway"]["rollout"] == 8
    done = run("resume", "run", "--steps", "4096")
    assert done.returncode == 0, done.stderr
    assert log_of(tmp_path / "run")[-1]["agent_steps"] >= 4096
