"""Stacks an agent's last k observations, which are kept as its memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.train.networks.flat import Embedded, flatten
from interplay.train.networks.memory import Memory


class StackedNetwork(eqx.Module):
    """A network on the last k observations of a life, the oldest first, padded with zeros.

    Its memory (`interplay.train.networks.memory`) are the last k - 1 observations with which the agent acted. So every row holds the
    network's whole input, and no gradient goes through time.

    Args:
        make: makes the inner network for an observation space.
        observation_space: of one agent; the inner network's leaves have a leading axis of k.
        frames: k.
    """

    network: Any
    frames: int = eqx.field(static=True)
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = eqx.field(static=True)

    def __init__(
        self, make: Callable[[spaces.Dict], Any], observation_space: spaces.Dict, frames: int
    ) -> None:
        parts = observation_space.spaces
        self.frames, self.shapes = frames, tuple((key, part.shape or ()) for key, part in parts.items())
        self.network = make(spaces.Dict({key: _stacked(part, frames) for key, part in parts.items()}))

    @property
    def memory_size(self) -> int:
        """Numbers per agent: k - 1 observations."""
        return (self.frames - 1) * sum(math.prod(shape) for _, shape in self.shapes)

    def prepare(self, observation: Mapping[str, jax.Array]) -> jax.Array:
        """Flattens the newest observation: (B, n) float32."""
        return flatten({key: observation[key] for key, _ in self.shapes})

    def __call__(self, newest: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Parameters and value at the beginning of a life."""
        return self.remember(newest, jnp.zeros((newest.shape[0], self.memory_size)))[:2]

    def remember(self, newest: jax.Array, memory: Memory) -> tuple[jax.Array, jax.Array, Memory]:
        """Parameters, value and the next memory."""
        frames = jnp.concatenate([memory, newest], axis=1)
        by_step, seen, at = frames.reshape(frames.shape[0], self.frames, -1), {}, 0
        for key, shape in self.shapes:
            end = at + math.prod(shape)
            seen[key], at = by_step[:, :, at:end].reshape(frames.shape[0], self.frames, *shape), end
        prepared = self.network.prepare(seen) if hasattr(self.network, "prepare") else seen
        return *self.network(prepared), frames[:, newest.shape[1] :]


def _stacked(part: spaces.Space, frames: int) -> spaces.Space:
    """A leaf's space with an axis of frames; the zeros of padding may be outside of its bounds."""
    shape = (frames, *(part.shape or ()))
    if isinstance(part, Embedded):
        return Embedded(np.broadcast_to(part.nvec, shape))
    if isinstance(part, spaces.Box):
        low, high = (np.broadcast_to(bound, shape) for bound in (part.low, part.high))
        return spaces.Box(low, high, dtype=part.dtype)  # type: ignore[arg-type]
    return spaces.Box(-np.inf, np.inf, shape)
