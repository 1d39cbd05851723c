"""A policy by the spaces in its checkpoint, where its environment is not at hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from interplay.train.play.stored_world import KEY, StoredWorld, describe_world
from tests.train.test_exporting import CASES, made, seen_in

WORLDS = ["dilemma/fixed", "survival/2v2-all-low", "mmo/forage", "simulation/multi-corridor", "werewolf/6"]


@pytest.mark.parametrize("world_id", [*WORLDS, "tests.connect.foreign_envs:Market"])
def test_a_record_shows_what_the_world_shows(world_id):
    world = interplay.make_world(world_id)
    world.reset()
    stored = StoredWorld(json.loads(json.dumps(describe_world(world)[KEY])), "run")
    assert (stored.agents, stored.kinds, stored.teams) == (world.agents, world.kinds, world.teams)
    assert (stored.respawns, stored.num_populations) == (world.respawns, world.num_populations)
    assert stored.population_names == world.population_names
    shown, own = stored.timestep, world.timestep
    for kind in world.kinds:
        for key, leaf in world.by_kind(own.observation)[kind.name].items():
            mine = stored.by_kind(shown.observation)[kind.name][key]
            assert (mine.shape, mine.dtype) == (leaf.shape, leaf.dtype)
        masks = world.by_kind(own.action_mask)[kind.name] or {}
        assert {k: m.shape for k, m in (stored.by_kind(shown.action_mask)[kind.name] or {}).items()} == {
            k: m.shape for k, m in masks.items()
        }


def no_world(**_):
    raise AssertionError("the environment is not at hand")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gru", "attention", "box actions"])
def test_it_plays_and_exports_without_its_world(name, tmp_path):
    at_home, world = made(*CASES[name])
    away, _ = made(*CASES[name])
    del away.world
    away.stored = describe_world(world)[KEY]
    away.make_world = no_world
    agent = world.agents[world.kinds[0].slots[0]]
    observation, mask = seen_in(world, 9)
    assert np.array_equal(
        away.look(observation, mask, agent=agent).probabilities,
        at_home.look(observation, mask, agent=agent).probabilities,
    )
    given = observation if mask is None else {**observation, "action_mask": mask}
    mine, theirs = (policy.to_numpy(agent)(given) for policy in (away, at_home))
    assert all(np.array_equal(mine[key], theirs[key]) for key in theirs)
    with pytest.raises(UserError, match="step"):
        away.world._step(None)


@pytest.mark.parametrize("told", [{}, {"kinds": 3}, {"kinds": [{"name": "a"}]}, {"kinds": [], "id": "x"}])
def test_a_record_that_is_no_world_is_refused(told):
    with pytest.raises(UserError, match=KEY):
        StoredWorld(told, "run")
