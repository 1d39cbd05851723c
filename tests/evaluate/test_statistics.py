"""Means, errors, intervals and aggregates, against numbers worked by hand and simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize, stats

from interplay.evaluate.statistics import (
    Estimate,
    difference,
    estimate,
    improvement_ends,
    improvement_interval,
    interquartile_interval,
    interquartile_mean,
    mean_interval,
    probability_of_improvement,
)
from interplay.view.seed_means import curve_band


def test_by_hand():
    found = estimate([2, 4, 4, 4, 5, 5, 7, 9])
    assert found.mean == 5.0
    assert found.standard_error == pytest.approx(np.sqrt(32 / 7) / np.sqrt(8))
    assert str(found) == "5 ± 0.76"


def test_one_value_has_no_error():
    assert estimate([3]) == Estimate(3.0, None, 1)
    assert difference(estimate([3]), estimate([1, 2])).sigmas is None


def test_missing_values_are_left_out_and_none_is_a_dash():
    with_gaps = estimate([np.nan, 2, 4, np.nan, 4, 4, 5, 5, 7, 9])
    assert with_gaps == estimate([2, 4, 4, 4, 5, 5, 7, 9])
    assert estimate([np.nan, 3]) == Estimate(3.0, None, 1)
    none = estimate([np.nan, np.nan])
    assert (np.isnan(none.mean), none.standard_error, none.n, str(none)) == (True, None, 0, "-")
    assert difference(none, estimate([1, 2])).sigmas is None
    assert np.isinf(estimate([np.inf]).mean)  # no missing value but a fault, which has to show


def test_a_rare_share_has_an_interval():
    """Of 0 in 20 the upper end is z^2 / (20 + z^2) = 3.841459 / 23.841459 = 0.161126."""
    none, every = estimate([0.0] * 20), estimate([True] * 20)
    assert (none.mean, none.low, none.high) == (0.0, 0.0, pytest.approx(0.161126, abs=1e-6))
    assert (every.mean, every.low, every.high) == (1.0, pytest.approx(0.838874, abs=1e-6), 1.0)
    assert str(none) == "0.00 [0.00, 0.16]"


def test_a_share_is_a_column_of_0_and_1_alone_or_what_is_called_one():
    # 3 of 5: (0.6 + 0.384146 -+ 1.959964 sqrt(0.048 + 0.0384146)) / 1.768292
    found = estimate([1, 0, np.nan, 1, 1, 0])
    assert (found.mean, found.n) == (0.6, 5)
    assert (found.low, found.high) == (pytest.approx(0.230724, abs=1e-5), pytest.approx(0.882379, abs=1e-5))
    assert estimate([0, 1, 2]).low is None
    assert estimate([0, 1, 1], share=False).low is None
    assert estimate([0, 0.5, 1, 0.5], share=True).low == estimate([0, 0, 1, 1]).low


def test_two_shares_differ_by_newcombes_interval():
    """0 of 20 against 5 of 20: 0.25 - sqrt((0.25 - 0.111862)^2 + 0.161126^2) is the end towards 0."""
    none, some = estimate([0.0] * 20), estimate([0.0] * 15 + [1.0] * 5)
    assert some.low == pytest.approx(0.111862, abs=1e-5)
    found, back = difference(some, none), difference(none, some)
    assert found.error == pytest.approx(0.212240 / 1.959964, abs=1e-5)
    assert (found.sigmas, back.sigmas) == (pytest.approx(0.25 / 0.108287, abs=1e-3), -found.sigmas)
    assert difference(none, none).error > 0.08
    assert difference(none, none).sigmas == 0


def test_without_spread_there_are_no_sigmas_unless_equal():
    same, other = estimate([1, 1]), estimate([2, 2])
    assert difference(same, same).sigmas == 0.0
    assert difference(same, other).sigmas is None
    assert difference(same, other).difference == -1.0


def test_the_error_covers_the_truth_as_often_as_it_should():
    rng = np.random.default_rng(0)
    samples = [estimate(rng.exponential(size=100)) for _ in range(2000)]
    within = np.mean([abs(s.mean - 1.0) <= 2 * s.standard_error for s in samples])
    assert 0.92 < within < 0.97


# default_rng(1): normal(0, 1, (10, 3)) and normal(0.5, 1, (7, 3)), three decimals.
RNG = np.random.default_rng(1)
A, B = RNG.normal(0, 1, (10, 3)).round(3), RNG.normal(0.5, 1, (7, 3)).round(3)
IQM, IMPROVEMENT = 0.0439375, 0.3428571428571428  # of rliable 1.2.0
STUDIES = 1_000


def test_the_published_package_says_the_same():
    assert float(interquartile_mean(A)) == pytest.approx(IQM, abs=1e-12)
    assert float(probability_of_improvement(A, B)) == pytest.approx(IMPROVEMENT, abs=1e-12)


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
    scores = np.arange(8.0)
    wild = scores.copy()
    wild[7] = 1e6
    assert interquartile_interval(wild) == interquartile_interval(scores)
    assert mean_interval(wild).value > 1e5


def covered(low: list[float], high: list[float], truth: float) -> float:
    return float(np.mean((np.array(low) <= truth) & (truth <= np.array(high))))


# Scores of seeds: name -> draws of a size, and their mean; the interquartile mean is found from a million of them.
SKEWED = {
    "normal": lambda rng, size: rng.normal(10, 3, size),
    "share": lambda rng, size: rng.beta(8, 3, size),  # of games won, skewness -0.5
    "skewed": lambda rng, size: rng.gamma(8, 1.0, size),  # skewness 0.7
}


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize("kind", SKEWED)
def test_intervals_of_means_cover_what_they_say_within_two_points(kind, seeds):
    rng = np.random.default_rng([seeds, len(kind)])
    many = SKEWED[kind](rng, 1_000_000)
    scores = SKEWED[kind](rng, (STUDIES, seeds))
    middle = many.mean() if seeds < 4 else float(interquartile_mean(many[:, None]))
    for interval, truth in ((mean_interval, many.mean()), (interquartile_interval, middle)):
        _, low, high = zip(*(interval(own) for own in scores), strict=True)
        assert abs(covered(low, high, truth) - 0.95) <= 0.02, interval
    _, low, high = curve_band(scores.T)  # a thousand windows
    assert abs(covered(low, high, many.mean()) - 0.95) <= 0.02


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize(("shift", "spread"), [(0.0, 1.0), (1.0, 1.0), (2.5, 1.0), (1.0, 1.5)])
def test_the_interval_of_an_improvement_covers_what_it_says_within_two_points(shift, spread, seeds):
    """For normal scores with deviations 1 and 1.5."""
    rng = np.random.default_rng([seeds, int(10 * shift), int(10 * spread)])
    scores, others = rng.normal(shift, spread, (STUDIES, seeds)), rng.normal(0, 1, (STUDIES, seeds))
    low, high = improvement_ends(scores, others, 0.95)
    truth = float(stats.norm.cdf(shift / np.hypot(1, spread)))
    assert abs(covered(list(low), list(high), truth) - 0.95) <= 0.02
    one = improvement_interval(scores[0], others[0])
    assert (one.low, one.high) == pytest.approx((min(low[0], one.value), max(high[0], one.value)))


def test_the_interval_of_an_improvement_is_that_of_the_noncentral_t():
    scores, others = np.array([4.0, 5.0, 7.0]), np.array([1.0, 2.0, 4.5, 3.0])
    t, size = stats.ttest_ind(scores, others).statistic, np.sqrt(12 / 7)
    shifts = [optimize.brentq(lambda d, p=p: stats.nct.cdf(t, 5, d) - p, -20, 40) for p in (0.975, 0.025)]
    ends = stats.norm.cdf(np.array(shifts) / size / np.sqrt(2))
    assert improvement_interval(scores, others)[1:] == pytest.approx(ends, abs=1e-8)


def test_a_single_run_and_runs_without_spread_give_no_false_certainty():
    for interval in (mean_interval, interquartile_interval):
        alone = interval(np.array([3.0]))
        assert alone.value == 3.0
        assert np.isnan([alone.low, alone.high]).all()
    for pair in (([1.0, 1.0, 1.0], [2.0, 2.0]), ([1.0], [2.0, 3.0])):
        found = improvement_interval(*map(np.array, pair))
        assert found.value == 0.0
        assert np.isnan([found.low, found.high]).all()
