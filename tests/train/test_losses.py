"""Losses and optimisers of the other algorithms, in numbers worked by hand."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from interplay.train.algorithms.a2c import A2c
from interplay.train.algorithms.policy_gradient import PolicyGradient, policy_gradient_terms
from interplay.train.algorithms.ppo import Ppo, ppo_terms
from interplay.train.algorithms.value_factorisation import ValueFactorisation
from interplay.train.batches import Batch
from interplay.train.factored.sampler import Sampler, _means
from interplay.train.losses import Prediction, Terms
from interplay.train.settings import PolicyGradientGroup, PpoGroup, QmixGroup
from interplay.train.settings.algorithms import A2cGroup
from interplay.train.update import _losses

# Two rows that act, one that trains the value alone, and padding.
OLD = jnp.array([-0.5, -1.2, -2.5, -9.0])
PREDICTED = Prediction(
    jnp.zeros((4, 1)),
    jnp.array([-0.5, -1.0, -2.0, -7.0]),
    jnp.array([0.25, 0.5, 8.0, 8.0]),
    jnp.array([1.0, 2.0, 3.0, 9.0]),
)
ACTS, COUNTS = jnp.array([1.0, 1.0, 0.0, 0.0]), jnp.array([1.0, 1.0, 1.0, 0.0])
SAMPLES: Any = Batch(
    None, None, OLD, jnp.array([2.0, -3.0, 5.0, 7.0]), jnp.array([3.0, 2.5, 0.0, 0.0]), ACTS, None
)
POLICY, VALUE, ENTROPY = -(-0.5 * 2 + -1 * -3), 4 + 0.25 + 9, 0.75


def test_the_policy_gradient_by_hand() -> None:
    found = policy_gradient_terms(PREDICTED, SAMPLES, COUNTS)
    kl = np.exp(0.2) - 1 - 0.2
    assert [float(term) for term in found] == pytest.approx(
        [POLICY, VALUE, ENTROPY, kl, 0, 2, 0, 3], rel=1e-5
    )


@pytest.mark.parametrize(
    ("algorithm", "policy", "weight"),
    [
        (A2c(A2cGroup(value_coefficient=0.3)), POLICY, 0.3),
        (PolicyGradient(PolicyGradientGroup(value_coefficient=0.3)), POLICY, 0.15),
        (Ppo(PpoGroup(value_coefficient=0.3, entropy_coefficient=0.1)), -2 + 3 * np.exp(0.2), 0.3),
    ],
)
def test_losses_weigh_their_terms(algorithm: Any, policy: float, weight: float) -> None:
    """A clip of 0.5 cuts no ratio of these rows."""
    loss, _ = algorithm.loss(PREDICTED, SAMPLES, COUNTS, {"entropy_coefficient": 0.1, "clip": 0.5})
    assert float(loss) == pytest.approx(policy + weight * VALUE - 0.1 * ENTROPY, rel=1e-5)


def test_terms_of_ppo_are_sums_over_the_rows_that_each_is_of() -> None:
    found = ppo_terms(PREDICTED, SAMPLES, COUNTS, 0.2)
    expected = [-2 + 3 * np.exp(0.2), VALUE, ENTROPY, np.exp(0.2) - 1.2, 1, 2, 0, 3]
    assert [float(term) for term in found] == pytest.approx(expected, rel=1e-5)


def test_losses_are_logged_as_means_over_the_rows_that_each_is_of() -> None:
    """Sums over 4 acting rows of 5."""
    sums = Terms(policy=-6.0, value=15.0, entropy=3.0, kl=0.5, clipped=2.0, acting=4.0, guess=7.0, rows=5.0)
    assert _losses("[a]", sums) == {
        "policy_loss[a]": -1.5,
        "value_loss[a]": 3.0,
        "entropy[a]": 0.75,
        "kl[a]": 0.125,
        "clip_fraction[a]": 0.5,
        "rows[a]": 5.0,
    }


WEIGHTS = np.array([4.0, -2.0])
GRADIENTS = (np.array([6.0, -0.5]), np.array([0.3, 0.4]))


def adam(gradients: list[np.ndarray], epsilon: float) -> list[np.ndarray]:
    """Kingma and Ba 2015, algorithm 1."""
    first, second, found = np.zeros(2), np.zeros(2), []
    for t, gradient in enumerate(gradients, 1):
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        found.append(first / (1 - 0.9**t) / (np.sqrt(second / (1 - 0.999**t)) + epsilon))
    return found


def rms(gradients: list[np.ndarray]) -> list[np.ndarray]:
    """torch.optim.RMSprop with alpha 0.99 and epsilon 1e-5, as in Stable-Baselines3's A2C."""
    squares, found = np.zeros(2), []
    for gradient in gradients:
        squares = 0.99 * squares + 0.01 * gradient**2
        found.append(gradient / (np.sqrt(squares) + 1e-5))
    return found


