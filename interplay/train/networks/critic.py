"""A central critic: a separate value network on a view of the team or of the world (Yu et al. 2022).

The view is for training only; the policy never reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax

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
        value: jax.Array = self.head(self.stack(view))[:, 0]
        return value


class CriticNetwork(eqx.Module):
    """A policy's network and a critic; the network's own value is not read."""

    network: Any
    critic: Critic

    precompute = precompute_inner
