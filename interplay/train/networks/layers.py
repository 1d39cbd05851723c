"""Shared layers: dense with orthogonal weights, stacks of them, activations by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

Activation = Callable[[jax.Array], jax.Array]

ACTIVATIONS: dict[str, Activation] = {"tanh": jnp.tanh, "relu": jax.nn.relu, "none": lambda x: x}

# Gains as Stable-Baselines3 sets them: hidden layers, policy logits, value.
HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN = math.sqrt(2.0), 0.01, 1.0

_PLAIN = ContextVar("plain", default=False)


@contextmanager
def without_branches() -> Iterator[None]:
    """Traces without branches, which save work on a processor, but make a GPU wait for the host."""
    before = _PLAIN.set(True)
    try:
        yield
    finally:
        _PLAIN.reset(before)


def is_branchless() -> bool:
    """Whether `without_branches` is on."""
    return _PLAIN.get()


def precompute_inner(self: Any) -> Any:
    """The `precompute` method of a module around a `network`: precomputes the network, if it can."""
    if not hasattr(self.network, "precompute"):
        return self
    return eqx.tree_at(lambda own: own.network, self, self.network.precompute())


def orthogonal(inputs: int, outputs: int, gain: float, key: jax.Array) -> jax.Array:
    """A random matrix (inputs, outputs) float32 with orthonormal rows or columns, times `gain`.

    In NumPy, because compiling a factorisation for every shape would dominate the start of a run.
    """
    if isinstance(key, jax.core.Tracer):
        return jnp.zeros((inputs, outputs), jnp.float32)  # only the shape is needed (`room`)
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    tall = rng.normal(size=(max(inputs, outputs), min(inputs, outputs)))
    q, r = np.linalg.qr(tall)
    q *= np.sign(np.diag(r))  # makes the draw uniform (Mezzadri 2007)
    return jnp.asarray(gain * (q if inputs >= outputs else q.T), jnp.float32)


class Dense(eqx.Module):
    """x W + b on a batch; W is orthogonal (Saxe et al. 2014), b zero.

    Attributes:
        weight: (inputs, outputs) float32.
        bias: (outputs,) float32.
    """

    weight: jax.Array
    bias: jax.Array

    def __init__(self, inputs: int, outputs: int, gain: float, *, key: jax.Array) -> None:
        self.weight = orthogonal(inputs, outputs, gain, key)
        self.bias = jnp.zeros(outputs, jnp.float32)

    def __call__(self, x: jax.Array) -> jax.Array:
        """(B, inputs) -> (B, outputs)."""
        return x @ self.weight + self.bias


class Stack(eqx.Module):
    """Dense layers with an activation after each: `inputs` -> units[0] -> units[1] -> ..."""

    layers: tuple[Dense, ...]
    activation: Activation = eqx.field(static=True)

    def __init__(self, inputs: int, units: Sequence[int], activation: Activation, *, key: jax.Array) -> None:
        sizes = (inputs, *units)
        keys = jax.random.split(key, max(len(units), 1))
        self.layers = tuple(
            Dense(sizes[i], sizes[i + 1], HIDDEN_GAIN, key=keys[i]) for i in range(len(units))
        )
        self.activation = activation

    def __call__(self, x: jax.Array) -> jax.Array:
        """(B, inputs) -> (B, units[-1])."""
        for layer in self.layers:
            x = self.activation(layer(x))
        return x


class Head(eqx.Module):
    """The end of a policy: dense parameters and, for Box actions, log deviations independent of observations.

    Attributes:
        dense: features -> the distribution's parameters that depend on the observation.
        log_std: (n,) float32, appended to every row; n = 0 for discrete actions.
    """

    dense: Dense
    log_std: jax.Array

    def __init__(self, inputs: int, outputs: int, deviations: int, *, key: jax.Array) -> None:
        self.dense = Dense(inputs, outputs - deviations, POLICY_GAIN, key=key)
        self.log_std = jnp.zeros(deviations, jnp.float32)

    def __call__(self, x: jax.Array) -> jax.Array:
        """(B, inputs) -> (B, outputs)."""
        parameters = self.dense(x)
        if not self.log_std.size:
            return parameters
        free = jnp.broadcast_to(self.log_std, (x.shape[0], self.log_std.size))
        return jnp.concatenate([parameters, free], axis=1)
