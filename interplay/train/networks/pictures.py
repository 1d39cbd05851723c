"""Convolutions for pictures after Mnih et al. (2015, methods), dense layers, heads of policy and value.

A convolution is computed as matrix products. The gradient of XLA's own convolution takes more than ten times as long inside a loop on a
processor (bench/convolutions.py), and shards are computed in a loop.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train.distributions import Distribution
from interplay.train.networks.flat import Embeddings, Normaliser, is_picture
from interplay.train.networks.layers import (
    ACTIVATIONS,
    HIDDEN_GAIN,
    VALUE_GAIN,
    Activation,
    Dense,
    Head,
    Stack,
    orthogonal,
)
from interplay.train.settings import NetworkGroup

# Side of the kernel and stride of each convolution, in pixels (Mnih et al. 2015, methods); strides divide sides.
CONVOLUTIONS = ((8, 4), (4, 2), (3, 1))
MOST_CHANNELS = 4  # of a picture with channels first
LEAST_SIDE = 36  # pixels, which the last convolution reduces to one


class PictureInput(NamedTuple):
    """The network's input for B agents.

    Attributes:
        pictures: (B, H, L, channels) uint8 each.
        numbers: (B, n) float32, all other leaves side by side.
    """

    pictures: tuple[jax.Array, ...]
    numbers: jax.Array


class Convolution(eqx.Module):
    """A convolution with a square kernel, a stride and no padding.

    The picture is cut into blocks of `stride` x `stride` pixels. A kernel covers `taps` x `taps` blocks, so the result is the sum over
    taps of one product each: the blocks below the tap, for all places at once, times the tap's weights.

    Attributes:
        weight: (taps, taps, stride * stride * channels, filters) float32, orthogonal.
        bias: (filters,) float32, zero.
        stride: pixels.
    """

    weight: jax.Array
    bias: jax.Array
    stride: int = eqx.field(static=True)

    def __init__(self, channels: int, filters: int, side: int, stride: int, *, key: jax.Array) -> None:
        taps = side // stride
        drawn = orthogonal(side * side * channels, filters, HIDDEN_GAIN, key)
        self.weight = drawn.reshape(taps, taps, stride * stride * channels, filters)
        self.bias = jnp.zeros(filters, jnp.float32)
        self.stride = stride

    def __call__(self, x: jax.Array) -> jax.Array:
        """(B, H, L, channels) -> (B, (H - side) // stride + 1, (L - side) // stride + 1, filters)."""
        blocks, (taps, _, depth, _) = self._blocks(x), self.weight.shape
        batch, high, wide = blocks.shape[0], blocks.shape[1] - taps + 1, blocks.shape[2] - taps + 1
        out = self.bias
        for i in range(taps):
            for j in range(taps):
                below = blocks[:, i : i + high, j : j + wide].reshape(-1, depth).astype(jnp.float32)
                out = out + below @ self.weight[i, j]
        return out.reshape(batch, high, wide, -1)

    def _blocks(self, x: jax.Array) -> jax.Array:
        """(B, H, L, channels) -> (B, H // stride, L // stride, stride * stride * channels)."""
        batch, high, wide, channels = x.shape
        s, rows, columns = self.stride, high // self.stride, wide // self.stride
        cut = x[:, : rows * s, : columns * s].reshape(batch, rows, s, columns, s, channels)
        return cut.transpose(0, 1, 3, 2, 4, 5).reshape(batch, rows, columns, s * s * channels)


class Eye(eqx.Module):
    """The convolutions on one picture, an activation after each: (B, H, L, channels) uint8 -> (B, `size_of`)."""

    layers: tuple[Convolution, ...]
    activation: Activation = eqx.field(static=True)

    def __init__(
        self, channels: int, filters: tuple[int, ...], activation: Activation, *, key: jax.Array
    ) -> None:
        keys, before = jax.random.split(key, len(filters)), (channels, *filters)
        self.layers = tuple(
            Convolution(before[i], filters[i], side, stride, key=keys[i])
            for i, (side, stride) in enumerate(CONVOLUTIONS)
        )
        self.activation = activation

    def __call__(self, picture: jax.Array) -> jax.Array:
        first, *others = self.layers
        # Scaling the weights by 1 / 255 is cheaper than scaling the pixels.
        x = self.activation(eqx.tree_at(lambda layer: layer.weight, first, first.weight / 255)(picture))
        for layer in others:
            x = self.activation(layer(x))
        return x.reshape(x.shape[0], -1)


class PicturesNetwork(eqx.Module):
    """Policy and value over pictures and other numbers.

    Every picture has its own convolutions. Their outputs and all other leaves, flattened, go side by side through dense layers that
    policy and value share.

    Args:
        observation_space: of one agent, with at least one picture: a leaf (H, L, channels) or (channels, H, L) of uint8 in 0..255.
        settings: channels, hidden and activation are read.
    """

    eyes: tuple[Eye, ...]
    normaliser: Normaliser | None
    embeddings: Embeddings
    hidden: Stack
    policy_head: Head
    value_head: Dense
    pictures: tuple[str, ...] = eqx.field(static=True)
    raw = True  # takes observations in their own dtypes

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space,
        settings: NetworkGroup,
        *,
        key: jax.Array,
    ) -> None:
        if settings.input_scale:
            raise UserError(
                "network.kind = pictures scales bytes to 0..1 by itself; set network.input_scale=false"
            )
        parts = observation_space.spaces
        self.pictures = find_pictures(observation_space)
        others = [(name, part) for name, part in parts.items() if name not in self.pictures]
        self.normaliser = Normaliser(others) if settings.normalise else None
        self.embeddings = Embeddings((part for _, part in others), key=key)
        shapes = [shape_of(parts[name].shape or ()) for name in self.pictures]
        inputs = self.embeddings.size + sum(size_of(shape, settings.channels[-1]) for shape in shapes)
        activation, distribution = ACTIVATIONS[settings.activation], Distribution(action_space)
        keys = jax.random.split(key, 3 + len(shapes))
        self.eyes = tuple(
            Eye(shape[-1], settings.channels, activation, key=own)
            for shape, own in zip(shapes, keys[3:], strict=True)
        )
        self.hidden = Stack(inputs, settings.hidden, activation, key=keys[0])
        last = (inputs, *settings.hidden)[-1]
        self.policy_head = Head(last, distribution.size, distribution.deviations, key=keys[1])
        self.value_head = Dense(last, 1, VALUE_GAIN, key=keys[2])

    def prepare(self, observation: Mapping[str, jax.Array]) -> PictureInput:
        """Pictures unchanged, all other leaves flattened."""
        pictures = tuple(_channels_last(observation[name]) for name in self.pictures)
        others = [
            leaf.reshape(leaf.shape[0], -1).astype(jnp.float32)
            for name, leaf in observation.items()
            if name not in self.pictures
        ]
        return PictureInput(
            pictures, jnp.concatenate([jnp.zeros((pictures[0].shape[0], 0)), *others], axis=1)
        )

    def __call__(self, seen: PictureInput) -> tuple[jax.Array, jax.Array]:
        return self.decide(*self.features(seen))

    def features(self, seen: PictureInput) -> tuple[tuple[jax.Array, ...], None]:
        """Input of both heads, (B, hidden[-1])."""
        looked = [eye(picture) for eye, picture in zip(self.eyes, seen.pictures, strict=True)]
        numbers = seen.numbers if self.normaliser is None else self.normaliser(seen.numbers)
        return (self.hidden(jnp.concatenate([*looked, self.embeddings(numbers)], axis=1)),), None

    def decide(self, features: tuple[jax.Array, ...], rest: None) -> tuple[jax.Array, jax.Array]:
        """Parameters of the distribution and value."""
        return self.policy_head(features[0]), self.value_head(features[0])[:, 0]


