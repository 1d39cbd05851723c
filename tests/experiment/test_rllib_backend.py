"""`backend: 'rllib'`: one kind sentence without RLlib, its own algorithms with it."""

from __future__ import annotations

import sys

import pytest

from interplay.cli import train
from interplay.core.errors import UserError
from interplay.experiment import rllib_training
from tests.experiment.corridors import params

pytestmark = pytest.mark.slow


def test_without_ray_one_sentence_says_how_to_get_it(monkeypatch):
    """6.3, F20"""
    for name in [name for name in sys.modules if name.partition(".")[0] == "ray"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r'pip install "interplay\[rllib\]"'):
        rllib_training.train({"run_or_experiment": "PPO"}, object, None)


def test_stop_conditions_read_rllibs_results():
    """6.3"""
    result = {"env_runners": {"num_episodes_lifetime": 5, "num_env_steps_sampled_lifetime": 200}}
    for stop, expected in (
        ({"episodes_total": 5}, True),
        ({"episodes_total": 6}, False),
        ({"timesteps_total": 200, "episodes_total": 9}, True),
        ({"training_iteration": 3}, True),
        ({"time_total_s": 9.0}, False),
    ):
        assert rllib_training._over(stop, result, 3, 8.0) == expected


def rllib_params(base, **config):
    given = params(
        base,
        backend="rllib",
        run_or_experiment="PPO",
        checkpoint_freq=2,
        stop={"training_iteration": 3},
        config={
            "train_batch_size_per_learner": 200,
            "minibatch_size": 50,
            "num_epochs": 1,
            "num_envs_per_worker": 1,
            **config,
        },
    )
    given["ray_tune"].pop("settings")
    return given


def test_rllib_trains_two_policies(tmp_path, request):
    """6.2, 6.3: RLlib's own checkpoint folders."""
    pytest.importorskip("ray.rllib", reason="needs the rllib extra")
    pytest.importorskip("interplay.connect.rllib", reason="needs the RLlib adapter")
    ray = pytest.importorskip("ray", reason="needs the rllib extra")
    request.addfinalizer(ray.shutdown)  # which RLlib started by itself
    folder = train(rllib_params(tmp_path))
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint_000002", "checkpoint_000003"]
    with pytest.raises(UserError, match="unknown key 'lrr'"):
        train(rllib_params(tmp_path, lrr=3))


def test_a_policy_has_its_own_configuration():
    """Merged with the algorithm's as RLlib does it for a module; a class is refused."""
    pytest.importorskip("ray.rllib", reason="needs the rllib extra")

    def configured(kind=None, **own):
        policies = {"even": (kind, None, None, own), "odd": (None, None, None, {})}
        multiagent = {"policies": policies, "policy_mapping_fn": lambda *_, **__: "odd"}
        return rllib_training.configured("PPO", {"lr": 0.25, "multiagent": multiagent}, object)

    made = configured(lr=0.5, **{"lambda": 0.125})
    even, odd = (made.get_config_for_module(name) for name in ("even", "odd"))
    assert (even.lr, even.lambda_, odd.lr) == (0.5, 0.125, 0.25)
    assert odd.lambda_ != 0.125
    with pytest.raises(UserError, match="unknown key 'lrr'"):
        configured(lrr=1)
    with pytest.raises(UserError, match="class"):
        configured(object)


def test_other_algorithms_are_listed(tmp_path):
    """6.3"""
    pytest.importorskip("ray.rllib", reason="needs the rllib extra")
    with pytest.raises(UserError, match=r"RLlib has no such algorithm; it has .*DQN"):
        rllib_training.configured("NoSuch", {}, object)
