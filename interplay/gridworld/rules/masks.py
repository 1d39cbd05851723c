"""Masks of choices that would work now: free destinations, and possible targets of attacks (specification 7)."""

from interplay.core.jit import kernel, phase
from interplay.gridworld.rules.attacks import gather
from interplay.gridworld.rules.cells import may_enter
from interplay.gridworld.rules.moves import COLS, CROSS, ROWS


@phase
def can_step(agents, cells, overlap, w, a, down, right):
    """Whether a step by these rows and columns would succeed."""
    if down == 0 and right == 0:
        return True
    row, col = agents[w, a].row + down, agents[w, a].col + right
    if row < 0 or col < 0 or row >= cells.shape[1] or col >= cells.shape[2]:
        return False
    return may_enter(agents, cells, overlap, w, a, row, col)


@kernel
def mask_moves(agents, cells, overlap, form, slots, queried, out, lo, hi):
    """Legal moves of queried agents in the worlds lo..hi-1.

    Args:
        form: CROSS: entries are the five codes; else the cells of the square of the agent's range, row by row.
        slots: (K,) agents of one kind.
        queried: (W, A) bool.
        out: (W, K, entries) bool, written.
    """
    for w in range(lo, hi):
        for k in range(slots.shape[0]):
            a = slots[k]
            if not queried[w, a]:
                continue
            if form == CROSS:
                for code in range(5):
                    out[w, k, code] = can_step(agents, cells, overlap, w, a, ROWS[code], COLS[code])
            else:
                reach = agents[w, a].move_range
                for i in range(2 * reach + 1):
                    for j in range(2 * reach + 1):
                        entry = i * (2 * reach + 1) + j
                        out[w, k, entry] = can_step(agents, cells, overlap, w, a, i - reach, j - reach)


@kernel
def mask_attacks(agents, cells, mapping, by_encoding, slots, queried, scratch, out, lo, hi):
    """Possible targets of queried agents in the worlds lo..hi-1; none without ammo.

    Args:
        by_encoding: entries are encodings; else the cells of the square of the agent's range, row by row, from 1. Entry 0,
            nothing, is always legal.
        scratch: (A,) int32.
        out: (W, K, entries) bool, written.
    """
    for w in range(lo, hi):
        for k in range(slots.shape[0]):
            a = slots[k]
            if not queried[w, a]:
                continue
            for entry in range(out.shape[2]):
                out[w, k, entry] = entry == 0
            if agents[w, a].has_ammo and agents[w, a].ammo <= 0:
                continue
            reach = agents[w, a].attack_range
            for i in range(gather(agents, cells, mapping, w, a, reach, scratch)):
                other = scratch[i]
                if by_encoding:
                    out[w, k, agents[w, other].encoding] = True
                else:
                    down = agents[w, other].row - agents[w, a].row + reach
                    right = agents[w, other].col - agents[w, a].col + reach
                    out[w, k, 1 + down * (2 * reach + 1) + right] = True
