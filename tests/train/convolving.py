"""The convolutions of a network of pictures by XLA's own convolution, for comparisons."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from interplay.train.networks.pictures import Convolution, Eye


def kernel_of(layer: Convolution) -> jax.Array:
    """(side, side, channels, filters), as everybody writes a kernel."""
    taps, _, depth, filters = layer.weight.shape
    s = layer.stride
    blocks = layer.weight.reshape(taps, taps, s, s, depth // s**2, filters)
    return blocks.transpose(0, 2, 1, 3, 4, 5).reshape(taps * s, taps * s, depth // s**2, filters)


def convolved(eye: Eye, picture: jax.Array) -> jax.Array:
    """What `Eye.__call__` gives."""
    x = picture.astype(jnp.float32) / 255
    for layer in eye.layers:
        stride, named = (layer.stride, layer.stride), ("NHWC", "HWIO", "NHWC")
        x = jax.lax.conv_general_dilated(x, kernel_of(layer), stride, "VALID", dimension_numbers=named)
        x = eye.activation(x + layer.bias)
    return x.reshape(x.shape[0], -1)
