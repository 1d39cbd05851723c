"""Agents of recordings: their network is asked where the checkpoint that played is at hand, and no other one."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.replay import ReplayReader
from interplay.core.settings import build
from interplay.registry import make_world
from interplay.train.networks import layers
from interplay.train.play.policy import load_policy
from interplay.train.run.checkpoint import list_checkpoints
from interplay.train.settings import TrainSettings
from interplay.train.settings.network import NetworkGroup
from interplay.train.trainer import train
from interplay.verbs.playing import record
from interplay.view.server.networks import NOT_HERE, REMEMBERS
from tests.view.server.asking import app_of, ask, beneath
from tests.view.server.folders import record as bare

WORLD, STEPS = "survival/1v1-heals-low", 6


def settings() -> TrainSettings:
    values = {
        "world": {"id": WORLD},
        "num_worlds": 2,
        "steps": 16,
        "train": {"shards": 1, "quiet": True},
        "ppo": {"rollout": 4, "minibatch": 16, "epochs": 1},
        "network": {"kind": "mlp", "hidden": [8], "input_scale": True},
        "record": {"every": 0},
    }
    return build(TrainSettings, values, "test")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with a run and a recording of it."""
    root = tmp_path_factory.mktemp("networks")
    run = train(settings(), root / "run")
    record(str(run), root / "match.replay", max_steps=STEPS, seed=3)
    return root


def told(root, slot, tick, number=0):
    return ask(
        app_of(beneath(root)), f"/api/recordings/{number}/agent/{slot}", query=f"tick={tick}".encode()
    ).json


def test_the_network_says_what_it_said_when_it_was_recorded(played):
    policy, world = load_policy(played / "run"), make_world(WORLD, num_worlds=1, seed=3)
    world.reset(seeds=3)
    policy.start(world, 3)
    with ReplayReader(played / "match.replay") as reader:
        assert reader.header.checkpoint == policy.checkpoint
        assert len(policy.checkpoint) == 64
    for tick in range(STEPS):
        look = policy.look(
            {name: array[0, 1] for name, array in world.timestep.observation.items()}, agent="agent_1"
        )
        found = told(played, 1, tick)
        assert found["value"] == pytest.approx(float(look.value), abs=1e-5)
        said = np.concatenate([head["probabilities"] for head in found["heads"]])
        np.testing.assert_allclose(said, look.probabilities, atol=1e-5)
        assert found["note"] is None
        world.step(policy.act(world.timestep))
    other = policy.weights
    policy.load_weights(other)
    assert policy.checkpoint == ""  # whoever gives it weights knows whose they are


def test_another_checkpoint_is_not_asked(played, tmp_path):
    shutil.copy(played / "match.replay", tmp_path)
    found = told(tmp_path, 0, 2)
    assert (found["value"], found["note"]) == (None, NOT_HERE)
    shutil.copytree(played / "run", tmp_path / "run")
    assert told(tmp_path, 0, 2)["value"] is not None
    bare(tmp_path / "other.replay", 0, make_world(WORLD), checkpoint="a" * 64)
    assert told(tmp_path, 0, 0, number=1)["note"] == NOT_HERE
    (file,) = list_checkpoints(tmp_path / "run")[-1].glob("policy*.safetensors")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    found = told(tmp_path, 0, 2)
    assert found["value"] is None
    assert "run/checkpoints" in found["note"]
    assert str(tmp_path) not in found["note"]


def test_networks_that_remember_are_refused_in_words(played, monkeypatch):
    monkeypatch.setattr(NetworkGroup, "remembers", "memory", raising=True)
    found = told(played, 0, 1)
    assert (found["value"], found["note"]) == (None, REMEMBERS)


@pytest.mark.parametrize("named", ["", "x" * 64, "a" * 63, "a" * 64 + "@../run", "A" * 64])
def test_headers_that_name_no_checkpoint_name_none(tmp_path, named):
    bare(tmp_path / "a.replay", 0, make_world(WORLD), policy="x", checkpoint=named)
    found = told(tmp_path, 0, 0)
    assert (found["value"], found["note"]) == (None, None)


def test_networks_that_the_weights_do_not_fill_are_not_drawn(played, monkeypatch):
    policy, world = load_policy(played / "run"), make_world(WORLD, num_worlds=1, seed=3)
    network = policy.settings.network.model_copy(update={"hidden": (900_000, 900_000)})  # terabytes
    policy.settings = policy.settings.model_copy(update={"network": network})
    monkeypatch.setattr(layers.np.random, "default_rng", lambda seed: pytest.fail("weights are drawn"))
    with pytest.raises(UserError, match=r"weight is \(70, 8\), this network needs \(70, 900000\)"):
        policy.start(world, 3)
