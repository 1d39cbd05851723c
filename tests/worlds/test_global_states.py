"""What the global states of larger worlds hold, and that they pass through views of a world."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.experiment.policy_world import PolicyWorld
from interplay.interfaces.world import InterfacedWorld

SMALL = {"slots": 16, "interior": 24, "npop": 2, "prefill": 8, "cap_draw": "fixed"}


def played(world_id, steps, **options):
    world = interplay.make_world(world_id, num_worlds=3, seed=4, **options)
    policy = RandomPolicy()
    world.reset()
    policy.start(world, 1)
    for _ in range(steps):
        world.step(policy.act(world.timestep))
    return world


def test_survival_tells_bodies_inventories_and_zone():
    world = played("survival/1v1-heals-low", 30)
    told, bodies = world.global_state(), world.state.bodies
    agents = told[:, : 2 * 11].reshape(3, 2, 11)
    assert np.array_equal(agents[..., 1:3], bodies.position[:, :2].astype(np.float32))
    assert np.array_equal(agents[..., 5:7], bodies.velocity[:, :2].astype(np.float32))
    items = told[:, 2 * 11 + 2 * 2 :][:, : 15 * 3].reshape(3, 15, 3)
    assert np.array_equal(items[..., 0], bodies.present[:, 2:])
    zone = told[:, 2 * 11 + 2 * 2 + 15 * 3 :]
    assert np.array_equal(zone[:, 2], world.state.room["zone_r"].astype(np.float32))
    assert np.array_equal(zone[:, 3], np.full(3, 30))
    world.state.bodies.present[1, 0] = False
    told = world.global_state()
    assert not told[1, :11].any(), "who is dead stands nowhere"
    assert told[1, 11:22].any()


def test_the_persistent_world_tells_who_lives_where():
    world = played("mmo/combat", 5, **SMALL)
    told = world.global_state().reshape(3, 16, 7)
    acting = world.timestep.acting
    assert 0 < acting.sum() < acting.size
    assert not told[~acting].any()
    assert (told[acting][:, 0] == 1).all()
    side = world.settings.side
    assert np.array_equal((told[..., 1] * side).round()[acting], world.state.agent["row"][acting])
    assert np.array_equal(told[..., 6][acting] - 1, world.population[acting])


def test_a_grid_world_tells_where_everybody_stands():
    world = played("gridworld/foragers", 10)
    told = world.global_state().reshape(3, -1, 6)
    saved = world.save()
    assert told.shape[1] == 5 + 11, "resources, which learn nothing, too"
    assert np.array_equal((told[..., 3] * 20).round() - 1, saved["agents.row"])
    assert np.array_equal((told[..., 4] * 20).round() - 1, saved["agents.col"])
    assert np.array_equal(told[..., 1], saved["agents.active"])


def test_a_view_by_policies_has_the_state_of_its_world():
    inner = interplay.make_world("dilemma/fixed", num_worlds=2)
    world = PolicyWorld(inner, {"agent_0": "one", "agent_1": "two"})
    world.reset()
    world.step({"one": np.array([[0], [1]]), "two": np.array([[1], [1]])})
    assert world.state_space == inner.state_space
    assert np.array_equal(world.global_state(), inner.global_state())
    assert world.global_state()[:, 1].tolist() == [1, 0]


def by_policies(inner):
    return PolicyWorld(inner, {name: name.partition("_")[0] for name in inner.agents})


def by_interfaces(inner):
    return InterfacedWorld(inner, {})


@pytest.mark.parametrize("around", [by_policies, by_interfaces])
def test_both_sides_states_of_a_battle_pass_through_views(around):
    inner = interplay.make_world("battle/10m_vs_11m", num_worlds=2)
    world = around(inner)
    world.reset()
    told = world.team_states()
    for side in (0, 1):
        own = inner.side_state(side)
        assert np.array_equal(told[:, side, : own.shape[1]], own)
        assert not told[:, side, own.shape[1] :].any()


def test_a_state_that_is_everybodys_is_one():
    world = played("survival/1v1-heals-low", 3)
    assert np.array_equal(world.team_states(), world.global_state()[:, None])


def test_a_world_without_one_says_so():
    world = interplay.make_world("simulation/multi-corridor")
    world.reset()
    assert world.state_space is None
    with pytest.raises(UserError, match="no global state"):
        world.global_state()
