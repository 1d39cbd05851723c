"""Memory: a recurrent cell between a network's features and its heads.

A network takes part by two methods, its `__call__` in two parts::

    def features(self, observation): return arrays, rest   # a tuple of (B, F) arrays; anything
    def decide(self, arrays, rest): return parameters, value

The cell reads all features side by side; its output is added to each of them through a layer. Memory is zeros at the beginning of a
life, where the network is the same as without memory.

A network with its own memory (``network.memory = "own"``) has ``memory_size``, numbers per agent, and ``remember(observation,
memory)``, which gives parameters, value and the next memory (B, size).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train.networks.flat import Embedded, flatten
from interplay.train.networks.layers import Dense, precompute_inner

Memory = jax.Array  # (B, size) float32; zeros at the beginning of a life


class Gru(eqx.Module):
    """Gated recurrent unit (Cho et al. 2014, in the form of cuDNN and torch): memory (B, units).

    Attributes:
        given: inputs -> 3 units: reset, update, new.
        kept: units -> 3 units.
        units: size of the memory.
    """

    given: Dense
    kept: Dense
    units: int = eqx.field(static=True)

    def __init__(self, inputs: int, units: int, *, key: jax.Array) -> None:
        keys = jax.random.split(key)
        self.given = Dense(inputs, 3 * units, 1.0, key=keys[0])
        self.kept = Dense(units, 3 * units, 1.0, key=keys[1])
        self.units = units

    @property
    def size(self) -> int:
        """Numbers of its memory."""
        return self.units

    def read(self, memory: Memory) -> jax.Array:
        """What the network sees of a memory: (B, units)."""
        return memory

    def __call__(self, given: jax.Array, memory: Memory) -> Memory:
        """The next memory, from `self.given` of the input, (B, 3 units)."""
        reset, update, new = jnp.split(given, 3, axis=1)
        kept_reset, kept_update, kept_new = jnp.split(self.kept(memory), 3, axis=1)
        update = jax.nn.sigmoid(update + kept_update)
        new = jnp.tanh(new + jax.nn.sigmoid(reset + kept_reset) * kept_new)
        return (1.0 - update) * new + update * memory


class Lstm(eqx.Module):
    """Long short-term memory (Hochreiter and Schmidhuber 1997): memory (B, 2 units), output and cell.

    Attributes:
        given: inputs -> 4 units: in, forget, out, new; the forget gate begins at 1 (Jozefowicz et al. 2015).
        kept: units -> 4 units.
        units: numbers of the output.
    """

    given: Dense
    kept: Dense
    units: int = eqx.field(static=True)

    def __init__(self, inputs: int, units: int, *, key: jax.Array) -> None:
        keys = jax.random.split(key)
        self.given = Dense(inputs, 4 * units, 1.0, key=keys[0])
        forget = self.given.bias.at[units : 2 * units].set(1.0)
        self.given = eqx.tree_at(lambda dense: dense.bias, self.given, forget)
        self.kept = Dense(units, 4 * units, 1.0, key=keys[1])
        self.units = units

    @property
    def size(self) -> int:
        """Numbers of its memory."""
        return 2 * self.units

    def read(self, memory: Memory) -> jax.Array:
        """What the network sees of a memory: (B, units)."""
        return memory[:, : self.units]

    def __call__(self, given: jax.Array, memory: Memory) -> Memory:
        """The next memory, from `self.given` of the input, (B, 4 units)."""
        output, cell = jnp.split(memory, 2, axis=1)
        enter, forget, leave, new = jnp.split(given + self.kept(output), 4, axis=1)
        cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(enter) * jnp.tanh(new)
        return jnp.concatenate([jax.nn.sigmoid(leave) * jnp.tanh(cell), cell], axis=1)


CELLS: dict[str, Any] = {"gru": Gru, "lstm": Lstm}


class RecurrentNetwork(eqx.Module):
    """Another network with a recurrent cell between its features and its heads.

    Args:
        network: with `features` and `decide`.
        key: jax random key of the cell's weights.
    """

    network: Any
    cell: Gru | Lstm
    add: tuple[Dense, ...]

    def __init__(
        self, network: Any, observation_space: spaces.Dict, cell: str, units: int, *, key: jax.Array
    ) -> None:
        if not hasattr(network, "features"):
            raise UserError(
                f"network.memory = {cell}: {type(network).__name__} has no features and decide for a cell to stand between; "
                "see interplay.train.networks.memory"
            )
        widths = _widths(network, observation_space)
        keys = jax.random.split(key, len(widths) + 1)
        self.network = network
        self.cell = CELLS[cell](sum(widths), units, key=keys[0])
        self.add = tuple(Dense(units, width, 1.0, key=k) for width, k in zip(widths, keys[1:], strict=True))

    @property
    def memory_size(self) -> int:
        """Numbers per agent."""
        return self.cell.size

    @property
    def raw(self) -> bool:
        """Whether it takes observations in their own dtypes."""
        return bool(getattr(self.network, "raw", False))

    def prepare(self, observation: Mapping[str, jax.Array]) -> Any:
        """As of the inner network."""
        return self.network.prepare(observation) if hasattr(self.network, "prepare") else dict(observation)

    @property
    def attended(self) -> tuple[str, ...]:
        """As of the inner network."""
        return tuple(getattr(self.network, "attended", ()))

    def attention(self, observation: Mapping[str, jax.Array]) -> jax.Array:
        """As of the inner network."""
        return self.network.attention(observation)

    precompute = precompute_inner

    def __call__(self, observation: Any) -> tuple[jax.Array, jax.Array]:
        """Parameters and value with empty memory, as at the beginning of a life."""
        batch = jax.tree.leaves(observation)[0].shape[0]
        parameters, value, _ = self.remember(observation, jnp.zeros((batch, self.memory_size)))
        return parameters, value

    def remember(self, observation: Any, memory: Memory) -> tuple[jax.Array, jax.Array, Memory]:
        """One step of B agents: parameters, value and the next memory."""
        features, rest = self.network.features(observation)
        memory = self.cell(self.cell.given(jnp.concatenate(features, axis=1)), memory)
        return *self._decide(features, rest, memory), memory

    def unroll(
        self, observation: Any, memory: Memory, fresh: jax.Array, acts: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Runs sequences of n agents, L steps each; parts without memory are computed for all rows at once.

        Args:
            observation: (n L, ...), the steps of an agent one after another.
            memory: (n, size) before the first step.
            fresh: (n, L) bool, a life begins with empty memory.
            acts: (n, L) bool, the step changes the memory.

        Returns:
            Parameters (n L, ...) and values (n L,).
        """
        features, rest = self.network.features(observation)
        given = self.cell.given(jnp.concatenate(features, axis=1))

        def one(memory: Memory, step: tuple[jax.Array, ...]) -> tuple[Memory, Memory]:
            new, begins, remembered = step
            memory = jnp.where(begins[:, None], 0.0, memory)
            after = self.cell(new, memory)
            return jnp.where(remembered[:, None], after, memory), after

        steps = (given.reshape(*fresh.shape, -1).swapaxes(0, 1), fresh.T, acts.T)
        after = jax.lax.scan(one, memory, steps)[1].swapaxes(0, 1)
        return self._decide(features, rest, after.reshape(-1, after.shape[2]))

    def _decide(self, features: Any, rest: Any, memory: Memory) -> tuple[jax.Array, jax.Array]:
        read = self.cell.read(memory)
        mixed = tuple(own + add(read) for own, add in zip(features, self.add, strict=True))
        parameters, value = self.network.decide(mixed, rest)
        return parameters, value


