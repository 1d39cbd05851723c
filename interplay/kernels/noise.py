"""Wide-kernel simplex noise and its ridge fractal, a pure function of (key, x, y).

A triangular lattice of edge sqrt(2) carries a gradient at each point. A kernel reaches sqrt(2) far, so six lattice points contribute at
any place. Compared with ordinary simplex noise the features are rounder and larger, as with OpenSimplex. Everything is IEEE double in a
fixed order, without fused multiply-add: the same bits on any machine.

There are no branches and no tables, so that LLVM computes several places at once (eight with AVX-512).
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.kernels.splitmix import PHI, mix64, wrapping

_0, _1, _2, _27, _30, _31, _32, _40, _61 = (np.uint64(n) for n in (0, 1, 2, 27, 30, 31, 32, 40, 61))
_SKEW = -0.21132486540518713  # (1 / sqrt(3) - 1) / 2: places to lattice
_UNSKEW = 0.36602540378443865  # (sqrt(3) - 1) / 2: lattice to places
_SCALE = 47.0  # brings the sum into -1..1


@kernel
def mix(z):
    """Stafford's mixing function, variant 13: 64 bits in, 64 well mixed bits out."""
    return mix64(np.uint64(z))


@phase
def _pull(key, i, j, a, b, dx, dy):
    """The contribution of lattice point (i + a, j + b) at a place (dx, dy) from it; a and b are integers."""
    column, row = i + np.int64(a), j + np.int64(b)
    place = (np.uint64(column & 0xFFFFFFFF) << _32) | np.uint64(row & 0xFFFFFFFF)
    h = mix64(key ^ place) >> _61
    # (5, 2) (2, 5) (-2, 5) (-5, 2) (-5, -2) (-2, -5) (2, -5) (5, -2), by the bits of h
    wide = (h ^ (h >> _1)) & _1 == _0
    gx, gy = (5.0 if wide else 2.0), (2.0 if wide else 5.0)
    gx = gx if ((h >> _1) ^ (h >> _2)) & _1 == _0 else -gx
    gy = gy if h >> _2 == _0 else -gy
    w = 2.0 - dx * dx - dy * dy
    w2 = w * w
    return w2 * w2 * (gx * dx + gy * dy) if w > 0.0 else 0.0


@phase
def _noise(key, x, y):
    s = (x + y) * _SKEW
    i, j = np.floor(x + s), np.floor(y + s)
    t = (i + j) * _UNSKEW
    dx0, dy0 = x - (i + t), y - (j + t)
    up = 1.0 if (x + s - i) + (y + s - j) >= 1.0 else 0.0  # which triangle of the cell
    i, j = np.int64(i), np.int64(j)
    total = 0.0
    for a, b in (
        (up, up),
        (1.0, 0.0),
        (0.0, 1.0),
        (1.0 - up, 1.0 - up),
        (1.0 + up, up - 1.0),
        (up - 1.0, 1.0 + up),
    ):
        t = (a + b) * _UNSKEW
        total += _pull(key, i, j, a, b, dx0 - (a + t), dy0 - (b + t))
    return total / _SCALE


@kernel
def noise(key, x, y):
    """Noise of the field `key` (uint64) at a place: about -0.87..0.87, mean 0, standard deviation 0.37, 0 at lattice points."""
    return _noise(np.uint64(key), x, y)


@wrapping
def _octave(seed, octave):
    key = mix64(seed + np.uint64(octave + 1) * PHI)
    ox = np.float64(mix64(key + _1) >> _40) * (1.0 / 16384.0)
    oy = np.float64(mix64(key + _2) >> _40) * (1.0 / 16384.0)
    return key, ox, oy


@kernel
def octave(seed, index):
    """Key (uint64) and offsets x and y (0..1024) of the octave `index` of a fractal, so that octaves differ."""
    return _octave(np.uint64(seed), index)


@phase
def _ridge(key, x, y, weight):
    n = _noise(key, x, y)
    return weight * (1.0 - min(abs(n), 1.0))


@kernel
def fill_ridges(seed, octaves, frequency, row, column, rows, columns, total):
    """Writes a ridge fractal over rows x columns cells, from (row, column) on, into the front of `total` (float64).

    Octave o samples noise at cell * frequency * 2**o. With q = 0.5**o * (1 - abs(noise)) the total starts as q and
    grows by q times itself: ridges gather detail, valleys stay smooth. A cell's value depends on its own row and
    column alone, not on the rectangle.
    """
    seed = np.uint64(seed)
    for r in range(rows):
        f, weight = frequency, 1.0
        out = total[r * columns : (r + 1) * columns]
        for o in range(octaves):
            key, ox, oy = _octave(seed, o)
            y = (row + r) * f + oy
            if o == 0:
                for c in range(columns):
                    out[c] = _ridge(key, (column + c) * f + ox, y, weight)
            else:
                for c in range(columns):
                    out[c] += _ridge(key, (column + c) * f + ox, y, weight) * out[c]
            f, weight = f * 2.0, weight * 0.5
