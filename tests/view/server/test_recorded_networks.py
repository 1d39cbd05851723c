"""Agents of recordings: their network is asked where the checkpoint that played is at hand, and no other one."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces

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
from interplay.view.server.config import MISSED_SECONDS
from interplay.view.server.heads import Heads, seats_of
from interplay.view.server.networks import (
    NOT_HERE,
    REMEMBERS,
    Checkpoints,
    Named,
    Networks,
    _is_learner,
    look_at,
)
from interplay.view.server.sources import Sources
from tests.connect.relay import Relay
from tests.view.server.asking import agent_at, app_of, beneath
from tests.view.server.folders import Clock
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
    return agent_at(app_of(beneath(root)), slot, tick, number).json


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


def test_a_checkpoint_that_is_missing_is_not_looked_for_at_every_look(tmp_path, monkeypatch):
    bare(tmp_path / "other.replay", 0, make_world(WORLD), checkpoint="a" * 64)
    looks, clock = [], Clock()
    monkeypatch.setattr(Checkpoints, "find", lambda self, key: looks.append(key))
    networks = Networks(Sources(beneath(tmp_path)), clock=clock)
    with ReplayReader(tmp_path / "other.replay") as reader:
        world = reader.world_at(0)
        for passed in (0.0, 1.0, MISSED_SECONDS):
            clock.now += passed
            assert networks.look(reader.header, world, 0) == (None, NOT_HERE)
        other = reader.header.model_copy(update={"checkpoint": "b" * 64})
        networks.look(other, world, 0)
    assert looks == ["a" * 64, "a" * 64, "b" * 64]


def test_weights_that_came_between_finding_and_loading_are_not_asked(played, tmp_path, monkeypatch):
    bare(tmp_path / "other.replay", 0, make_world(WORLD), checkpoint="a" * 64)
    there = Named(list_checkpoints(played / "run")[-1])
    monkeypatch.setattr(Checkpoints, "find", lambda self, key: there)
    found = told(tmp_path, 0, 0)
    assert (found["value"], found["note"]) == (None, NOT_HERE)


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


def test_outputs_of_a_network_stand_at_their_heads():
    """Two Boxes around two heads of choices: means and probabilities are numbered apart."""
    parts = {
        "a": spaces.Box(-1, 1, (2,), np.float32),
        "b": spaces.Discrete(3, start=2),
        "c": spaces.Box(0, 5, (1,), np.float32),
        "d": spaces.MultiDiscrete([2, 4]),
    }
    look = SimpleNamespace(probabilities=np.arange(9) / 16, mean=np.array([0.5, 0.25, 4.0]))
    legal = np.arange(9) % 2 == 0
    found = Heads(spaces.Dict(parts)).describe(legal, look)
    assert [(head["name"], head.get("mean", head.get("probabilities"))) for head in found] == [
        ("a", [0.5, 0.25]),
        ("b", [0.0, 1 / 16, 2 / 16]),
        ("c", [4.0]),
        ("d 1", [3 / 16, 4 / 16]),
        ("d 2", [5 / 16, 6 / 16, 7 / 16, 8 / 16]),
    ]
    assert [head["legal"] for head in found if "legal" in head] == [
        [True, False, True],
        [False, True],
        [False, True, False, True],
    ]


def test_a_network_is_shown_what_its_own_slot_sees():
    """The third slot is the first of its kind."""
    world = Relay(1, story=("ooo", "ooo", "ooo"), kinds=2)
    world.reset()
    policy = SimpleNamespace(look=lambda seen, mask, memory, agent, population: (float(seen["place"]), agent))
    looks = [look_at(policy, world, slot, seats_of(world)[slot], None) for slot in range(3)]
    assert looks == [(0.0, "slot_0"), (100.0, "slot_1"), (200.0, "slot_2")]


def test_a_learner_plays_the_slots_that_a_recording_gives_it():
    header = SimpleNamespace(players=(0, 1, 1), learner=1)
    assert [_is_learner(header, slot) for slot in range(4)] == [False, True, True, False]
