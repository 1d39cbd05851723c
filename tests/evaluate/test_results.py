"""Shares won, lost, drawn and cut, against numbers worked by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.evaluate.results import NAMES, has_outcome, limit_ended, results, share_of, sides_by_name
from interplay.registry import make_world

NAN = np.nan


def test_shares_of_one_side_by_hand():
    outcome = np.array([1, 1, 1, -1, -1, 0, 0, 0, NAN, 1])
    limit = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], bool)
    found = results(outcome, limit).means()
    # A winner at the limit has won; an even episode is drawn only where the rules ended it.
    assert found == {"won": 0.4, "lost": 0.2, "drawn": 0.1, "cut": pytest.approx(0.3)}


def test_agents_of_a_side_that_won_and_lost_apart_count_by_their_share():
    outcome = np.array([[1, -1], [1, 1], [NAN, 0], [NAN, NAN]])
    found = results(outcome, np.array([False, False, False, False]))
    assert found.won.tolist() == [0.5, 1, 0, 0]
    assert found.lost.tolist() == [0.5, 0, 0, 0]
    assert found.drawn.tolist() == [0, 0, 1, 0]
    assert found.cut.tolist() == [0, 0, 0, 1], "an episode whose result nobody knows was stopped"


@given(st.lists(st.tuples(st.sampled_from([1.0, 0.0, -1.0, NAN]), st.booleans()), min_size=1, max_size=40))
def test_the_four_sum_to_one_and_mirror_between_two_sides(episodes):
    outcome, limit = (np.array(column) for column in zip(*episodes, strict=True))
    mine, theirs = results(outcome, limit), results(-outcome, limit)
    np.testing.assert_array_equal(sum(mine), 1.0)
    assert sum(mine.means().values()) == pytest.approx(1.0)
    np.testing.assert_array_equal(mine.won, theirs.lost)
    np.testing.assert_array_equal(mine.drawn, theirs.drawn)
    np.testing.assert_array_equal(mine.cut, theirs.cut)
    assert not (mine.drawn * limit).any(), "at a limit nothing is drawn"


def test_wilson_by_hand():
    # p = 0.38, n = 100, z^2 = 3.8415: (0.38 + 0.019207 -+ 1.96 sqrt(0.002356 + 0.000096)) / 1.038415
    found = share_of(38, 100)
    assert (found.share, found.n) == (0.38, 100)
    assert (found.low, found.high) == (pytest.approx(0.2910, abs=1e-4), pytest.approx(0.4779, abs=1e-4))
    assert str(found) == "0.38 [0.29, 0.48]"
    assert share_of(10, 10).high == pytest.approx(1.0)
    assert share_of(10, 10).low == pytest.approx(10 / (10 + 3.8415), abs=1e-4)
    assert np.isnan(share_of(0, 0).share)


@pytest.mark.parametrize("p", [0.05, 0.38, 0.5, 0.9])
def test_the_interval_covers_the_truth_as_often_as_it_should(p):
    n, covered = 100, 0.0
    for won in range(n + 1):
        share = share_of(won, n)
        covered += comb(n, won) * p**won * (1 - p) ** (n - won) * (share.low <= p <= share.high)
    assert covered == pytest.approx(0.95, abs=0.02)


def test_worlds_with_and_without_an_outcome():
    battle, dilemma = make_world("battle/3m", 2), make_world("dilemma/fixed", 2)
    for world in (battle, dilemma):
        world.reset()
    assert has_outcome(battle)
    assert not has_outcome(dilemma)
    assert dict(sides_by_name(battle)) == {"red": (0, 1, 2), "blue": (3, 4, 5)}
    assert list(sides_by_name(make_world("pommerman/team", 1))) == ["team0", "team1"]
    assert len(sides_by_name(dilemma)) == len(dilemma.agents)
    assert len(NAMES) == 4


def test_a_limit_ends_what_is_over_and_truncated():
    truncated = np.array([[True, False], [True, True], [False, False]])
    assert limit_ended(truncated, np.array([True, False, True])).tolist() == [True, False, False]
