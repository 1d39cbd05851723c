"""Occlusion by blockers (manual 3.2.9; specification O7).

Rays run from the centre of the observer's cell through the two outermost corners of the blocker's cell. Cells whose centre
lies strictly between them, and not nearer than the blocker, are hidden; the blocker's own cell is not. Coordinates are
doubled, so that corners are integers and the test is exact.
"""

from interplay.core.jit import phase


@phase
def is_screen(agents, cells, w, row, col):
    """Whether an active blocker is in a cell."""
    if cells[w, row, col].shown < 1 << 30:
        return False
    other = cells[w, row, col].first
    while other >= 0:
        if agents[w, other].blocking and agents[w, other].active:
            return True
        other = agents[w, other].next
    return False


@phase
def shades(dr, dc, r, c):
    """Whether a blocker at (dr, dc) from the observer hides the cell at (r, c)."""
    if dr == 0 and dc == 0:
        return False
    if dr == r and dc == c:
        return False
    # Mirrored so that the blocker lies down and to the right.
    if dr < 0:
        dr, r = -dr, -r
    if dc < 0:
        dc, c = -dc, -c
    if dr == 0:
        # Corners (1, 2dc - 1) and (-1, 2dc - 1), doubled.
        return c >= dc and abs(r) * (2 * dc - 1) < c
    if dc == 0:
        return r >= dr and abs(c) * (2 * dr - 1) < r
    # Corners (2dr + 1, 2dc - 1) and (2dr - 1, 2dc + 1).
    return r >= dr and c >= dc and r * (2 * dc - 1) < c * (2 * dr + 1) and r * (2 * dc + 1) > c * (2 * dr - 1)


@phase
def is_hidden(agents, cells, w, row, col, reach, r, c):
    """Whether the cell at (r, c) from (row, col) is hidden by a blocker within reach."""
    for dr in range(max(-reach, -row), min(reach, cells.shape[1] - 1 - row) + 1):
        for dc in range(max(-reach, -col), min(reach, cells.shape[2] - 1 - col) + 1):
            if is_screen(agents, cells, w, row + dr, col + dc) and shades(dr, dc, r, c):
                return True
    return False
