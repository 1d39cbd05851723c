"""Product-limit curves against numbers worked by hand and against lives without end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core import seeding
from interplay.evaluate.lifetimes.survival import (
    count_ages,
    kaplan_meier,
    median_life,
    restricted_mean,
    restricted_means,
)

# The treated group of Freireich et al. (1963), 21 patients, the example of every text book: weeks in remission.
WEEKS = np.array([6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35])
ENDED = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], bool)


def test_the_remission_times_of_the_text_books():
    curve = kaplan_meier(WEEKS, ENDED)
    assert curve.time.tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert curve.at_risk.tolist() == [21, 17, 15, 12, 11, 7, 6]
    assert curve.deaths.tolist() == [3, 1, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(curve.share, [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448], atol=5e-4)
    np.testing.assert_allclose(
        curve.error, [0.0764, 0.0869, 0.0963, 0.1068, 0.1141, 0.1282, 0.1346], atol=5e-5
    )
    assert median_life(curve) == 23


def test_the_curve_by_hand():
    # S = 1 up to 2, 3/4 up to 3, then (3/4)(2/3) = 1/2: one of the two that reach 3 beside the dead is cut there.
    curve = kaplan_meier(np.array([2, 3, 3, 5]), np.array([True, True, False, True]))
    assert restricted_mean([2, 3, 5], [3], 5) == 2 + 0.75 + 0.5 * 2
    assert restricted_mean([2, 3, 5], [3], 1) == 1
    assert curve.at([0, 1.9, 2, 4.9, 5, 9]).tolist() == [1, 1, 0.75, 0.5, 0, 0]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60))
def test_without_unfinished_lives_it_is_the_plain_share_and_the_plain_mean(lengths):
    lengths = np.array(lengths)
    curve = kaplan_meier(lengths, np.ones(len(lengths), bool))
    for t in (0, 1, 7, 50):
        assert curve.at(t) == pytest.approx((lengths > t).mean())
    assert curve.share[-1] == 0


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


def test_means_by_hand():
    # Reached 1: 5, one dies: 4/5. Cut at 2. Reached 3: 3, one dies: 8/15. Reached 6: 2, both die: 0.
    curve = kaplan_meier(np.array([1, 3, 6, 6, 2]), np.array([True] * 4 + [False]))
    assert curve.time.tolist() == [1, 3, 6]
    assert curve.share == pytest.approx([4 / 5, 8 / 15, 0])
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
    curve = kaplan_meier(np.array([*ended, *cut]), np.arange(len(ended) + len(cut)) < len(ended))
    area = np.diff([0, *curve.time, horizon]) @ np.array([1.0, *curve.share])
    assert restricted_mean(ended, cut, horizon) == pytest.approx(area)


def test_cutting_does_not_bias_the_mean():
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


def test_cutting_lives_does_not_bias_the_curve():
    rng = np.random.default_rng(1)
    lengths, cut = rng.geometric(1 / 40, 20_000), rng.integers(1, 120, 20_000)
    curve = kaplan_meier(np.minimum(lengths, cut), lengths <= cut)
    assert curve.at(40) == pytest.approx((lengths > 40).mean(), rel=0.02)
    completed_only = lengths[lengths <= cut].mean()
    assert completed_only < 0.7 * lengths.mean()


def test_a_life_that_goes_on_has_no_median():
    assert np.isnan(median_life(kaplan_meier(np.array([4]), np.array([False]))))


@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=20))
def test_every_figure_is_what_the_definition_gives(lives):
    length, ended = np.array([age for age, _ in lives]), np.array([done for _, done in lives])
    curve = kaplan_meier(length, ended)

    def share(t: int) -> tuple[float, float]:
        """S(t) and the sum in Greenwood's formula, death by death."""
        product, terms = 1.0, 0.0
        for age in range(t + 1):
            dead, there = sum(a == age and done for a, done in lives), sum(a >= age for a, _ in lives)
            if dead:
                product *= 1 - dead / there
                terms += dead / (there * (there - dead)) if there > dead else 0.0
        return product, terms

    times = range(14)
    np.testing.assert_allclose(curve.at(np.array(times)), [share(t)[0] for t in times], atol=1e-12)
    for age, said, error in zip(curve.time.tolist(), curve.share, curve.error, strict=True):
        product, terms = share(age)
        assert said == pytest.approx(product)
        assert error == pytest.approx(product * np.sqrt(terms), abs=1e-12)
    half = [t for t in times if share(t)[0] <= 0.5 + 1e-12]
    assert median_life(curve) == (half[0] if half else pytest.approx(np.nan, nan_ok=True))


@pytest.mark.parametrize(("lives", "median"), [((1, 2), 1), ((3, 5, 7, 9), 5), ((4,), 4), ((2, 2, 6, 6), 2)])
def test_the_median_is_where_half_have_died(lives, median):
    assert median_life(kaplan_meier(np.array(lives), np.ones(len(lives), bool))) == median


def test_the_median_of_any_even_number_of_lives_is_where_half_have_died():
    """The share is a product of fractions, which seldom comes out as exactly 1/2."""
    for count in range(2, 120, 2):
        curve = kaplan_meier(np.arange(1, count + 1), np.ones(count, bool))
        assert median_life(curve) == count // 2, count