def unroll(
    network: Any, observation: Any, memory: Memory, fresh: jax.Array, acts: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """`RecurrentNetwork.unroll` for any network with `remember`; step by step if it has no `unroll`."""
    if hasattr(network, "unroll"):
        return network.unroll(observation, memory, fresh, acts)

    def one(memory: Memory, step: tuple[Any, ...]) -> tuple[Memory, tuple[jax.Array, jax.Array]]:
        seen, begins, remembered = step
        memory = jnp.where(begins[:, None], 0.0, memory)
        parameters, value, after = network.remember(seen, memory)
        return jnp.where(remembered[:, None], after, memory), (parameters, value)

    by_step = jax.tree.map(
        lambda leaf: leaf.reshape(*fresh.shape, *leaf.shape[1:]).swapaxes(0, 1), observation
    )
    parameters, value = jax.lax.scan(one, memory, (by_step, fresh.T, acts.T))[1]
    return parameters.swapaxes(0, 1).reshape(-1, parameters.shape[2]), value.T.reshape(-1)


def _widths(network: Any, space: spaces.Dict) -> list[int]:
    """The sizes of a network's features, found without computing them."""

    def shapes() -> Any:
        seen = {
            key: jnp.zeros((1, *(part.shape or ())), jax.dtypes.canonicalize_dtype(part.dtype or np.float32))
            for key, part in space.spaces.items()
        }
        if not getattr(network, "raw", False):
            seen = {key: leaf.astype(jnp.float32) for key, leaf in seen.items()}
        prepared = network.prepare(seen) if hasattr(network, "prepare") else seen
        return network.features(prepared)[0]

    return [math.prod(leaf.shape[1:]) for leaf in jax.eval_shape(shapes)]


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
