"""Elo by maximum likelihood: closed forms, planted strengths, and invariants for any results."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core import seeding
from interplay.evaluate.tournaments.ratings.bradley_terry import elo, win_probability

counts = st.integers(0, 12)


@st.composite
def results(draw):
    """Wins of 2 to 5 players, halves for draws."""
    players = draw(st.integers(2, 5))
    wins = np.array(draw(st.lists(counts, min_size=players**2, max_size=players**2)), float)
    wins = wins.reshape(players, players)
    drawn = np.array(draw(st.lists(st.integers(0, 3), min_size=players**2, max_size=players**2)))
    drawn = np.triu(drawn.reshape(players, players), 1)
    wins += 0.5 * (drawn + drawn.T)
    np.fill_diagonal(wins, 0.0)
    return wins


def test_two_players_have_a_closed_form():
    found = elo(np.array([[0.0, 30.0], [10.0, 0.0]]), draws=0.0)
    assert found[0] - found[1] == pytest.approx(400 * math.log10(3))
    assert win_probability(found[0], found[1]) == pytest.approx(0.75)


def test_planted_strengths_are_found():
    planted = np.array([180.0, 60.0, -40.0, -200.0])
    rng = seeding.generator(3, 1)
    wins = np.zeros((4, 4))
    for i in range(4):
        for j in range(i):
            wins[i, j] = rng.binomial(20_000, win_probability(planted[i], planted[j]))
            wins[j, i] = 20_000 - wins[i, j]
    # One standard error of a difference is about 2 points here.
    assert elo(wins) == pytest.approx(planted, abs=8)


def test_who_never_lost_has_a_finite_rating():
    found = elo(np.array([[0.0, 500.0, 500.0], [0.0, 0.0, 400.0], [0.0, 0.0, 0.0]]))
    assert np.isfinite(found).all()
    assert found[0] > found[1] + 400 > found[2] + 800


def test_groups_that_never_met_are_rated_apart():
    wins = np.zeros((4, 4))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 9, 1, 1, 9
    found = elo(wins)
    assert found[0] == pytest.approx(-found[1]) == pytest.approx(found[3]) == pytest.approx(-found[2])


@settings(max_examples=60, deadline=None)
@given(results(), st.data())
def test_a_win_never_lowers_the_winner(wins, data):
    players = len(wins)
    winner, loser = data.draw(st.permutations(range(players)))[:2]
    # The pair has met before, so that the prior draws are the same with and without the win.
    wins[winner, loser] += 0.5
    wins[loser, winner] += 0.5
    before = elo(wins)
    wins[winner, loser] += 1
    after = elo(wins)
    assert after[winner] - after[loser] > before[winner] - before[loser]
    assert after[winner] >= before[winner] - 1e-6


@settings(max_examples=40, deadline=None)
@given(results())
def test_the_gradient_vanishes_and_relabelling_changes_nothing(wins):
    found = elo(wins)
    met = (wins + wins.T) > 0
    with_draws = wins + 0.5 * met
    expected = (with_draws + with_draws.T) / (1 + 10 ** ((found[None, :] - found[:, None]) / 400))
    assert (with_draws - expected).sum(axis=1) == pytest.approx(np.zeros(len(wins)), abs=1e-6)
    order = np.arange(len(wins))[::-1]
    assert elo(wins[np.ix_(order, order)]) == pytest.approx(found[order], abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(results())
def test_symmetric_results_give_equal_ratings(wins):
    assert elo(wins + wins.T) == pytest.approx(np.zeros(len(wins)), abs=1e-6)


def test_a_batch_is_its_parts():
    rng = seeding.generator(5, 1)
    wins = rng.integers(0, 9, (7, 4, 4)).astype(float)
    assert elo(wins) == pytest.approx(np.stack([elo(one) for one in wins]), abs=1e-5)
