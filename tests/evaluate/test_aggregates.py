"""Aggregates over seeds: closed forms, the published package's numbers, and intervals that cover what they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from interplay.evaluate.aggregates import bootstrap, interquartile_mean, mean, probability_of_improvement

# default_rng(1): normal(0, 1, (10, 3)) and normal(0.5, 1, (7, 3)), three decimals.
RNG = np.random.default_rng(1)
A, B = RNG.normal(0, 1, (10, 3)).round(3), RNG.normal(0.5, 1, (7, 3)).round(3)
# What rliable 1.2.0 (with arch 7.2, pandas 2) says of them; its intervals from 20,000 and 5,000 draws.
IQM, IMPROVEMENT = 0.0439375, 0.3428571428571428
IQM_INTERVAL, IMPROVEMENT_INTERVAL = (-0.1828, 0.2755), (0.2000, 0.4906)


def test_the_published_package_says_the_same():
    assert float(interquartile_mean(A)) == pytest.approx(IQM, abs=1e-12)
    assert float(probability_of_improvement(A, B)) == pytest.approx(IMPROVEMENT, abs=1e-12)
    found = bootstrap(interquartile_mean, [A], draws=20_000)
    assert found[1:] == pytest.approx(IQM_INTERVAL, abs=0.015)
    found = bootstrap(probability_of_improvement, [A, B], draws=20_000)
    assert found[1:] == pytest.approx(IMPROVEMENT_INTERVAL, abs=0.015)


SCORES = arrays(
    float, st.tuples(st.integers(1, 9), st.integers(1, 4)), elements=st.integers(-9, 9).map(float)
)


@given(SCORES)
def test_the_interquartile_mean_is_the_trimmed_mean(scores):
    assert float(interquartile_mean(scores)) == pytest.approx(stats.trim_mean(scores.ravel(), 0.25))


@given(SCORES, st.integers(1, 9), st.integers(0, 99))
def test_improvement_is_the_statistic_of_mann_and_whitney(scores, runs, seed):
    others = np.random.default_rng(seed).integers(-9, 9, (runs, scores.shape[1])).astype(float)
    expected = [
        stats.mannwhitneyu(scores[:, k], others[:, k]).statistic / (len(scores) * runs)
        for k in range(scores.shape[1])
    ]
    found = float(probability_of_improvement(scores, others))
    assert found == pytest.approx(np.mean(expected))
    assert found + float(probability_of_improvement(others, scores)) == pytest.approx(1.0)


def test_one_outlier_moves_the_mean_and_not_the_interquartile_mean():
    scores = np.arange(8.0)[:, None]
    wild = scores.copy()
    wild[7] = 1e6
    assert interquartile_mean(wild) == interquartile_mean(scores)
    assert mean(wild) > 1e5


def test_tasks_are_drawn_each_by_itself():
    """Two tasks whose runs mirror each other: rows drawn whole would give a mean without any spread."""
    scores = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [-2.0, 2.0]])
    found = bootstrap(mean, [scores])
    assert found.value == 0
    assert found.low < -0.5 < 0.5 < found.high


def test_the_interval_of_a_mean_covers_it_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(300):
        found = bootstrap(mean, [rng.normal(3.0, 1.0, (30, 1))], seed=trial, draws=500)
        hits += found.low <= 3.0 <= found.high
    assert 0.89 <= hits / 300 <= 0.98  # percentile intervals of 30 are a little narrow


def test_the_same_seed_gives_the_same_interval_and_a_single_run_none():
    assert bootstrap(mean, [A], seed=1) == bootstrap(mean, [A], seed=1)
    assert bootstrap(mean, [A], seed=1) != bootstrap(mean, [A], seed=2)
    alone = bootstrap(mean, [A[:1]])
    assert alone.value == float(mean(A[:1]))
    assert np.isnan([alone.low, alone.high]).all()
