"""Kaplan-Meier means against numbers worked by hand, and against the truth where lives are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core import seeding
from interplay.evaluate.lifetimes import (
    bootstrap_groups,
    count_ages,
    restricted_mean,
    restricted_means,
    survival_curve,
)

ages = st.lists(st.integers(0, 30), max_size=25)


def naive_mean(ended, cut, horizon) -> float:
    """The product-limit estimator read off its definition, tick by tick."""
    alive, area = 1.0, 0.0
    for t in range(horizon):
        reached = sum(age >= t for age in [*ended, *cut])
        died = sum(age == t for age in ended)
        if reached:
            alive *= 1 - died / reached
        area += alive
    return area


def test_by_hand():
    # Reached 1: 5, one dies: 4/5. Cut at 2. Reached 3: 3, one dies: 8/15. Reached 6: 2, both die: 0.
    at, alive = survival_curve([1, 3, 6, 6], cut=[2])
    assert at.tolist() == [1, 3, 6]
    assert alive == pytest.approx([4 / 5, 8 / 15, 0])
    assert restricted_mean([1, 3, 6, 6], [2], 100) == pytest.approx(1 + 2 * 4 / 5 + 3 * 8 / 15)
    assert restricted_mean([1, 3, 6, 6], [2], 4) == pytest.approx(1 + 2 * 4 / 5 + 1 * 8 / 15)


def test_without_lives_nothing_is_known():
    assert np.isnan(restricted_mean([], [], 10))
    assert restricted_mean([], [3, 10], 10) == 10.0


@given(ages.filter(bool), st.integers(1, 40))
def test_lives_that_all_ended_have_their_plain_mean(ended, horizon):
    assert restricted_mean(ended, (), horizon) == pytest.approx(np.minimum(ended, horizon).mean())


@settings(max_examples=200)
@given(ages, ages, st.integers(1, 40))
def test_the_same_as_tick_by_tick(ended, cut, horizon):
    if ended or cut:
        assert restricted_mean(ended, cut, horizon) == pytest.approx(naive_mean(ended, cut, horizon))


@given(ages.filter(bool), ages, st.integers(31, 40))
def test_the_curve_and_the_mean_agree(ended, cut, horizon):
    at, alive = survival_curve(ended, cut)
    area = np.diff([0, *at, horizon]) @ np.array([1.0, *alive])
    assert restricted_mean(ended, cut, horizon) == pytest.approx(area)


def test_cutting_does_not_bias():
    rng = seeding.generator(4, 1)
    lives = rng.geometric(0.01, 20_000)
    limit = rng.integers(1, 400, lives.size)
    ended, cut = lives[lives <= limit], limit[lives > limit]
    truth = np.minimum(lives, 300).mean()
    assert restricted_mean(ended, cut, 300) == pytest.approx(truth, rel=0.03)
    assert np.minimum(ended, 300).mean() < 0.75 * truth  # what completed lives alone would say


def test_a_batch_is_its_parts():
    rng = seeding.generator(6, 1)
    sets = [(rng.integers(0, 50, 20), rng.integers(0, 50, 7)) for _ in range(5)]
    ended, cut = (np.stack([count_ages(pair[i], 40) for pair in sets]) for i in (0, 1))
    assert restricted_means(ended, cut) == pytest.approx([restricted_mean(a, b, 40) for a, b in sets])


def test_groups_are_drawn_whole():
    groups = [0, 0, 0, 1, 1, 1]
    drawn = bootstrap_groups(groups, 1, 200)
    kinds = [tuple(sorted({groups[i] for i in picked})) for picked in drawn]
    # Two groups drawn twice with replacement: both in half of the draws.
    assert 0.35 < np.mean([kind == (0, 1) for kind in kinds]) < 0.65
    assert all(len(picked) == 6 for picked in drawn)
    assert bootstrap_groups(groups, 1, 3)[2].tolist() == drawn[2].tolist()
