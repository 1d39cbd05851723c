"""Action distributions: probabilities that add up, masks that hold, samples that follow them."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.spaces import check_action
from interplay.train.distributions import Distribution

pytestmark = pytest.mark.slow

MIXED = spaces.Dict(
    turn=spaces.Discrete(3, start=-1), push=spaces.Box(-1, 1, (2,), np.float32), flags=spaces.MultiBinary(2)
)


def test_probabilities_of_all_actions_add_up_to_one() -> None:
    distribution = Distribution(spaces.MultiDiscrete([3, 2, 2]))
    actions = np.array(list(itertools.product(range(3), range(2), range(2))), np.float32)
    parameters = jnp.tile(jnp.array([[0.3, -1.0, 2.0, 0.0, 1.5, -0.2, 0.4]]), (len(actions), 1))
    p = jnp.exp(distribution.log_prob(parameters, actions, None))
    assert float(p.sum()) == pytest.approx(1.0, abs=1e-6)
    assert float(-(p * jnp.log(p)).sum()) == pytest.approx(
        float(distribution.entropy(parameters, None)[0]), abs=1e-5
    )


def test_masked_choices_are_never_taken_and_their_share_goes_to_the_others() -> None:
    distribution = Distribution(spaces.MultiDiscrete([3, 2]))
    parameters = jnp.tile(jnp.array([[5.0, 1.0, 1.0, 0.0, 9.0]]), (2000, 1))
    mask = jnp.tile(jnp.array([[False, True, True, True, False]]), (2000, 1))
    drawn = np.asarray(distribution.sample(parameters, jax.random.key(0), mask))
    assert set(drawn[:, 0]) == {1.0, 2.0}
    assert set(drawn[:, 1]) == {0.0}
    log_p = distribution.log_prob(parameters, jnp.tile(jnp.array([[1.0, 0.0]]), (2000, 1)), mask)
    assert float(jnp.exp(log_p[0])) == pytest.approx(0.5, abs=1e-6)
    assert np.isfinite(np.asarray(distribution.entropy(parameters, mask))).all()
    assert distribution.greedy(parameters, mask)[0].tolist() == [1.0, 0.0]


def test_samples_follow_the_probabilities() -> None:
    distribution = Distribution(spaces.Discrete(3))
    logits = jnp.log(jnp.array([0.6, 0.3, 0.1]))
    drawn = np.asarray(distribution.sample(jnp.tile(logits, (20_000, 1)), jax.random.key(3), None))[:, 0]
    assert np.bincount(drawn.astype(int)) / 20_000 == pytest.approx([0.6, 0.3, 0.1], abs=0.015)


def test_gaussian_density_and_entropy() -> None:
    distribution = Distribution(spaces.Box(-2, 2, (1,), np.float32))
    parameters = jnp.array([[0.5, np.log(2.0)]])
    density = np.exp(-0.5 * (1.5 / 2.0) ** 2) / (2.0 * np.sqrt(2 * np.pi))
    assert float(jnp.exp(distribution.log_prob(parameters, jnp.array([[2.0]]), None))[0]) == pytest.approx(
        density
    )
    assert float(distribution.entropy(parameters, None)[0]) == pytest.approx(
        0.5 * np.log(2 * np.pi * np.e * 4.0)
    )
    drawn = distribution.sample(jnp.tile(parameters, (20_000, 1)), jax.random.key(1), None)
    assert float(drawn.mean()) == pytest.approx(0.5, abs=0.06)
    assert float(drawn.std()) == pytest.approx(2.0, abs=0.06)


def test_the_numbers_of_a_box_are_drawn_apart() -> None:
    distribution = Distribution(spaces.Box(-2, 2, (3,), np.float32))
    parameters = jnp.tile(jnp.zeros((1, 6)), (20_000, 1))
    drawn = np.asarray(distribution.sample(parameters, jax.random.key(1), None))
    assert np.corrcoef(drawn.T) == pytest.approx(np.eye(3), abs=0.03)


@pytest.mark.parametrize(
    "space",
    [
        MIXED,
        spaces.Discrete(4),
        spaces.MultiBinary(3),
        spaces.Box(-1, 1, (2, 2)),
        spaces.MultiDiscrete([2, 5]),
    ],
)
def test_every_action_fits_its_space(space: spaces.Space) -> None:
    distribution = Distribution(space)
    parameters = jax.random.normal(jax.random.key(0), (6, distribution.size)) * 3
    flat = np.asarray(distribution.sample(parameters, jax.random.key(1), None)).reshape(3, 2, -1)
    check_action("test", space, distribution.to_world(flat), 3, 2)
    assert np.isfinite(np.asarray(distribution.log_prob(parameters, flat.reshape(6, -1), None))).all()


def test_mask_of_a_world_is_laid_flat_and_missing_heads_are_legal() -> None:
    distribution = Distribution(MIXED)
    flat = distribution.flat_mask({"turn": np.zeros((1, 2, 3), bool)}, (1, 2))
    assert flat is not None
    assert flat.shape == (1, 2, distribution.choices)
    assert flat[0, 0].tolist() == [False] * 3 + [True] * 4
    assert distribution.flat_mask(None, (1, 2)) is None