def find_pictures(space: spaces.Dict) -> tuple[str, ...]:
    """Names of the pictures of an observation space, in its order."""
    found = tuple(name for name, part in space.spaces.items() if is_picture(part))
    if not found:
        raise UserError(
            f"network.kind = pictures: none of {', '.join(space.spaces)} is a picture, height x width x channels of uint8 in 0..255; "
            "use network.kind=mlp"
        )
    for name in found:
        high, wide, _ = shape_of(space[name].shape or ())
        if min(high, wide) < LEAST_SIDE:
            raise UserError(
                f"network.kind = pictures: {name} is {high} x {wide}, the convolutions need {LEAST_SIDE} x {LEAST_SIDE}; "
                "use network.kind=mlp network.input_scale=true"
            )
    return found


def warn_of_flat_pictures(kind: str, space: spaces.Dict) -> None:
    """Warns if a network without convolutions reads a picture."""
    for name, part in space.spaces.items():
        if kind in ("attention", "mlp") and is_picture(part):
            shape = shape_of(part.shape or ())
            if min(shape[:2]) >= LEAST_SIDE:
                warnings.warn(
                    f"network.kind = {kind} reads the picture {name} as {math.prod(shape):,} numbers side by side; "
                    "network.kind=pictures has convolutions",
                    stacklevel=2,
                )


def shape_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Height, width, channels of a picture; 1 to 4 channels may come first if the last axis is longer.

    Example:
        >>> shape_of((3, 84, 96)), shape_of((84, 96, 3))
        ((84, 96, 3), (84, 96, 3))
    """
    return (*shape[1:], shape[0]) if _first(shape) else shape


def _first(shape: tuple[int, ...]) -> bool:
    return shape[0] <= MOST_CHANNELS < shape[2]


def _channels_last(picture: jax.Array) -> jax.Array:
    """(B, H, L, channels) of a picture of either order."""
    return picture.transpose(0, 2, 3, 1) if _first(picture.shape[1:]) else picture


def size_of(shape: tuple[int, ...], filters: int) -> int:
    """Size of the convolutions' output for a picture (H, L, channels), with `filters` in the last one.

    Example:
        >>> size_of((84, 84, 4), 32)  # 7 x 7 places
        1568
    """
    high, wide = shape[:2]
    for side, stride in CONVOLUTIONS:
        high, wide = ((length - side) // stride + 1 for length in (high, wide))
    return high * wide * filters
