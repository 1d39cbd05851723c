"""Information and distance in closed form; the null holds random labels and finds planted niches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from interplay.evaluate.information import entropy, mean_distance, mutual_information
from interplay.evaluate.lifetimes.niches import against, niche, random_labels


def slow_information(n: np.ndarray) -> float:
    """The formula, literally."""
    p = n / n.sum()
    return sum(
        p[k, x] * np.log(p[k, x] / (p[k].sum() * p[:, x].sum()))
        for k in range(n.shape[0])
        for x in range(n.shape[1])
        if p[k, x] > 0
    )


@pytest.mark.parametrize("populations", [2, 3, 8])
def test_separated_populations_are_known_from_where_they_are(populations):
    counts = 5 * np.eye(populations)
    assert mutual_information(counts) == pytest.approx(np.log(populations))
    assert mean_distance(counts) == pytest.approx(1)


def test_identical_populations_tell_nothing():
    counts = np.outer([1, 2, 3], [4, 0, 6, 1])
    assert mutual_information(counts) == pytest.approx(0, abs=1e-12)
    assert mean_distance(counts) == pytest.approx(0, abs=1e-7)


@given(arrays(np.int64, (3, 4), elements=st.integers(0, 9)))
def test_information_is_the_formula_and_keeps_its_bounds(counts):
    counts[0, 0] += 1
    found = mutual_information(counts)
    assert found == pytest.approx(slow_information(counts), abs=1e-12)
    assert found <= entropy(counts.sum(axis=1)) + 1e-12
    assert 0 <= mean_distance(counts) <= 1


def test_distance_by_hand():
    # p = (1, 0), q = (1/2, 1/2): H(3/4, 1/4) - 1/2 = 0.3113 bits.
    assert mean_distance(np.array([[4, 0], [3, 3]])) == pytest.approx(np.sqrt(0.311278), abs=1e-5)
    assert mean_distance(np.array([[4, 0], [0, 0]])) == 0


def wanderers(rng: np.random.Generator, population: np.ndarray, pull: float) -> tuple[np.ndarray, np.ndarray]:
    """Steps of lives around random centres in 0..99; `pull` moves the centre to its population's tenth."""
    home = rng.integers(0, 100, len(population))
    pulled = rng.random(len(population)) < pull
    home = np.where(pulled, population * 10 + rng.integers(0, 10, len(population)), home)
    life = np.repeat(np.arange(len(population)), 20)
    return life, np.clip(home[life] + rng.integers(-3, 4, len(life)), 0, 99)


def test_random_labels_stay_inside_the_null():
    scores = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        population = rng.integers(0, 4, 300)
        found = niche(population, *wanderers(rng, population, 0.0), permutations=200, seed=seed)
        assert found.information.value > 0.05  # above zero by chance, which is why there is a null
        scores += [found.information.z, found.share.z, found.distance.z]
        assert found.information.p > 0.002
    assert np.abs(scores).max() < 3.3
    assert abs(np.mean(scores)) < 1


def test_labels_dealt_among_steps_would_cry_wolf():
    """The null permutes lives because steps of one life are dependent."""
    rng = np.random.default_rng(0)
    population = rng.integers(0, 4, 300)
    life, x = wanderers(rng, population, 0.0)
    steps = niche(population[life], np.arange(len(life)), x, permutations=100)
    assert steps.information.z > 10


def test_planted_niches_are_found():
    rng = np.random.default_rng(3)
    population = rng.integers(0, 4, 300)
    found = niche(population, *wanderers(rng, population, 0.3), permutations=300)
    assert found.information.z > 5
    assert found.distance.z > 5
    assert found.information.p == pytest.approx(1 / 301)
    assert found.counts.sum() == 6000


def test_a_single_population_split_at_random_shows_nothing():
    rng = np.random.default_rng(5)
    life, x = wanderers(rng, np.zeros(400, np.int64), 0.5)
    labels = random_labels(400, 8, seed=1)
    assert np.bincount(labels).tolist() == [50] * 8
    assert abs(niche(labels, life, x, permutations=200).information.z) < 3


def test_labels_that_never_vary_have_no_score():
    constant = niche(np.array([0, 1]), np.array([0, 1]), np.array([0, 0]), permutations=1)
    assert np.isnan(constant.information.z)
    assert constant.information.p == 1


def test_a_value_that_every_permutation_gives_too_is_nothing_special():
    told = against(0.5, np.full(19, 0.5))
    assert told.p == 1.0
    assert np.isnan(told.z)
    assert against(0.5, np.array([0.2, 0.5, 0.7])).p == 3 / 4


def test_the_seed_names_the_permutations():
    rng = np.random.default_rng(0)
    population, life = np.arange(20) % 2, np.repeat(np.arange(20), 5)
    x = rng.integers(4, size=100)
    nulls = [niche(population, life, x, 30, seed).information.null.tolist() for seed in (1, 1, 2)]
    assert nulls[0] == nulls[1] != nulls[2]
