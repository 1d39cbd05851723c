"""Attacking (manual 3.2.12; specification T7 to T16).

The four forms of attack differ only in possible targets: any in range, any of an encoding, or any in a cell. Each launched attack picks
uniformly among those, and succeeds with the attacker's accuracy.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.gridworld.rules.cells import leave_cell
from interplay.gridworld.rules.sight import is_hidden, is_screen
from interplay.kernels.philox import integer_below, uniform

ANY, BY_ENCODING, BY_CELL, CELLS_NAMED = 0, 1, 2, 3


@phase
def gather(agents, cells, mapping, w, a, reach, found):
    """Lists an agent's possible targets within reach, cell by cell; returns their number."""
    encoding = agents[w, a].encoding
    row, col = agents[w, a].row, agents[w, a].col
    top, bottom = max(row - reach, 0), min(row + reach, cells.shape[1] - 1)
    left, right = max(col - reach, 0), min(col + reach, cells.shape[2] - 1)
    screens = False
    number = 0
    for r in range(top, bottom + 1):
        for c in range(left, right + 1):
            if cells[w, r, c].shown == 0:
                continue
            screens = screens or ((r != row or c != col) and is_screen(agents, cells, w, r, c))
            other = cells[w, r, c].first
            while other >= 0:
                if other != a and agents[w, other].active and mapping[encoding, agents[w, other].encoding]:
                    found[number] = other
                    number += 1
                other = agents[w, other].next
    if screens:
        seen = 0
        for i in range(number):
            other = found[i]
            if not is_hidden(
                agents, cells, w, row, col, reach, agents[w, other].row - row, agents[w, other].col - col
            ):
                found[seen] = other
                seen += 1
        number = seen
    return number


@phase
def is_wanted(agents, w, a, form, place, code, other):
    """Whether the attack at ``place`` of the codes may pick a target."""
    if form == ANY:
        return True
    if form == BY_ENCODING:
        return agents[w, other].encoding == code
    reach = agents[w, a].attack_range
    down, right = agents[w, other].row - agents[w, a].row, agents[w, other].col - agents[w, a].col
    cell = (down + reach) * (2 * reach + 1) + right + reach
    return cell == (place if form == BY_CELL else code - 1)


@phase
def launch(agents, stream, w, a, form, stacked, codes, found, spent, number, hits):
    """Launches the attacks of the codes; returns the number of hits; their targets are in ``hits``."""
    for i in range(number):
        spent[i] = 0
    made = 0
    accuracy = agents[w, a].accuracy
    place = 0
    while place < codes.shape[0]:
        code, attacks = codes[place], codes[place]
        if form == BY_ENCODING:
            attacks = codes[place + 1]
        elif form == CELLS_NAMED:
            attacks = np.int64(1 if code > 0 else 0)
        for _ in range(attacks):
            if made == hits.shape[0]:
                return made
            several = 0
            for i in range(number):
                several += spent[i] == 0 and is_wanted(agents, w, a, form, place, code, found[i])
            if several == 0:
                break  # the rest is wasted
            pick = integer_below(stream[w, 0], stream[w, 1], stream[w, 2], several)
            stream[w, 2] += np.uint64(1)
            if accuracy < 1.0:
                lucky = uniform(stream[w, 0], stream[w, 1], stream[w, 2]) < accuracy
                stream[w, 2] += np.uint64(1)
                if not lucky:
                    continue
            for i in range(number):
                if spent[i] == 0 and is_wanted(agents, w, a, form, place, code, found[i]):
                    if pick == 0:
                        hits[made] = found[i]
                        made += 1
                        spent[i] = 0 if stacked else 1
                        break
                    pick -= 1
        place += 2 if form == BY_ENCODING else 1
    return made


@phase
def spend_ammo(agents, stream, w, a, hits, made):
    """With too little ammo keeps a uniform subset of the hits, in their order; returns its size."""
    if not agents[w, a].has_ammo:
        return made
    while made > agents[w, a].ammo:
        drop = integer_below(stream[w, 0], stream[w, 1], stream[w, 2], made)
        stream[w, 2] += np.uint64(1)
        made -= 1
        for i in range(drop, made):
            hits[i] = hits[i + 1]
    agents[w, a].ammo -= made
    return made


@phase
def wound(agents, cells, w, a, hits, kills, made):
    """Takes health; an agent without any is inactive and off the grid. ``kills`` marks one hit of each killed agent."""
    for i in range(made):
        victim = hits[i]
        left = agents[w, victim].health - agents[w, a].strength
        agents[w, victim].health = max(left, 0.0)
        kills[i] = agents[w, victim].active and left <= 0.0
        if kills[i]:
            agents[w, victim].active = False
            if agents[w, victim].placed:
                leave_cell(agents, cells, w, victim)


@phase
def any_attack(form, codes):
    """Whether the codes contain an attack."""
    step = 2 if form == BY_ENCODING else 1
    found = False
    for place in range(step - 1, codes.shape[0], step):
        found = found or codes[place] > 0
    return found


@phase
def attack_by(agents, cells, mapping, stream, w, a, form, stacked, codes, scratch, hits, kills):
    """One agent's attacks: -1 if it tried none, else the number of hits."""
    stream[w, 2] += np.uint64(1)
    if not any_attack(form, codes):
        return -1
    number = gather(agents, cells, mapping, w, a, agents[w, a].attack_range, scratch[0])
    if number == 0:
        return 0
    made = launch(agents, stream, w, a, form, stacked, codes, scratch[0], scratch[1], number, hits)
    made = spend_ammo(agents, stream, w, a, hits, made)
    wound(agents, cells, w, a, hits, kills, made)
    return made


@kernel
def attack(agents, cells, mapping, stream, w, a, form, stacked, codes, scratch, hits, kills):
    """One agent's attacks: -1 if it tried none, else the number of hits, with their targets in ``hits``.

    Args:
        mapping: (E + 1, E + 1) bool, attacker x possible target.
        codes: int64; ANY: (1,) attacks; BY_ENCODING: (2k,) encoding and attacks in turn; BY_CELL: (cells,) attacks on
            each; CELLS_NAMED: (attacks,) the number of a cell from 1, or 0.
        scratch: (2, A) int32.
        hits, kills: written; at least as long as the number of possible attacks.
    """
    return attack_by(agents, cells, mapping, stream, w, a, form, stacked, codes, scratch, hits, kills)


@kernel
def attack_all(
    agents,
    cells,
    mapping,
    stream,
    order,
    count,
    form,
    stacked,
    codes,
    attackers,
    scratch,
    attempted,
    num_hits,
    hits,
    kills,
    lo,
    hi,
):
    """The attacks of all acting agents in the worlds lo..hi-1, in their order; see `attack`.

    Args:
        order, count: (W, A), (W,) slots of acting agents, and their number.
        codes: (W, A, ...) int64.
        attackers: (A,) bool, supported agents.
        scratch: (2, A) int32, of this thread.
        attempted: (W, A) uint8, written; so are num_hits (W, A), hits and kills (W, A, H).
    """
    for w in range(lo, hi):
        for a in range(agents.shape[1]):
            attempted[w, a] = 0
            num_hits[w, a] = 0
        for i in range(count[w]):
            a = order[w, i]
            if attackers[a] and agents[w, a].active:
                made = attack_by(
                    agents,
                    cells,
                    mapping,
                    stream,
                    w,
                    a,
                    form,
                    stacked,
                    codes[w, a],
                    scratch,
                    hits[w, a],
                    kills[w, a],
                )
                attempted[w, a] = made >= 0
                num_hits[w, a] = max(made, 0)
