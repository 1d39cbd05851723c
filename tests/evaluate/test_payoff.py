"""Payoffs between players: each match counts once; equilibria."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.league_table import exploitability, mix_league, nash

CIRCLE = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
MATCHES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([-1.0, 0.0, 1.0, np.nan])), max_size=40
)


def played(matches: list[tuple[int, int, float]]) -> Payoff:
    payoff = Payoff.empty(4)
    row, column, outcome = (
        (np.array(part) for part in zip(*matches, strict=True)) if matches else [np.zeros(0, int)] * 3
    )
    payoff.add(row, column, outcome)
    return payoff


@given(MATCHES)
def test_every_finished_match_between_two_counts_once(matches: list[tuple[int, int, float]]) -> None:
    payoff = played(matches)
    counted = [(a, b, o) for a, b, o in matches if a != b and np.isfinite(o)]
    assert payoff.matches.sum() == len(counted)
    for a in range(4):
        for b in range(4):
            own = [o for i, j, o in counted if (i, j) == (a, b)]
            assert payoff.matches[a, b] == len(own)
            assert payoff.total[a, b] == sum(own)
            both = own + [-o for i, j, o in counted if (i, j) == (b, a)]
            assert payoff.merged()[a, b] == pytest.approx(np.mean(both) if both else 0.0)


@given(MATCHES)
def test_merged_payoffs_are_antisymmetric_and_win_rates_add_up(matches: list[tuple[int, int, float]]) -> None:
    payoff = played(matches)
    merged, rates = payoff.merged(), payoff.win_rates(least=3)
    assert np.array_equal(merged, -merged.T)
    assert (np.abs(merged) <= 1).all()
    assert np.allclose(rates + rates.T, 1.0)
    assert (rates[payoff.met < 3] == 0.5).all()


@pytest.mark.parametrize("place", range(4))
def test_a_newcomer_enters_the_mixture_with_its_tenth_match(place: int) -> None:
    """Of three the better one wins 7 of 10; the newcomer wins all its matches."""
    best, middle, last = (player for player in range(4) if player != place)
    tenths = [
        (a, b, o) for a, b in ((best, middle), (best, last), (middle, last)) for o in [1.0] * 7 + [-1.0] * 3
    ]
    for count, expected in ((1, best), (9, best), (10, place)):
        won = [(place, other, 1.0) for other in (best, middle, last)] * count
        mixture = mix_league(played([*tenths, *won]))
        assert mixture == pytest.approx(np.eye(4)[expected])


def test_who_met_least_comes_next() -> None:
    payoff = played([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 0.0), (0, 3, 1.0), (3, 1, 1.0)])
    assert payoff.least_played(np.arange(4)) == (2, 3)
    assert payoff.least_played(np.array([0, 1])) == (0, 1)
    assert payoff.least_played(np.array([2])) is None


def test_the_first_seat_s_advantage_is_seen() -> None:
    assert played([(0, 1, 1.0), (1, 0, 1.0), (0, 1, 1.0), (1, 0, 0.0)]).seat_advantage() == 0.75
    assert np.isnan(Payoff.empty(2).seat_advantage())


def test_a_circle_is_mixed_equally_and_a_dominant_player_alone() -> None:
    assert nash(CIRCLE) == pytest.approx(np.full(3, 1 / 3))
    best = np.array([[0.0, 0.2, 0.4], [-0.2, 0.0, 0.9], [-0.4, -0.9, 0.0]])
    assert nash(best) == pytest.approx([1.0, 0.0, 0.0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_nobody_beats_the_equilibrium(seed: int, players: int) -> None:
    draws = np.random.default_rng(seed).normal(size=(players, players))
    payoff = draws - draws.T
    mixture = nash(payoff)
    assert mixture.sum() == pytest.approx(1.0)
    assert (mixture >= 0).all()
    assert exploitability(mixture, payoff) <= 1e-7
