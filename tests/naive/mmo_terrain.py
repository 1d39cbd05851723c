"""The MMO's ground word for word from specification 3: whole numbers of any length, branches, a sorted list, a walk."""

from __future__ import annotations

import math

BITS = 2**64 - 1
PHI = 0x9E3779B97F4A7C15
SKEW, UNSKEW = -0.21132486540518713, 0.36602540378443865
LOWER = [(0, 0), (1, 0), (0, 1), (1, 1), (1, -1), (-1, 1)]
UPPER = [(1, 1), (1, 0), (0, 1), (0, 0), (2, 0), (0, 2)]
GRADIENTS = [(5, 2), (2, 5), (-2, 5), (-5, 2), (-5, -2), (-2, -5), (2, -5), (5, -2)]
LAVA, WATER, GRASS, FOREST, STONE = 0, 1, 2, 4, 5


def mix(z):
    z &= BITS
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 & BITS
    z ^= z >> 27
    z = z * 0x94D049BB133111EB & BITS
    return z ^ (z >> 31)


def octave(seed, index):
    key = mix(seed + (index + 1) * PHI)
    return key, (mix(key + 1) >> 40) * 2.0**-14, (mix(key + 2) >> 40) * 2.0**-14


def noise(key, x, y):
    s = (x + y) * SKEW
    i, j = math.floor(x + s), math.floor(y + s)
    total = 0.0
    for a, b in UPPER if (x + s - i) + (y + s - j) >= 1 else LOWER:
        dx = (x - (i + (i + j) * UNSKEW)) - (a + (a + b) * UNSKEW)
        dy = (y - (j + (i + j) * UNSKEW)) - (b + (a + b) * UNSKEW)
        w = 2 - dx * dx - dy * dy
        if w > 0:
            gx, gy = GRADIENTS[mix(key ^ ((i + a) % 2**32 << 32 | (j + b) % 2**32)) >> 61]
            w2 = w * w
            total += w2 * w2 * (gx * dx + gy * dy)
    return total / 47


def ridges(seed, row, column, feature_tiles=5.0, octaves=8):
    frequency, total = 1 / feature_tiles, 0.0
    for o in range(octaves):
        key, ox, oy = octave(seed, o)
        n = noise(key, column * frequency * 2**o + ox, row * frequency * 2**o + oy)
        q = 0.5**o * (1 - abs(max(-1.0, min(1.0, n))))
        total = q if o == 0 else total + q * total
    return total


def make_map(settings, seed):
    """Rows of tile ids, and the set of cells that a walk from the ring comes to."""
    side, first, last = settings.side, settings.border, settings.border + settings.interior - 1
    inside = [(r, c) for r in range(first + 1, last) for c in range(first + 1, last)]

    def value(r, c):
        return ridges(seed, r, c, settings.feature_tiles, settings.octaves)

    total = {cell: value(*cell) for cell in inside}
    if settings.terrain == "quantile":
        ascending = sorted(total.values())
        cuts = [ascending[math.floor(q * len(inside) + 0.5)] for q in (0.075, 0.526, 0.811)]
    elif settings.terrain == "absolute":
        cuts = [0.690, 1.310, 1.637]
    else:
        peak = max(value(r, c) for r in range(side) for c in range(side))
        total = {cell: v / peak for cell, v in total.items()}
        cuts = [0.30, 0.57, 0.715]
    tiles = {(r, c): GRASS for r in range(first, last + 1) for c in range(first, last + 1)}
    for cell in inside:
        tiles[cell] = (WATER, GRASS, FOREST, STONE)[sum(total[cell] >= cut for cut in cuts)]
    ground = {cell for cell, tile in tiles.items() if tile in (GRASS, FOREST)}
    reached = walk(ground, (first, first))
    if settings.pockets == "stone" or (settings.pockets == "auto" and len(reached) < 0.9 * len(ground)):
        tiles.update(dict.fromkeys(ground - reached, STONE))
    return [[tiles.get((r, c), LAVA) for c in range(side)] for r in range(side)], reached


def walk(ground, start):
    """Cells of `ground` that steps of the four directions lead to."""
    reached, ahead = {start}, [start]
    while ahead:
        r, c = ahead.pop()
        for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if cell in ground and cell not in reached:
                reached.add(cell)
                ahead.append(cell)
    return reached
