"""Populations: who is in which, and how a batch is sorted and cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from interplay.train.populations import cut_blocks, find_populations, most_blocks, sort_rows
from interplay.train.settings import PopulationGroup
from tests.train.meadow import Meadow
from tests.train.toy_worlds import Corridor

populations = st.lists(st.integers(0, 4), max_size=60).map(lambda rows: np.array(rows, np.uint8))


@given(populations)
def test_sorting_is_a_permutation_that_keeps_the_order_inside_a_population(population: np.ndarray) -> None:
    order, counts = sort_rows(population, 5)
    assert sorted(order.tolist()) == list(range(len(population)))
    assert (np.diff(population[order].astype(int)) >= 0).all()
    for one in range(5):
        members = order[population[order] == one]
        assert (np.diff(members) > 0).all()
        assert counts[one] == len(members)


@given(populations, st.integers(1, 9))
def test_blocks_cover_every_row_once_with_its_own_population(population: np.ndarray, block: int) -> None:
    order, counts = sort_rows(population, 5)
    most = most_blocks(len(population), 5, block)
    blocks = cut_blocks(counts, block, most)
    covered: list[int] = []
    for start, own, rows in list(zip(*blocks[:3], strict=True))[: int(blocks.number)]:
        assert 1 <= rows <= block
        assert (population[order[start : start + rows]] == own).all()
        covered += range(start, start + rows)
    assert covered == list(range(len(population)))
    assert blocks.number <= most


def test_the_world_tells_populations_and_they_change_with_births() -> None:
    world = Meadow(4, npop=3)
    found = find_populations(PopulationGroup(), world)
    assert found.names == ("pop0", "pop1", "pop2")
    world.reset()
    before = found.of(world).copy()
    for _ in range(40):
        world.step(np.zeros((4, 8, 2), np.int64))
    assert (found.of(world) != before).any()
    assert find_populations(PopulationGroup(by="kind"), world).names == ("pop0",)


def test_a_world_names_its_populations() -> None:
    world = Meadow(1, npop=2)
    world.population_names = ("villager", "werewolf")
    assert find_populations(PopulationGroup(), world).names == ("villager", "werewolf")


def test_patterns_of_names_make_populations_of_any_world() -> None:
    world = Corridor(2, agents=4)
    groups = {"first": ["walker_0", "walker_1"], "rest": ["walker_[23]"]}
    found = find_populations(PopulationGroup(by="name", groups=groups), world)
    assert found.names == ("first", "rest")
    assert found.of(world).tolist() == [[0, 0, 1, 1]] * 2
