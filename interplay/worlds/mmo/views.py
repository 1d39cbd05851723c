"""The squares of tiles and heads around a place, and the memory layout of views (specification 7)."""

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.mmo.state import LINE, NONE

_8, _56 = np.uint64(8), np.uint64(56)


@phase
def copy_crops(state, sight, rules, w, row, col, ow, o):
    """Copies the square of tiles around a place, and their heads."""
    top, left = row - rules.vision, col - rules.vision
    if rules.window == LINE:
        begin = top * rules.side + left
        _copy_view(sight.tile_lines, w, begin, rules.side, sight.tile_rows, sight.tile_ends, ow, o)
        if rules.occupancy:
            _copy_view(sight.head_lines, w, begin, rules.side, sight.head_rows, sight.head_ends, ow, o)
        return
    for r in range(rules.window):
        for c in range(rules.window):
            sight.tiles[ow, o, r, c] = state.tiles[w, top + r, left + c]
    if rules.occupancy:
        for r in range(rules.window):
            for c in range(rules.window):
                sight.occupancy[ow, o, r, c] = state.heads[w, top + r, left + c]


@phase
def _copy_view(lines, w, begin, side, rows, ends, ow, o):
    """Copies fifteen rows of fifteen bytes. Both words are read before one is written, so that they are moved together."""
    for r in range(LINE - 1):
        at = np.uint64(begin + r * side)
        first, last = lines[w, at].first, lines[w, at].last
        rows[ow, o, r].first = first
        rows[ow, o, r].last = last
    at = np.uint64(
        begin + (LINE - 1) * side - 1
    )  # from the byte before: after the map's last byte there is none
    first, last = lines[w, at].first, lines[w, at].last
    ends[ow, o].first = (first >> _8) | (last << _56)  # the words of EXACT overlap by a byte
    ends[ow, o].last = last


@phase
def fetch_view(sight, rules, w, i):
    """Prefetches a view's usual part by reading a byte of each of its cache lines.

    Views exceed the cache: without this every write waits for memory. The sum keeps the compiler from dropping the reads.
    """
    tiles, heads, rows = sight.tiles[w, i], sight.occupancy[w, i], sight.entities[w, i]
    last = rules.window - 1
    fetched = (
        tiles[0, 0] + tiles[last // 3, last // 3] + tiles[2 * last // 3, 2 * last // 3] + tiles[last, last]
    )
    if rules.occupancy:
        fetched += (
            heads[0, 0]
            + heads[last // 3, last // 3]
            + heads[2 * last // 3, 2 * last // 3]
            + heads[last, last]
        )
    second, third = min(1, rules.rows - 1), min(2, rules.rows - 1)
    return (
        fetched + rows[0, 0] + rows[second, 5] + rows[third, 10] + sight.filled[w, i] + sight.target[w, i, 0]
    )


@phase
def forget_view(sight, w, i):
    """Clears the view of a free slot; all its choices are legal."""
    sight.tiles[w, i] = 0
    sight.occupancy[w, i] = 0
    sight.entities[w, i] = 0
    sight.mask[w, i] = True
    sight.target[w, i] = NONE
    sight.row_slot[w, i] = NONE
    sight.filled[w, i] = 0