def within(most: float) -> list[np.ndarray]:
    """The gradients, scaled down to a norm."""
    return [gradient * min(1.0, most / np.linalg.norm(gradient)) for gradient in GRADIENTS]


DECAYED = [np.clip(gradient, -2.0, 2.0) + 0.25 * WEIGHTS for gradient in GRADIENTS]


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        (Ppo(PpoGroup(max_grad_norm=1e-4)), adam(within(1e-4), 1e-5)),
        (A2c(A2cGroup(max_grad_norm=0.01)), rms(within(0.01))),
        (PolicyGradient(PolicyGradientGroup(clip_element=2.0, weight_decay=0.25)), adam(DECAYED, 1e-8)),
        (ValueFactorisation(QmixGroup(max_grad_norm=1e-6)), adam(within(1e-6), 1e-8)),
    ],
)
def test_optimisers_by_hand(algorithm: Any, expected: list[np.ndarray]) -> None:
    """Two steps; norms are so small that the epsilons count."""
    optimiser: optax.GradientTransformation = algorithm.optimiser()
    weights = jnp.asarray(WEIGHTS)
    state = optimiser.init(weights)
    for gradient, step in zip(GRADIENTS, expected, strict=True):
        direction, state = optimiser.update(jnp.asarray(gradient), state, weights)
        np.testing.assert_allclose(direction, step, rtol=1e-3)


def test_lives_wait_for_their_end_and_cut_ones_do_not() -> None:
    own = {
        returns: PolicyGradient(PolicyGradientGroup(returns=returns, horizon=48))
        for returns in ("lives", "cut")
    }
    assert (own["lives"].horizon, own["cut"].horizon, own["cut"].gae_lambda) == (48, 0, 1.0)


def test_epsilon_falls_along_a_line_and_stays() -> None:
    rule = ValueFactorisation(QmixGroup(epsilon_begin=0.9, epsilon_end=0.1, epsilon_steps=400))
    assert [rule.epsilon(steps) for steps in (0, 100, 400, 900)] == pytest.approx([0.9, 0.7, 0.1, 0.1])


def test_what_teams_learn_is_logged_as_means_over_their_decisions() -> None:
    """Of two groups of teams with 2 and 6 decisions: squared and absolute differences, values, targets; norms are of steps."""
    rows = [np.array([8.0, 4.0, 1.0, 3.0, 2.0, 0.5]), np.array([4.0, 2.0, 5.0, -7.0, 6.0, 1.5])]
    assert _means("[a]", rows) == {
        "td_error[a]": 6 / 8,
        "value_loss[a]": 12 / 8,
        "q[a]": 6 / 8,
        "q_target[a]": -4 / 8,
        "rows[a]": 8.0,
        "gradient_norm[a]": 1.0,
    }


def test_each_step_and_shard_samples_anew() -> None:
    """Also each team group and update; the same again are the same."""
    replay: Any = SimpleNamespace(draw=lambda rng, count: rng.random(count), take=lambda drawn, count: drawn)
    sampler: Any = Sampler.__new__(Sampler)
    sampler.learner, sampler._each = SimpleNamespace(team_groups=[SimpleNamespace(name="one")] * 2), 1

    def drawn(seed: int, update: int, shard: int, number: int, step: int) -> float:
        sampler._worker = SimpleNamespace(settings=SimpleNamespace(seed=seed), updates=update)
        return float(sampler._draw(SimpleNamespace(index=shard, replays={"one": replay}), number, step)[0])

    every = list(product((0, 1), repeat=5))
    assert len({drawn(*one) for one in every}) == len(every)
    assert drawn(*every[5]) == drawn(*every[5])
