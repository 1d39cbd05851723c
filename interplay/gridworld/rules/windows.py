"""Observations of the grid (manual 3.2.6 to 3.2.9; specification O2 to O8).

Codes: encodings, 0 empty, -1 outside the grid, -2 hidden. Of several occupants one is shown at random. That draw depends on the moment
and the place instead of the stream: observing changes nothing, and observing twice gives the same.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.gridworld.rules.sight import is_screen, shades
from interplay.kernels.philox import random_bits

CENTRED, ABSOLUTE, STACKED, MASK = 0, 1, 2, 3
_ENCODING = np.int32((1 << 29) - 1)


@phase
def chance(stream, w, a, cell, bound):
    """A number in 0..bound-1 that depends on world, moment, observer and cell."""
    counter = (stream[w, 2] << np.uint64(40)) ^ (np.uint64(a) << np.uint64(20)) ^ np.uint64(cell)
    bits = random_bits(stream[w, 0], stream[w, 1] ^ np.uint64(1 << 63), counter)
    return np.int64(((bits & np.uint64(0xFFFFFFFF)) * np.uint64(bound)) >> np.uint64(32))


@phase
def glimpse(agents, cells, stream, w, a, row, col, with_self):
    """The encoding that a cell shows to an agent."""
    shown = cells[w, row, col].shown
    first = cells[w, row, col].first
    if shown & np.int32(1 << 29) == 0:
        return np.int32(0) if first == a and not with_self else shown & _ENCODING
    several = 0
    other = first
    while other >= 0:
        several += with_self or other != a
        other = agents[w, other].next
    if several == 0:
        return np.int32(0)
    pick = chance(stream, w, a, row * cells.shape[2] + col, several)
    other = first
    while True:
        if with_self or other != a:
            if pick == 0:
                return agents[w, other].encoding
            pick -= 1
        other = agents[w, other].next


@phase
def darken(agents, cells, w, row, col, reach, top, left, out):
    """Writes -2 where blockers within reach hide a cell; (top, left) is the cell of ``out[0, 0]``, which has channels."""
    rows, cols = cells.shape[1], cells.shape[2]
    bottom, right = top + out.shape[0] - 1, left + out.shape[1] - 1
    for dr in range(max(-reach, -row), min(reach, rows - 1 - row) + 1):
        for dc in range(max(-reach, -col), min(reach, cols - 1 - col) + 1):
            if cells[w, row + dr, col + dc].shown < 1 << 30 or (dr == 0 and dc == 0):
                continue
            if not is_screen(agents, cells, w, row + dr, col + dc):
                continue
            # Only cells beyond the blocker and in the window.
            r0, r1 = max(top - row, dr if dr > 0 else -reach), min(bottom - row, dr if dr < 0 else reach)
            c0, c1 = max(left - col, dc if dc > 0 else -reach), min(right - col, dc if dc < 0 else reach)
            for r in range(r0, r1 + 1):
                for c in range(c0, c1 + 1):
                    if shades(dr, dc, r, c):
                        for k in range(out.shape[2]):
                            out[row + r - top, col + c - left, k] = -2


@phase
def dim(reach, out):
    """Hides a window's cells, (side, side, channels), beyond an agent's range, which may be smaller."""
    middle = out.shape[0] // 2
    if reach >= middle:
        return np.int64(middle)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                out[i, j, k] = -2
    return np.int64(reach)


@phase
def look_centred(agents, cells, stream, w, a, with_self, out):
    """The window around an agent: out is (side, side, 1)."""
    rows, cols = cells.shape[1], cells.shape[2]
    reach, middle = dim(agents[w, a].view_range, out), out.shape[0] // 2
    top, left = agents[w, a].row - middle, agents[w, a].col - middle
    low, high = middle - reach, middle + reach + 1
    begin, end = max(low, -left), min(high, cols - left)  # columns of the window that are on the grid
    flags = np.int32(0)
    for i in range(low, high):
        row = top + i
        if row < 0 or row >= rows:
            for j in range(low, high):
                out[i, j, 0] = -1
            continue
        for j in range(low, begin):
            out[i, j, 0] = -1
        # First the summary, without a branch; cells that need more carry a flag.
        for j in range(begin, end):
            shown = cells[w, row, left + j].shown
            out[i, j, 0] = shown
            flags |= shown
        for j in range(max(end, low), high):
            out[i, j, 0] = -1
    if flags >= 1 << 29 or not with_self:
        for i in range(max(low, -top), min(high, rows - top)):
            for j in range(begin, end):
                if out[i, j, 0] >= 1 << 29 or (i == middle and j == middle):
                    out[i, j, 0] = glimpse(agents, cells, stream, w, a, top + i, left + j, with_self)
    if flags >= 1 << 30:
        darken(agents, cells, w, agents[w, a].row, agents[w, a].col, reach, top, left, out)


@phase
def look_absolute(agents, cells, stream, w, a, out):
    """The whole grid with the agent itself as -1: out is (R, C, 1)."""
    reach, row, col = agents[w, a].view_range, agents[w, a].row, agents[w, a].col
    for r in range(cells.shape[1]):
        for c in range(cells.shape[2]):
            if abs(r - row) > reach or abs(c - col) > reach:
                out[r, c, 0] = -2
            elif r == row and c == col:
                out[r, c, 0] = -1
            else:
                out[r, c, 0] = glimpse(agents, cells, stream, w, a, r, c, True)
    darken(agents, cells, w, row, col, reach, 0, 0, out)


@phase
def look_stacked(agents, cells, w, a, out):
    """Occupants of the window by encoding: out is (side, side, E)."""
    reach, middle = dim(agents[w, a].view_range, out), out.shape[0] // 2
    top, left = agents[w, a].row - middle, agents[w, a].col - middle
    for i in range(middle - reach, middle + reach + 1):
        for j in range(middle - reach, middle + reach + 1):
            row, col = top + i, left + j
            inside = row >= 0 and col >= 0 and row < cells.shape[1] and col < cells.shape[2]
            for k in range(out.shape[2]):
                out[i, j, k] = 0 if inside else -1
            if inside:
                other = cells[w, row, col].first
                while other >= 0:
                    if agents[w, other].encoding <= out.shape[2]:  # one that came later has no layer
                        out[i, j, agents[w, other].encoding - 1] += 1
                    other = agents[w, other].next
    darken(agents, cells, w, agents[w, a].row, agents[w, a].col, reach, top, left, out)


@phase
def look_in(agents, cells, stream, w, a, form, with_self, out):
    """One agent's view in one of the three forms."""
    if form == CENTRED:
        look_centred(agents, cells, stream, w, a, with_self, out)
    elif form == ABSOLUTE:
        look_absolute(agents, cells, stream, w, a, out)
    else:
        look_stacked(agents, cells, w, a, out)


