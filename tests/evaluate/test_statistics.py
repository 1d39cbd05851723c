"""Means, their errors and differences, against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.evaluate.statistics import Estimate, difference, estimate


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
