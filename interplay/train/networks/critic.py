"""Networks beside a policy's own, which only training reads: central critics (Yu et al. 2022), and mixers.

A critic values a view of the team or of the world. A mixer gives the value of a team's joint action from its members' utilities. It
is monotonic in every utility, so the best joint action is each member's own best, and acting does not need the mixer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from interplay.train.networks.layers import ACTIVATIONS, VALUE_GAIN, Dense, Stack, precompute_inner


class Critic(eqx.Module):
    """Layers on a view: (B, size) -> (B,)."""

    stack: Stack
    head: Dense

    def __init__(self, size: int, hidden: Sequence[int], activation: str, *, key: jax.Array) -> None:
        keys = jax.random.split(key)
        self.stack = Stack(size, hidden, ACTIVATIONS[activation], key=keys[0])
        self.head = Dense((size, *hidden)[-1], 1, VALUE_GAIN, key=keys[1])

    def __call__(self, view: jax.Array) -> jax.Array:
        return self.head(self.stack(view))[:, 0]


class CriticNetwork(eqx.Module):
    """A policy's network and a critic; the network's own value is not read."""

    network: Any
    critic: Critic

    precompute = precompute_inner


class SumMixer(eqx.Module):
    """The sum of the utilities (Sunehag et al. 2018)."""

    def __call__(self, utilities: jax.Array, state: jax.Array) -> jax.Array:
        """(B, members) and (B, numbers), which are not read -> (B,)."""
        return utilities.sum(axis=1)


class Weights(eqx.Module):
    """Two layers from a state to the weights of another layer."""

    hidden: Dense
    out: Dense

    def __init__(self, inputs: int, units: int, outputs: int, *, key: jax.Array) -> None:
        keys = jax.random.split(key)
        self.hidden = Dense(inputs, units, 1.0, key=keys[0])
        self.out = Dense(units, outputs, 1.0, key=keys[1])

    def __call__(self, state: jax.Array) -> jax.Array:
        """(B, inputs) -> (B, outputs)."""
        return self.out(jax.nn.relu(self.hidden(state)))


class MonotonicMixer(eqx.Module):
    """Two layers with non-negative weights, which other layers compute from the state (Rashid et al. 2018).

    ``h = elu(|W1(s)| q + b1(s))`` and ``Q = |w2(s)| h + v(s)``.

    Args:
        members: of the team.
        inputs: numbers of the state.
        units: of the mixing layer.
        hyper: units of the layers that compute its weights.
    """

    weights: Weights
    bias: Dense
    last_weights: Weights
    last_bias: Weights

    def __init__(self, members: int, inputs: int, units: int, hyper: int, *, key: jax.Array) -> None:
        keys = jax.random.split(key, 4)
        self.weights = Weights(inputs, hyper, members * units, key=keys[0])
        self.bias = Dense(inputs, units, 1.0, key=keys[1])
        self.last_weights = Weights(inputs, hyper, units, key=keys[2])
        self.last_bias = Weights(inputs, units, 1, key=keys[3])

    def __call__(self, utilities: jax.Array, state: jax.Array) -> jax.Array:
        """(B, members) and (B, inputs) -> (B,)."""
        batch, members = utilities.shape
        first = jnp.abs(self.weights(state)).reshape(batch, members, -1)
        hidden = jax.nn.elu((utilities[:, :, None] * first).sum(axis=1) + self.bias(state))
        mixed: jax.Array = (hidden * jnp.abs(self.last_weights(state))).sum(axis=1)
        return mixed + self.last_bias(state)[:, 0]


class MixedNetwork(eqx.Module):
    """A member's network and the mixer beside it; the network's parameters are utilities, its value is not read."""

    network: Any
    mixer: SumMixer | MonotonicMixer

    precompute = precompute_inner
