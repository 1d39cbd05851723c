"""The health of the agents in view (specification 7; Abmarl issue 363)."""

from interplay.core.jit import kernel
from interplay.gridworld.rules.windows import chance, darken


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