@kernel
def look(agents, cells, stream, w, a, form, with_self, out):
    """Writes one agent's view into ``out``, (rows, cols, channels)."""
    look_in(agents, cells, stream, w, a, form, with_self, out)


@kernel
def look_all(agents, cells, stream, form, with_self, slots, queried, out, lo, hi):
    """Writes the views of queried agents in the worlds lo..hi-1.

    Args:
        slots: (K,) agents of one kind.
        queried: (W, A) bool.
        out: (W, K, rows, cols, channels), written.
    """
    for w in range(lo, hi):
        for k in range(slots.shape[0]):
            if queried[w, slots[k]]:
                look_in(agents, cells, stream, w, slots[k], form, with_self, out[w, k])


@kernel
def hide(agents, cells, w, a, reach, out):
    """Writes -2 into ``out``, (side, side, 1), where a blocker hides a cell from an agent."""
    row, col = agents[w, a].row, agents[w, a].col
    darken(agents, cells, w, row, col, reach, row - reach, col - reach, out)


@kernel
def look_at_health(agents, cells, stream, slots, queried, out, lo, hi):
    """Writes the health around queried agents in the worlds lo..hi-1: -1 outside the grid, -2 hidden, 0 empty.

    Of several agents in a cell it is the health of the one shown by the encoding observer.

    Args:
        slots: (K,) agents of one kind.
        queried: (W, A) bool.
        out: (W, K, side, side, 1) float32, written.
    """
    for w in range(lo, hi):
        for k in range(slots.shape[0]):
            a = slots[k]
            if not queried[w, a]:
                continue
            side = out.shape[2]
            reach = side // 2
            top, left = agents[w, a].row - reach, agents[w, a].col - reach
            for i in range(side):
                for j in range(side):
                    row, col = top + i, left + j
                    if row < 0 or col < 0 or row >= cells.shape[1] or col >= cells.shape[2]:
                        out[w, k, i, j, 0] = -1
                        continue
                    other = cells[w, row, col].first
                    if other >= 0 and agents[w, other].next >= 0:
                        several = 0
                        while other >= 0:
                            several += 1
                            other = agents[w, other].next
                        other = cells[w, row, col].first
                        for _ in range(chance(stream, w, a, row * cells.shape[2] + col, several)):
                            other = agents[w, other].next
                    out[w, k, i, j, 0] = agents[w, other].health if other >= 0 else 0.0
            darken(agents, cells, w, agents[w, a].row, agents[w, a].col, reach, top, left, out[w, k])
