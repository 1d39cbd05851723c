"""Flattened simulations keep their action masks: the values of all numbers, one number after another."""

import numpy as np
import pytest
from gymnasium import spaces

from interplay.checker.bench import Players
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager
from interplay.sim.wrappers import FlattenActionWrapper, FlattenWrapper
from interplay.sim.wrappers.flatten_wrapper import flat_mask
from tests.connect.grids import cross_traffic


@pytest.mark.parametrize("wrap", [FlattenWrapper, FlattenActionWrapper])
def test_the_mask_of_a_flat_action_is_the_simulations(wrap):
    inner, flat = cross_traffic(action_masks=True), wrap(cross_traffic(action_masks=True))
    narrow = 0
    for seed in range(3):
        for sim in (inner, flat.unwrapped):
            AllStepManager(sim).reset(seed=seed)
        for agent in inner.agents:
            if not hasattr(inner.agents[agent], "action_space"):
                continue
            mask, row = inner.get_action_mask(agent), flat.get_action_mask(agent)
            assert (mask is None) == (row is None)
            if row is not None:
                assert row.dtype == np.int8
                assert row.tolist() == mask["move"].tolist()
                narrow += not row.all()
    assert narrow


def test_random_legal_play_of_a_flattened_simulation_is_never_refused():
    """The simulation refuses illegal moves: without its mask random play ends in an error."""
    make = lambda: AllStepManager(FlattenWrapper(cross_traffic(action_masks=True)), time_limit=30)  # noqa: E731
    world = SimulationWorld(make, num_worlds=2, seed=1)
    step = world.reset()
    assert step.action_mask is not None
    players, narrow = Players(world, 0, range(2)), 0
    for _ in range(60):
        narrow += int((~step.action_mask["action"]).sum())
        step = world.step(players.act(step))
        if step.over.any():
            step = world.reset(step.over.copy())
    assert narrow


def test_masks_that_no_flat_row_can_say():
    whole = spaces.Dict(a=spaces.MultiDiscrete([2, 2]), b=spaces.Box(0, 2, (2,), int))
    masks = {"a": (np.array([1, 0], np.int8), np.array([0, 1], np.int8)), "b": np.eye(3)}
    assert flat_mask(whole, masks).tolist() == [1, 0, 0, 1, *[1] * 6], (
        "points are no values of single numbers"
    )
