"""Every key of an experiment arrives where it counts, and the smallest values that are taken are the smallest that make sense."""

from __future__ import annotations

from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.experiment import params as keys
from interplay.experiment.algorithms import KEEP_ALL, NEVER, UNLIMITED, settings_of
from interplay.experiment.assignment import assign
from interplay.experiment.params import read_params
from interplay.experiment.worlds import make_world
from interplay.train.settings import TrainSettings
from tests.experiment.corridors import changed, corridor, params

# Key of ray_tune, value, where it stands in the settings of the run, what stands there then.
SAID = [
    ("run_or_experiment", "A2C", "algorithm", "a2c"),
    ("run_or_experiment", "A2C", "a2c.rollout", 32),
    ("run_or_experiment", "PPO", "ppo.epochs", 10),
    ("stop", {"timesteps_total": 100}, "train.max_updates", 2),  # of steps of the simulation
    ("stop", {"timesteps_total": 100, "training_iteration": 5}, "train.max_updates", 2),
    ("stop", {"timesteps_total": 100, "training_iteration": 1}, "train.max_updates", 1),
    ("stop", {"training_iteration": 5}, "train.max_updates", 5),
    ("stop", {"episodes_total": 7}, "train.max_episodes", 7),
    ("stop", {"time_total_s": 2.5}, "train.max_seconds", 2.5),
    ("checkpoint_freq", 4, "train.checkpoint_updates", 4),
    ("checkpoint_freq", 4, "train.keep_checkpoints", KEEP_ALL),
    ("checkpoint_freq", 4, "train.checkpoint_seconds", NEVER),
    ("checkpoint_at_end", False, "train.checkpoint_at_end", False),
    (
        "checkpoint_at_end",
        False,
        "train.checkpoint_seconds",
        NEVER,
    ),  # who wants none at the end wants none by time
    ("verbose", 1, "train.quiet", False),
    ("settings", {"ppo": {"gamma": 0.5}}, "ppo.gamma", 0.5),
    ("config.seed", 11, "seed", 11),
    ("config.seed", None, "seed", 0),
    ("config.num_envs_per_worker", 5, "num_worlds", 5),
    ("config.num_workers", 2, "train.shards", 2),
    ("config.num_workers", 2, "train.workers", 2),
    ("config.num_workers", 2, "num_worlds", 8),
    ("config.num_workers", 7, "train.shards", 4),  # a power of two
    ("config.multiagent.policies_to_train", ["odd"], "train.learners", ("odd",)),
]
ELSEWHERE = {  # of the simulation, the place, the backend: other tests ask for these
    *("config", "backend", "storage_path", "env", "env_config", "horizon", "multiagent"),
    *("disable_env_checking", "policies", "policy_mapping_fn"),
}


def settings(given: dict[str, Any]) -> TrainSettings:
    experiment = read_params(given)
    world = make_world(experiment, 1)
    found = settings_of(experiment, world, assign(experiment, corridor().agents), workers=8)
    world.close()
    return found


def at(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize(("key", "value", "path", "expected"), SAID)
def test_what_is_said_arrives(key, value, path, expected):
    assert at(settings(changed(params(), f"ray_tune.{key}", value)), path) == expected
    assert at(settings(params()), path) != expected, "it stands there anyway, so this asks nothing"


def test_nothing_else_changes_without_a_word():
    plain = settings(params())
    assert (plain.steps, plain.train.max_updates, plain.seed) == (UNLIMITED, 3, 3)
    assert plain.network.input_scale
    given = params()
    del given["ray_tune"]["verbose"]
    assert not settings(given).train.quiet
    rows = plain.ppo.rollout * plain.num_worlds * 2  # all samples of the policy with two of three agents
    assert (plain.ppo.epochs, plain.ppo.minibatch) == (1, rows)
    assert (plain.ppo.gae_lambda, plain.ppo.target_kl) == (1.0, None)
    assert (plain.train.checkpoint_updates, plain.train.checkpoint_at_end) == (None, True)
    assert plain.train.checkpoint_seconds < NEVER


def test_every_key_is_asked_for():
    known = {*keys.TUNE, *keys.STOP, *keys.CONFIG, *keys.MULTIAGENT}
    asked = {key.rpartition(".")[2] for key, *_ in SAID}
    asked |= {inner for key, value, *_ in SAID if key == "stop" for inner in value}
    assert asked | ELSEWHERE == known


LEAST = {
    "checkpoint_freq": 0,
    "verbose": 0,
    "stop.episodes_total": 1,
    "stop.timesteps_total": 1,
    "stop.training_iteration": 1,
    "config.horizon": 1,
    "config.num_workers": 0,
    "config.num_envs_per_worker": 1,
    "config.seed": 0,
}


@pytest.mark.parametrize("key", LEAST)
def test_the_least_number_is_taken_and_nothing_below(key):
    def read(value: Any) -> None:
        read_params(changed(params(), f"ray_tune.{key}", value))

    read(LEAST[key])
    read(LEAST[key] + 1)
    for wrong in (LEAST[key] - 1, True, 1.5, "1"):
        with pytest.raises(UserError, match=f"{key.rpartition('.')[2]} = "):
            read(wrong)


def test_seconds_may_be_parts_of_one():
    read_params(changed(params(), "ray_tune.stop", {"time_total_s": 0.001}))
    for wrong in (0, -1, True, "1"):
        with pytest.raises(UserError, match="time_total_s = "):
            read_params(changed(params(), "ray_tune.stop", {"time_total_s": wrong}))
