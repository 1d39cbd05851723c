"""Alpha-rank: two strategies in closed form, circles, OpenSpiel's numbers if it is installed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from interplay.core import seeding
from interplay.evaluate.tournaments.ratings.alpha_rank import alpha_rank, stationary

CIRCLE = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def fixation(u: float, m: int) -> float:
    """With a constant advantage of the mutant: the geometric sum."""
    return (1 - math.exp(-u)) / (1 - math.exp(-m * u))


def test_two_strategies_in_closed_form():
    # r earns 1 against everybody, s earns 0: the advantage is 1 whatever the population.
    payoffs = np.array([[1.0, 1.0], [0.0, 0.0]])
    up, down = fixation(0.3, 7), fixation(-0.3, 7)
    assert alpha_rank(payoffs, alpha=0.3, m=7) == pytest.approx([up / (up + down), down / (up + down)])


def test_neutral_strategies_share_equally():
    assert alpha_rank(np.ones((4, 4)), alpha=50.0) == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 100.0])
def test_who_beat_each_other_in_a_circle_share_equally(alpha):
    assert alpha_rank(CIRCLE, alpha) == pytest.approx([1 / 3] * 3)


def test_one_strategy():
    assert alpha_rank(np.zeros((1, 1))).tolist() == [1.0]


def test_the_winner_takes_all_where_selection_is_strong():
    wins = np.array([[0.5, 0.9, 0.8], [0.1, 0.5, 0.6], [0.2, 0.4, 0.5]])
    assert alpha_rank(wins, alpha=1e4)[0] == pytest.approx(1.0)


def test_stationary_is_stationary_even_for_hardly_connected_chains():
    rng = seeding.generator(1, 1)
    exponents = rng.integers(0, 120, (6, 6))
    move = rng.random((6, 6)) * 10.0**-exponents
    np.fill_diagonal(move, 0.0)
    pi = stationary(np.log(move + np.eye(6)))
    assert pi @ move == pytest.approx(pi * move.sum(axis=1), rel=1e-9, abs=0)


def test_moves_too_rare_to_be_written_still_decide():
    # Two states that are left once in e^2000 and once in e^2001 steps.
    pi = stationary(np.array([[0.0, -2000.0], [-2001.0, 0.0]]))
    assert pi == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e)])


def test_the_same_numbers_as_openspiel():
    theirs = pytest.importorskip("open_spiel.python.egt.alpharank", reason="compares with OpenSpiel")
    rng = seeding.generator(9, 1)
    for alpha in (0.5, 3.0, 10.0):
        payoffs = rng.random((4, 4))
        pi = theirs.compute([payoffs], alpha=alpha, m=20, use_local_selection_model=False)[2]
        assert alpha_rank(payoffs, alpha, 20) == pytest.approx(pi, abs=1e-12)
