"""Maps of values and of dependence against real agents at these places."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.evaluate.lifetimes.mmo import ghosts
from interplay.evaluate.lifetimes.mmo.ghosts import dependence, livable, meadow, standardise, value_map
from interplay.worlds.mmo.tiles import GRASS, LAVA, STONE, WATER
from tests.evaluate.commons import common, lawn, settle, taste


def grown(**options):
    """A world with some agents in it."""
    world = common(**options)
    for _ in range(20):
        world.step(np.zeros((1, 12, 2), np.int64))
    return world


@pytest.mark.parametrize("population", [0, 1])
def test_the_map_is_what_newcomers_really_expect(population):
    world = grown()
    free = int(np.flatnonzero(~world.state.agent["alive"][0])[0])
    found = value_map(world, taste, population)
    snapshot = world.save()
    for row, col in [(9, 9), (20, 13), (32, 32), (15, 27)]:
        settle(world, free, row, col, population)
        step = world.refresh()
        seen = {name: array[0, free : free + 1] for name, array in step.observation.items()}
        assert found[row, col] == pytest.approx(taste(seen, population)[0], abs=1e-6)
        world.load(snapshot)


def test_the_map_covers_the_interior_in_any_batches(monkeypatch):
    world = grown()
    whole = value_map(world, taste, 0)
    assert np.isfinite(whole).sum() == 24 * 24
    assert np.isnan(whole[:9]).all()
    monkeypatch.setattr(ghosts, "BATCH", 100)
    told = []
    np.testing.assert_array_equal(value_map(world, taste, 0, progress=told.append), whole)
    assert told == [100, 200, 300, 400, 500, 576]


def test_variants_are_hungry_and_thirsty():
    world = grown()

    def stomach(observation, _):
        return observation["entities"][:, 0, 2] * 10 + observation["entities"][:, 0, 3]

    at = {name: value_map(world, stomach, 0, name)[20, 20] for name in ghosts.VARIANTS}
    expected = {"full": 5.5, "no food": -4.5, "no water": 4.5, "half": 0, "none": -5.5}
    assert at == pytest.approx(expected)


def test_ghosts_are_whole_unless_they_are_said_to_be_otherwise():
    """Health, food and water default to the world's maxima."""
    world = grown(health=20, food=30, water=40)
    place = np.array([20]), np.array([20])
    whole = {"health": 20, "food": 30, "water": 40}

    def seen(**stats):
        return world.observe_ghosts(0, *place, 1, **stats)["entities"][0, 0, 0].tolist()

    assert seen() == seen(**whole)
    for name, most in whole.items():
        assert seen(**{name: most}) == seen()
        assert seen(**{name: 7}) == seen(**{**whole, name: 7}) != seen()
    assert len({str(seen(**{name: 7})) for name in whole}) == 3


def test_ghosts_leave_the_world_as_it_is():
    world = grown()
    before = world.hash().copy()
    value_map(world, taste, 1)
    assert (world.hash() == before).all()


def test_standard_scores_count_places_where_one_can_live():
    tiles = np.array([[GRASS, GRASS], [STONE, LAVA]], np.uint8)
    values = np.array([[1.0, 3.0], [100.0, np.nan]])
    scores = standardise(values, tiles)  # mean 2, standard deviation 1
    np.testing.assert_allclose(scores, [[-0.25, 0.25], [1.0, np.nan]])
    assert (standardise(np.full((2, 2), 7.0), tiles) == 0).all()
    assert livable(np.array([[WATER, GRASS, LAVA]])).tolist() == [[False, True, False]]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("occupancy", [False, True])
@pytest.mark.parametrize("same", [False, True])
def test_the_meadow_is_what_the_world_shows(compact, occupancy, same):
    offsets = np.array([(0, 0), (-7, 7), (3, -2), (1, 0)])
    options = {"compact": compact, "occupancy": occupancy}
    for offset in offsets:
        middle = np.array([21, 21])
        world = lawn([tuple(middle), tuple(middle + offset)], [0, 0 if same else 1], **options)
        made = meadow(world.settings, offset[None], same)
        for name, array in world.timestep.observation.items():
            np.testing.assert_allclose(made[name][0], array[0, 0], atol=1e-6, err_msg=name)
        assert set(made) == set(world.timestep.observation)
    alone = lawn([(21, 21)], [0], **options)
    for name, array in alone.timestep.observation.items():
        np.testing.assert_allclose(meadow(alone.settings, None, same)[name][0], array[0, 0], atol=1e-6)


def test_dependence_is_the_difference_that_another_one_makes():
    settings = common().settings
    own, other = (dependence(settings, taste, 1, same) for same in (True, False))
    assert own.shape == (15, 15)
    assert own[7, 7] == pytest.approx(2.0)
    assert own[7 + 2, 7 - 1] == pytest.approx(2 * np.exp(-3))
    assert np.abs(other).max() < 1e-9  # it sees no use in strangers
