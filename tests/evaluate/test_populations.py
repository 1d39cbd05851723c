"""`Populations`: whoever is in a slot, the policy of its population acts, and sees its own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate import Populations
from interplay.evaluate.populations import PopulationView
from tests.evaluate.nursery import Nursery


class Witness(Policy):
    """Chooses one action and writes down what it is shown."""

    name = "witness"

    def __init__(self, action):
        self.action, self.numbers, self.counts = action, set(), set()

    def act(self, timestep):
        self.counts.add(self.world.num_populations)
        self.numbers |= set(self.world.population[timestep.acting].tolist())
        self.acting = timestep.acting.copy()
        return np.full(timestep.acting.shape, self.action)


def test_everybody_acts_for_its_own_at_every_birth():
    world = Nursery(3, npop=3, cap=6, slots=6, lives=(2, 3, 4))
    timestep = world.reset()
    ours, theirs = Witness(0), Witness(1)
    table = Populations({0: ours, 1: theirs, 2: theirs})
    table.start(world)
    kinds = set()
    for _ in range(40):
        population = world.population.copy()
        kinds |= set(map(tuple, population))
        acting = timestep.acting.copy()
        timestep = world.step(table.act(timestep))
        assert (world.state.chosen == (acting & (population > 0))).all()
        assert (ours.acting | theirs.acting == acting).all()
        assert not (ours.acting & theirs.acting).any()
    assert len(kinds) > 3  # who sits where did change
    assert (ours.counts, ours.numbers) == ({1}, {0})
    assert (theirs.counts, theirs.numbers) == ({2}, {0, 1})


def test_a_view_is_the_world_but_for_its_populations():
    world = Nursery(1, npop=4)
    world.reset()
    world.state.population[:] = [[3, 1, 0, 2]]
    view = PopulationView(world, (1, 3))
    assert view.num_populations == 2
    assert view.population.tolist() == [[1, 0, 0, 0]]
    assert view.population_names is None
    world.population_names = ("red", "green", "blue", "grey")
    assert PopulationView(world, (1, 3)).population_names == ("green", "grey")
    assert view.agents is world.agents
    assert view.timestep is world.timestep


def test_populations_without_a_policy_are_refused():
    world = Nursery(1, npop=3)
    with pytest.raises(UserError, match="population 1 has no policy"):
        Populations({0: RandomPolicy(), 2: RandomPolicy()}).start(world)
    with pytest.raises(UserError, match="population 3 does not exist"):
        Populations({k: RandomPolicy() for k in range(4)}).start(world)
