"""Random draws for kernels: Philox4x32-10 (Salmon et al. 2011), a pure function of (seed, episode, draw).

A kernel keeps its world's stream in ``stream[w]`` = (seed, episode, draws made) and does::

    x = uniform(stream[w, 0], stream[w, 1], stream[w, 2])
    stream[w, 2] += np.uint64(1)

Rules in plain NumPy draw for many worlds at once with `draw_uniform` and `draw_integers`: the same bits, and the streams move on.
"""

import numpy as np

from interplay.core.jit import kernel
from interplay.core.seeding import DRAWS, EPISODE, SEED

_MASK = np.uint64(0xFFFFFFFF)
_THIRTY_TWO = np.uint64(32)
_ELEVEN = np.uint64(11)


@kernel
def random_bits(seed, episode, draw):
    """64 random bits. Key = seed; the 128-bit counter = (draw, episode)."""
    c0, c1 = draw & _MASK, draw >> _THIRTY_TWO
    c2, c3 = episode & _MASK, episode >> _THIRTY_TWO
    k0, k1 = seed & _MASK, seed >> _THIRTY_TWO
    for _ in range(10):
        a = np.uint64(0xD2511F53) * c0
        b = np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            ((b >> _THIRTY_TWO) ^ c1 ^ k0) & _MASK,
            b & _MASK,
            ((a >> _THIRTY_TWO) ^ c3 ^ k1) & _MASK,
            a & _MASK,
        )
        k0 = (k0 + np.uint64(0x9E3779B9)) & _MASK
        k1 = (k1 + np.uint64(0xBB67AE85)) & _MASK
    return c0 | (c1 << _THIRTY_TWO)


@kernel
def uniform(seed, episode, draw):
    """A float64 uniform in [0, 1), 53 bits."""
    return np.float64(random_bits(seed, episode, draw) >> _ELEVEN) * (1.0 / 9007199254740992.0)


@kernel
def integer_below(seed, episode, draw, bound):
    """An integer in 0 .. bound - 1 (multiply-shift on 32 bits; bias below bound / 2**32)."""
    return np.int64(((random_bits(seed, episode, draw) & _MASK) * np.uint64(bound)) >> _THIRTY_TWO)


@kernel
def normal(seed, episode, draw):
    """A standard normal float64 by Box and Muller (1958), from the draw's two 32-bit halves."""
    bits = random_bits(seed, episode, draw)
    u = (np.float64(bits & _MASK) + 0.5) * (1.0 / 4294967296.0)
    v = np.float64(bits >> _THIRTY_TWO) * (1.0 / 4294967296.0)
    return np.sqrt(-2.0 * np.log(u)) * np.cos(6.283185307179586 * v)


# -- for rules in plain NumPy: the next draws of many worlds at once --------------------------------


def draw_uniform(stream, which, count):
    """The next `count` draws of each marked world, bit for bit as `uniform` gives them one by one.

    Args:
        stream: (W, 3) uint64, advanced by `count` where `which` is true.
        which: (W,) bool.
        count: draws of each world.

    Returns:
        (number of marked worlds, count) float64 in [0, 1).
    """
    return (_next_bits(stream, which, count) >> _ELEVEN).astype(np.float64) * (1.0 / 9007199254740992.0)


def draw_integers(stream, which, count, bound):
    """As `draw_uniform`, int64 in 0 .. bound - 1, as `integer_below` gives them."""
    return (((_next_bits(stream, which, count) & _MASK) * np.uint64(bound)) >> _THIRTY_TWO).astype(np.int64)


def _next_bits(stream, which, count):
    """(number of marked worlds, count) uint64; advances the streams."""
    rows = stream[which]
    draws = rows[:, DRAWS, None] + np.arange(count, dtype=np.uint64)
    stream[which, DRAWS] += np.uint64(count)
    return _bits_of_arrays(rows[:, SEED, None], rows[:, EPISODE, None], draws)


# The function behind the kernel also works on arrays.
_bits_of_arrays = getattr(random_bits, "py_func", random_bits)
