"""Flattened and ravelled simulations keep their action masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.checker.bench import Players
from interplay.core.masks import from_gymnasium, to_gymnasium
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager
from interplay.sim.wrappers import FlattenActionWrapper, FlattenWrapper, RavelActionWrapper
from interplay.sim.wrappers.flatten_wrapper import flat_mask
from interplay.sim.wrappers.ravel_discrete_wrapper import MOST_MASKED, ravel_mask, ravel_space, unravel
from tests.connect.grids import cross_traffic
from tests.connect.toy_simulations import Strict


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


MOVE = spaces.Box(-1, 1, (2,), int)
LOPSIDED = spaces.Box(np.array([-2, 0, 3]), np.array([0, 3, 4]), (3,), int)
SPACES = {
    "a move": MOVE,
    "a lopsided box": LOPSIDED,
    "a choice": spaces.Discrete(4, start=-2),
    "heads": spaces.MultiDiscrete([2, 3], start=[5, -1]),
    "bits": spaces.MultiBinary(3),
    "channels": spaces.Dict(
        move=MOVE,
        attack=spaces.Discrete(3, start=1),
        talk=spaces.Tuple([spaces.Discrete(2), spaces.MultiBinary(1)]),
    ),
}


def drawn_mask(space: Any, rng: np.random.Generator, leave_out: bool = True) -> Any:
    """A mask in gymnasium's form, with parts that are None; a Box's has an axis for each of its numbers."""
    if isinstance(space, spaces.Dict):
        return {key: drawn_mask(part, rng) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(drawn_mask(part, rng) for part in space.spaces)
    if leave_out and rng.random() < 0.2:
        return None
    if isinstance(space, spaces.Box):
        return rng.random(tuple(space.high - space.low + 1)) < 0.6
    if isinstance(space, spaces.MultiBinary):
        return rng.integers(0, 3, space.shape).astype(np.int8)
    sizes = [int(space.n)] if isinstance(space, spaces.Discrete) else space.nvec.tolist()
    return to_gymnasium(space, rng.random(sum(sizes)) < 0.6)


def allows(space: Any, mask: Any, point: Any) -> bool:
    """The definition, part by part."""
    if mask is None:
        return True
    if isinstance(space, spaces.Dict):
        return all(allows(part, mask[key], point[key]) for key, part in space.spaces.items())
    if isinstance(space, spaces.Tuple):
        return all(map(allows, space.spaces, mask, point))
    if isinstance(space, spaces.Box):
        return bool(mask[tuple(point - space.low)])
    if isinstance(space, spaces.MultiBinary):
        return all(rule in (2, bit) for rule, bit in zip(mask, point, strict=True))
    if isinstance(space, spaces.Discrete):
        return bool(mask[point - space.start])
    row, at = from_gymnasium(space, mask), 0
    for size, choice in zip(space.nvec, point - space.start, strict=True):
        if not row[at + choice]:
            return False
        at += size
    return True


@pytest.mark.parametrize("name", SPACES)
def test_a_number_is_legal_if_all_its_parts_are(name):
    space, rng = SPACES[name], np.random.default_rng(7)
    kinds = set()
    for _ in range(30):
        mask = drawn_mask(space, rng)
        legal = ravel_mask(space, mask)
        if mask is None:
            assert legal is None
            continue
        count = int(ravel_space(space).n)
        expected = [allows(space, mask, unravel(space, number)) for number in range(count)]
        assert legal.tolist() == expected
        assert legal.dtype == np.int8
        kinds |= set(expected)
    assert kinds == {True, False}


def test_a_moves_mask_of_another_form_counts_for_nothing():
    """One of its numbers, not of its points, says nothing of the points."""
    assert ravel_mask(MOVE, np.array([1, 0, 1, 1, 1, 0])).tolist() == [1] * 9


def test_the_wrapper_shows_it_and_more_points_than_are_counted_have_none():
    free = np.array([[1, 0, 1], [1, 1, 1], [0, 0, 1]], np.int8)
    sim = RavelActionWrapper(Strict({"a": 3}, actions=MOVE, masks={"a": free}))
    assert sim.get_action_mask("a").tolist() == free.ravel().tolist()
    big = spaces.Box(0, MOST_MASKED, (1,), int)
    assert ravel_mask(big, np.zeros(MOST_MASKED + 1)) is None
    assert ravel_mask(spaces.Discrete(MOST_MASKED), np.zeros(MOST_MASKED, np.int8)) is not None
