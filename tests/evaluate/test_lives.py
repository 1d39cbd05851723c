"""`LifeWatch`: every life of the window is counted once, with its home and its length."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate.lifetimes.lives import LifeWatch, Watch
from interplay.registry import make_world
from tests.evaluate.nursery import Nursery


class Always(Policy):
    def __init__(self, action):
        self.action = action

    def act(self, timestep):
        return np.full(timestep.acting.shape, self.action)


def watched(world, policy, homes, watch, steps=10_000):
    timestep = world.reset()
    policy.start(world)
    followed = LifeWatch(world, np.array(homes), watch)
    while not followed.done and followed.tick < steps:
        timestep = world.step(policy.act(timestep))
        followed.step(timestep)
    return followed.results()


def test_lives_that_are_known():
    rows = watched(Nursery(2, lives=(5, 9)), Always(0), [0, 1], Watch(20, 60, 100))
    for row in rows:
        one, two = row["homes"]
        assert set(one["ended"]) == {5}
        assert set(two["ended"]) == {9}
        assert one["cut"] == two["cut"] == []
        assert one["causes"] == {"age": len(one["ended"])}
        assert one["per_life"] == {"doubled": 1.0}
        # Four places, full nearly always; populations are born in turn.
        assert abs(len(one["ended"]) - len(two["ended"])) <= 2
        assert sum(row["standing"]) == pytest.approx(4.0, abs=0.2)
        assert row["standing"][1] / row["standing"][0] == pytest.approx(9 / 5, rel=0.1)
        assert row["ticks"] <= 20 + 60 + 9


def test_the_horizon_cuts():
    (row,) = watched(Nursery(1, lives=(5, 9)), Always(0), [0, 1], Watch(10, 40, 7))
    assert row["homes"][0]["cut"] == []
    assert set(row["homes"][1]["cut"]) == {7}
    assert row["homes"][1]["ended"] == []


def test_a_run_that_is_stopped_cuts_what_goes_on():
    (row,) = watched(Nursery(1, lives=(5, 9)), Always(0), [0, 1], Watch(10, 40, 100), steps=30)
    ages = [age for home in row["homes"] for age in home["cut"]]
    assert 1 <= len(ages) <= 4
    assert all(0 <= age < 9 for age in ages)


def test_the_same_lives_as_the_world_tells_itself():
    world = make_world("mmo/combat", 2, interior=20, slots=12, npop=3, cap_draw="fixed", spawn_per_tick=2)
    policy, watch = RandomPolicy(), Watch(30, 100, 400)
    told = {(w, k): [] for w in range(2) for k in range(3)}
    timestep = world.reset(seeds=5)
    policy.start(world, 1)
    followed = LifeWatch(world, np.array([0, 1, 2]), watch)
    before, born = timestep.acting.copy(), np.zeros((2, 12), int)
    while not followed.done:
        timestep = world.step(policy.act(timestep))
        followed.step(timestep)
        for w, slot in zip(*np.nonzero(timestep.terminated), strict=True):
            if 30 <= born[w, slot] < 130:
                k = int(world.ended["population"][w, slot])
                told[w, k].append(int(world.ended["life"][w, slot]))
        fresh = timestep.acting & (timestep.terminated | ~before)
        born[fresh] = followed.tick
        before = timestep.acting.copy()
    rows = followed.results()
    for (w, k), lives in told.items():
        assert rows[w]["homes"][k]["ended"] == sorted(lives)
        assert sum(rows[w]["homes"][k]["causes"].values()) == len(lives)
    assert sum(map(len, told.values())) > 100
    assert set(rows[0]["homes"][0]["causes"]) <= set(world.causes)
