"""Visits, coverage and random walkers, against known walks."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.evaluate.lifetimes.coverage import (
    RandomWalkers,
    VisitRecorder,
    WalkerRecorder,
    against_control,
    coverage,
    log_steps,
    visit_entropy,
)
from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, SCRUB, STONE, WATER
from tests.evaluate.ticks import tick


def test_coverage_of_a_known_walk():
    visits = VisitRecorder(1, 2, 8)
    # Two agents walk along row 0 and row 1, the second turns back after three cells.
    for a, b in zip(range(5), [0, 1, 2, 1, 0], strict=True):
        visits.add(tick(slots=2, row=[0, 1], col=[a, b], population=[0, 1]))
    assert coverage(visits, [20], [0, 1, 2, 3, 4, 6, 8, 10])[0].tolist() == [
        0,
        0,
        0.1,
        0.1,
        0.2,
        0.3,
        0.35,
        0.4,
    ]
    assert coverage(visits, [20], [3, 5], group=1)[0].tolist() == [3 / 20, 3 / 20]
    assert np.isnan(coverage(visits, [20], [11])[0, 0])
    assert visits.counts[1, 1, :4].tolist() == [2, 2, 1, 0]
    assert visits.counts.sum() == 10
    assert log_steps(visits)[-1] == 10


def test_the_dead_and_lava_do_not_count():
    visits = VisitRecorder(1, 1, 8)
    tiles = np.full((1, 8, 8), GRASS)
    tiles[0, 0, 1] = LAVA
    visits.add(tick(slots=3, col=[0, 1, 2], alive=[True, True, False], tiles=tiles))
    assert visits.counts.sum() == 1
    assert visits.steps[0].tolist() == [1, 1]


def test_entropy_of_visits():
    assert visit_entropy(np.array([3, 0, 0]), 3) == 0
    assert visit_entropy(np.array([3, 3, 0, 0]), 4) == pytest.approx(0.5)
    assert visit_entropy(np.zeros(3), 3) == 0


class Seen:
    """A recorder that keeps places."""

    def __init__(self):
        self.ticks = []

    def add(self, tick):
        self.ticks.append((tick.row.copy(), tick.col.copy(), tick.alive.copy()))


def test_walkers_are_born_where_and_when_agents_are():
    seen = Seen()
    control = WalkerRecorder(seen, seed=3)
    control.add(tick(slots=2, row=[3, 5], col=[4, 6], alive=[True, False]))
    for step in range(1, 6):
        control.add(tick(slots=2, row=[0, 0], col=[7, 7], life=[0, 9], alive=[True, step >= 2]))
    rows, cols, alive = (np.array([t[i][0] for t in seen.ticks]) for i in range(3))
    assert (rows[0, 0], cols[0, 0]) == (3, 4)
    assert (rows[2, 1], cols[2, 1]) == (0, 7)  # born in the third tick, at its own birth place
    moved = np.abs(np.diff(rows[:, 0])) + np.abs(np.diff(cols[:, 0]))
    assert moved.max() == 1
    assert alive.sum() == 6 + 4  # as many steps as the agents took


def test_a_reborn_slot_is_a_new_walker_even_in_the_same_tick():
    walkers = RandomWalkers(1)
    walkers.follow(tick(slots=1, row=[4], col=[4]))
    for life in range(1, 5):
        moved = walkers.follow(tick(slots=1, row=[life], col=[7], life=[life]))
        assert (moved.row[0, 0], moved.col[0, 0]) == (life, 7)


def test_walkers_keep_to_open_tiles_and_choose_evenly():
    """In a room of 2 x 2 cells enclosed by water, stone and lava, the walk is uniform in the long run."""
    tiles = np.full((1, 4, 4), STONE)
    tiles[0, 0, :], tiles[0, :, 3] = LAVA, WATER
    tiles[0, 1:3, 1:3] = [[GRASS, SCRUB], [FOREST, GRASS]]
    tiles[0, 3, 3] = GRASS
    walkers = RandomWalkers(2)
    counts = np.zeros((4, 4))
    for _ in range(400):
        now = walkers.follow(tick(slots=64, side=4, row=[1] * 64, col=[1] * 64, tiles=tiles))
        np.add.at(counts, (now.row[0], now.col[0]), 1)
    room = counts[1:3, 1:3]
    assert room.sum() == counts.sum()
    assert np.abs(room / room.sum() - 0.25).max() < 0.02


def test_a_straight_walk_covers_more_than_its_control():
    agents, control = VisitRecorder(1, 1, 40), VisitRecorder(1, 1, 40)
    beside = WalkerRecorder(control, seed=4)
    for step in range(30):
        now = tick(slots=20, side=40, row=2 * np.arange(20), col=[step] * 20)
        agents.add(now)
        beside.add(now)
    found = against_control(agents, control, np.array([1600]), steps=(20, 200, 600, 10_000))
    assert found.agents[0] == found.control[0] == 20 / 1600  # the births
    assert found.agents[2] == 600 / 1600
    assert found.ratio[2] > 2
    assert np.isnan(found.ratio[3])
    assert (agents.steps == control.steps).all()
