"""Mixers: what they promise of every weight that they may have."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.train.networks import MonotonicMixer, SumMixer


def shaken(mixer: MonotonicMixer, seed: int) -> MonotonicMixer:
    """The mixer with weights that training could lead to."""
    leaves, tree = jax.tree.flatten(mixer)
    rng = np.random.default_rng(seed)
    return jax.tree.unflatten(
        tree, [jnp.asarray(rng.normal(0, 2, leaf.shape), jnp.float32) for leaf in leaves]
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_no_member_can_lower_the_teams_value_by_being_worth_more(seed: int, members: int):
    mixer = shaken(MonotonicMixer(members, 4, 8, 8, key=jax.random.key(0)), seed)
    rng = np.random.default_rng(seed)
    utilities, state = (jnp.asarray(rng.normal(0, 3, (6, n)), jnp.float32) for n in (members, 4))
    slope = jax.grad(lambda q: mixer(q, state).sum())(utilities)
    assert (np.asarray(slope) >= 0).all()
    assert mixer(utilities, state).shape == (6,)


def test_the_value_depends_on_the_state_and_on_every_member():
    mixer = MonotonicMixer(3, 4, 8, 8, key=jax.random.key(1))
    utilities, state = jnp.ones((2, 3)), jnp.eye(4)[:2]
    slope = jax.grad(lambda q: mixer(q, state).sum())(utilities)
    assert (np.asarray(slope) > 0).all()
    assert mixer(utilities, state)[0] != mixer(utilities, state)[1]


def test_the_sum_is_a_sum():
    assert SumMixer()(jnp.array([[1.0, 2.0], [3.0, -4.0]]), jnp.zeros((2, 0))).tolist() == [3.0, -1.0]


@pytest.mark.parametrize("members", [1, 2, 4])
def test_what_is_best_together_is_best_for_each(members: int):
    """The joint argmax is the argmax of every member, by trying all."""
    mixer = shaken(MonotonicMixer(members, 2, 6, 6, key=jax.random.key(2)), members)
    each = np.random.default_rng(members).normal(size=(members, 3))
    joint = np.array(np.meshgrid(*[range(3)] * members, indexing="ij")).reshape(members, -1).T
    utilities = np.stack([each[np.arange(members), choice] for choice in joint]).astype(np.float32)
    values = np.asarray(mixer(jnp.asarray(utilities), jnp.ones((len(joint), 2))))
    assert values[np.flatnonzero((joint == each.argmax(axis=1)).all(axis=1))[0]] == values.max()
