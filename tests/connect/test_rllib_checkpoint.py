"""`interplay export --trust-pickle`: a module of an RLlib checkpoint as a run."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.connectors.env_to_module import MeanStdFilter
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env
from typer.testing import CliRunner

import interplay
from interplay.cli.main import build_app
from interplay.connect.rllib import BatchedEnvRunner, MaskedMultiAgentEnv, WorldMultiAgentEnv, world_to_rllib
from interplay.connect.rllib.batch import WorldBatch
from interplay.connect.rllib.checkpoint import MODULES, convert
from interplay.core.errors import UserError
from interplay.verbs.players import load_policy

pytestmark = pytest.mark.slow

WORLDS = 8


class Doubled(DefaultPPOTorchRLModule):
    """A user-defined module."""


def environment(world_id: str, masked: bool) -> Any:
    env = interplay.make(world_id, flat=True)
    return MaskedMultiAgentEnv(env) if masked else WorldMultiAgentEnv(env)


def saved(
    folder: Path, world_id: str, masked: bool = False, kind: Any = None, connector: Any = None, **config: Any
) -> Any:
    """A module with drawn weights, saved where ``Algorithm.save`` saves one."""
    env = environment(world_id, masked)
    agent = env.possible_agents[0]
    spec = RLModuleSpec(
        module_class=kind or (ActionMaskingTorchRLModule if masked else DefaultPPOTorchRLModule),
        observation_space=env.observation_spaces[agent],
        action_space=env.action_spaces[agent],
        model_config={"fcnet_hiddens": [24, 16], **config},
    )
    module: Any = spec.build()
    draw = np.random.default_rng(3)
    module.set_state(
        {
            name: draw.normal(0, 0.4, part.shape).astype(np.float32)
            for name, part in module.get_state().items()
        }
    )
    module.save_to_path(folder / MODULES / "shared")
    register_env("interplay-saved", lambda config: environment(world_id, masked))
    config = (
        PPOConfig()
        .environment("interplay-saved", disable_env_checking=True)
        .env_runners(env_to_module_connector=connector and (lambda *args, **kwargs: connector))
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *args, **kwargs: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": spec}))
    )
    MultiAgentEnvRunner(config=config).save_to_path(folder / "env_runner")
    return module


def check_same_actions(run: Path, module: Any, world_id: str, masked: bool) -> None:
    """Greedy actions of the run's policy and of RLlib's module are equal in episodes of drawn actions."""
    batch = WorldBatch(environment(world_id, masked), WORLDS)
    world = batch.world
    policy, other = load_policy(run, greedy=True), interplay.registry.make_policy(world_id, "random")
    policy.start(world)
    other.start(world, seed=4)
    world.reset(seeds=9)
    chosen = []
    for _ in range(12):
        acting = world.timestep.acting
        if acting.any():
            slots, seen = batch.read(acting)
            rows = {name: torch.from_numpy(part) for name, part in seen.items()}
            outputs = module.forward_inference({"obs": rows.get("", rows)})
            kind = module.get_inference_action_dist_cls()
            theirs = kind.from_logits(outputs["action_dist_inputs"]).to_deterministic().sample().numpy()
            ours = policy.act(world.timestep).reshape(acting.size, -1)[slots]
            starts = np.ravel(getattr(world.action_space, "start", 0))
            assert np.array_equal(ours - starts, theirs.reshape(len(slots), -1))
            chosen += theirs.reshape(len(slots), -1).tolist()
        over = world.step(other.act(world.timestep)).over.copy()
        if over.any():
            world.reset(over)
    assert len({tuple(action) for action in chosen}) > 1


@pytest.mark.parametrize(
    ("world_id", "masked", "config"),
    [
        ("simulation/multi-corridor", False, {}),
        ("survival/1v1-heals-low", False, {"fcnet_activation": "relu", "vf_share_layers": True}),
        ("werewolf/6", True, {}),
        ("battle/3m", True, {"fcnet_hiddens": [12]}),
    ],
)
def test_the_policy_acts_as_the_module(tmp_path, world_id, masked, config):
    module = saved(tmp_path / "checkpoint", world_id, masked, **config)
    run = convert(tmp_path / "checkpoint", tmp_path / "run", world_id, {}, None)
    check_same_actions(run, module, world_id, masked)


@pytest.mark.parametrize(
    ("how", "world_id", "module"),
    [
        ({"kind": Doubled}, "simulation/multi-corridor", None),
        ({"connector": MeanStdFilter(multi_agent=True)}, "simulation/multi-corridor", None),
        ({"fcnet_activation": "silu"}, "simulation/multi-corridor", None),
        ({"use_lstm": True, "max_seq_len": 4}, "simulation/multi-corridor", None),
        ({"head_fcnet_hiddens": [8]}, "simulation/multi-corridor", None),
        ({}, "simulation/multi-corridor", "another"),
        ({}, "survival/1v1-heals-low", None),  # of other spaces
    ],
)
def test_what_would_act_otherwise_is_refused(tmp_path, how, world_id, module):
    saved(tmp_path / "checkpoint", "simulation/multi-corridor", **how)
    with pytest.raises(UserError):
        convert(tmp_path / "checkpoint", tmp_path / "run", world_id, {}, module)
    assert not (tmp_path / "run").exists()


class Program:
    """A pickle of it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.folder),)


def test_a_checkpoint_of_rllib_is_read_with_trust_alone(tmp_path):
    folder, ran = tmp_path / "checkpoint", tmp_path / "ran"
    saved(folder, "simulation/multi-corridor")
    (folder / "rllib_checkpoint.json").write_text("{}")
    for file in folder.rglob("*.pkl"):
        file.write_bytes(pickle.dumps(Program(ran)))
    export, out = (
        ["export", str(folder)],
        ["--world", "simulation/multi-corridor", "--out", str(tmp_path / "run")],
    )
    for words in (
        [*export, *out],
        ["evaluate", str(folder)],
        ["record", str(folder)],
        ["resume", str(folder)],
    ):
        assert CliRunner().invoke(build_app(), words).exit_code
        assert not ran.exists()
    CliRunner().invoke(build_app(), [*export, "--trust-pickle", *out])
    assert ran.exists()


@pytest.mark.filterwarnings("ignore")
def test_a_saved_algorithm_becomes_a_run_that_verbs_read(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    ray.init(
        address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False
    )
    register_env("interplay-saved", lambda config: world_to_rllib(**config))
    algorithm = (
        PPOConfig()
        .environment("interplay-saved", env_config={"world_id": "simulation/multi-corridor", "flat": True})
        .env_runners(env_runner_cls=BatchedEnvRunner, num_env_runners=0, num_envs_per_env_runner=4)
        .training(train_batch_size_per_learner=64, minibatch_size=32, num_epochs=2, lr=0.01)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *args, **kwargs: "shared")
        .build_algo()
    )
    algorithm.train()
    checkpoint = algorithm.save(str(tmp_path / "checkpoint")).checkpoint.path
    module = algorithm.get_module("shared")
    algorithm.stop()
    ray.shutdown()
    words = ["export", checkpoint, "--trust-pickle", "--world", "simulation/multi-corridor"]
    result = CliRunner().invoke(build_app(), [*words, "--out", str(tmp_path / "run")])
    assert not result.exit_code, result.output
    check_same_actions(tmp_path / "run", module, "simulation/multi-corridor", masked=False)
    result = CliRunner().invoke(build_app(), ["evaluate", str(tmp_path / "run"), "--episodes", "8", "--json"])
    assert not result.exit_code, result.output
