"""An observation as one row of numbers, in the order of its space."""

from __future__ import annotations

import math
from collections.abc import Mapping

import jax
import jax.numpy as jnp
from gymnasium import spaces


def flat_size(observation_space: spaces.Dict) -> int:
    """How many numbers `flatten` makes of an observation."""
    return sum(math.prod(part.shape or ()) for part in observation_space.spaces.values())


def flatten(observation: Mapping[str, jax.Array]) -> jax.Array:
    """(B, ...) of every key -> (B, `flat_size`)."""
    return jnp.concatenate([leaf.reshape(leaf.shape[0], -1) for leaf in observation.values()], axis=1)
