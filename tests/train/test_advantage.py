"""Advantages along a trajectory: numbers worked by hand, the textbook's estimator, and a slow twin."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.train.advantage import generalised_advantage

pytestmark = pytest.mark.slow


def estimate(reward, value, acting, ended, bootstrap, last, gamma, lam, by_decision=False):
    column = [jnp.asarray(x, jnp.float32)[:, None] for x in (reward, value)]
    flags = [jnp.asarray(x, bool)[:, None] for x in (acting, ended)]
    boot = jnp.asarray(bootstrap, jnp.float32)[:, None]
    end = jnp.asarray([last], jnp.float32)
    out = generalised_advantage(*column, *flags, boot, end, gamma, lam, by_decision)
    return np.asarray(out.advantage)[:, 0], np.asarray(out.target)[:, 0]


def naive(reward, value, acting, ended, bootstrap, last, gamma, lam):
    """Straight from the definition: decisions are the acting steps of a life, each with its discounted rewards."""
    steps = len(reward)
    advantage, target = np.zeros(steps), np.zeros(steps)
    for t in range(steps):
        # What follows step t: rewards until the next decision, the life's end, or the rollout's end.
        total, discount, u = 0.0, 1.0, t
        while True:
            total += discount * reward[u]
            discount *= gamma
            if ended[u]:
                total += discount * bootstrap[u]
                following = None
                break
            u += 1
            if u == steps:
                total += discount * last
                following = None
                break
            if acting[u]:
                following = u
                break
        target[t] = total if following is None else total + discount * value[following]
        if not acting[t]:
            # Idle: everything that is to come, by the lambda mixture of the next decision.
            target[t] += (
                0.0 if following is None else discount * lam * naive_advantage(following, *args(locals()))
            )
            continue
        advantage[t] = naive_advantage(t, *args(locals()))
        target[t] = value[t] + advantage[t]
    return advantage, target


def args(names):
    return tuple(
        names[k] for k in ("reward", "value", "acting", "ended", "bootstrap", "last", "gamma", "lam")
    )


def naive_advantage(t, reward, value, acting, ended, bootstrap, last, gamma, lam):
    """Sum over the following decisions of (gamma^time)(lambda^decisions) delta."""
    total, weight = 0.0, 1.0
    while True:
        delta, discount, u = -value[t], 1.0, t
        while True:
            delta += discount * reward[u]
            discount *= gamma
            if ended[u]:
                return total + weight * (delta + discount * bootstrap[u])
            u += 1
            if u == len(reward):
                return total + weight * (delta + discount * last)
            if acting[u]:
                break
        total += weight * (delta + discount * value[u])
        weight *= discount * lam
        t = u


def test_three_steps_by_hand() -> None:
    # gamma = lambda = 1/2; the life ends by the rules in step 2.
    advantage, target = estimate([1, 2, 4], [1, 1, 1], [1, 1, 1], [0, 0, 1], [0, 0, 0], 9.0, 0.5, 0.5)
    # A_2 = 4 - 1 = 3;  A_1 = 2 + .5 - 1 + .25 * 3 = 2.25;  A_0 = 1 + .5 - 1 + .25 * 2.25 = 1.0625
    assert advantage.tolist() == [1.0625, 2.25, 3.0]
    assert target.tolist() == [2.0625, 3.25, 4.0]


def test_a_dead_agent_goes_on_earning_for_its_last_act() -> None:
    # Acts once, is dead but present for two steps (-1 each), then the world is over.
    advantage, target = estimate([0, -1, -1], [0, 7, 7], [1, 0, 0], [0, 0, 1], [0, 0, 0], 9.0, 0.5, 0.9)
    assert advantage.tolist() == [
        -0.75,
        0.0,
        0.0,
    ]  # -1/2 - 1/4; what the network said of dead steps does not count
    assert target.tolist() == [-0.75, -1.5, -1.0]


def test_truncation_takes_the_value_of_the_last_observation_and_termination_none() -> None:
    cut, _ = estimate([0.0], [0.0], [1], [1], [8.0], 9.0, 0.5, 1.0)
    end, _ = estimate([0.0], [0.0], [1], [1], [0.0], 9.0, 0.5, 1.0)
    assert (cut.tolist(), end.tolist()) == ([4.0], [0.0])


def test_the_next_life_in_a_slot_leaves_the_earlier_one_alone() -> None:
    first, _ = estimate([1, 5, 5], [0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 0, 0], 5.0, 0.9, 0.9)
    assert first[0] == 1.0


def test_turns_discount_by_time() -> None:
    # Acts in steps 0 and 2; the reward arrives while it waits.
    advantage, _ = estimate([0, 4, 0], [0, 0, 8], [1, 0, 1], [0, 0, 1], [0, 0, 0], 0.0, 0.5, 1.0)
    assert advantage.tolist() == [0.5 * 4 + 0.25 * 0.0, 0.0, -8.0]


def test_decisions_are_discounted_however_long_the_waiting() -> None:
    # gamma = lambda = 1/2. Acts in steps 0, 3 and 4; 2 and 4 arrive while it waits; cut after step 4, with value 6.
    line = ([1, 2, 4, 8, 16], [10, 50, 60, 20, 30], [1, 0, 0, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 6])
    advantage, target = estimate(*line, 99.0, 0.5, 0.5, by_decision=True)
    # A_4 = 16 + 6/2 - 30 = -11                              x_4 = 30 - 11/2 = 24.5
    # R_3 = 8 + 24.5/2 = 20.25, A_3 = .25                    x_3 = 20 + .25/2 = 20.125
    # x_2 = 4 + 20.125 = 24.125, x_1 = 2 + x_2 = 26.125 (idle: gamma is 1; what the network said there does not count)
    # R_0 = 1 + 26.125/2 = 14.0625, A_0 = 4.0625
    assert advantage.tolist() == [4.0625, 0.0, 0.0, 0.25, -11.0]
    assert target.tolist() == [14.0625, 26.125, 24.125, 20.25, 19.0]


def test_waiting_steps_that_earn_nothing_change_no_decision() -> None:
    """The trajectory without them gives the same advantages, by decision; by step it does not."""
    rng = np.random.default_rng(3)
    reward, value = rng.normal(size=(2, 9))
    acting = np.array([1, 0, 1, 0, 0, 1, 1, 0, 1], bool)
    reward[~acting] = 0
    flags, boot = (acting, np.zeros(9, bool)), np.zeros(9)
    short = [x[acting] for x in (reward, value, *flags, boot)]
    for by_decision in (True, False):
        whole, _ = estimate(reward, value, *flags, boot, 2.0, 0.7, 0.6, by_decision)
        alone, _ = estimate(*short, 2.0, 0.7, 0.6, by_decision)
        assert np.allclose(whole[acting], alone, atol=1e-5) == by_decision


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_equals_the_slow_twin(seed: int, lam: float) -> None:
    rng = np.random.default_rng(seed)
    steps = 12
    case = (
        rng.normal(size=steps),
        rng.normal(size=steps),
        rng.random(steps) < 0.6,
        rng.random(steps) < 0.2,
        rng.normal(size=steps),
        rng.normal(),
        0.9,
        lam,
    )
    ours, theirs = estimate(*case), naive(*case)
    np.testing.assert_allclose(ours[0], np.where(case[2], theirs[0], 0.0), atol=1e-4)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-4)
