"""Compiled bookkeeping of a rollout step: rows for the networks, samples, statistics.

`tests/train/plain_rollout.py` is the same in NumPy, about sixty calls a step; tests compare both bit by bit. Axis letters: W worlds,
A slots, A_kind slots of a kind, n rows of a network call, Q players (networks and guests).
"""

from __future__ import annotations

from interplay.core.jit import kernel
from interplay.train.run.episodes import BEGINS

# Flags of `settle`: a learner's life was truncated, a life ended, an episode ended.
CUT, ENDED, OVER = 1, 2, 4


@kernel
def find_present(acting, network, owns, learns, mask_dead, dead_stay, present, living, teaches):
    """Updates `present`, `living` and `teaches`; returns the number of slots that this run's networks act for.

    Args:
        acting: (W, A) bool, of the world.
        network: (W, A), number of the player of each slot.
        owns, learns: (Q,) bool, players that are this run's networks, and those of them that learn.
        mask_dead: only acting steps train the policy; else also those of dead agents, if `dead_stay`.
        dead_stay: dead agents keep their slots, so the acting slots are the living ones.
        present, living, teaches: (W, A) bool, outputs.
    """
    acted = 0
    for w in range(acting.shape[0]):
        for a in range(acting.shape[1]):
            acts, player = acting[w, a], network[w, a]
            present[w, a] |= acts
            if dead_stay:
                living[w, a] = acts
            teaches[w, a] = acts or (dead_stay and not mask_dead and present[w, a] and learns[player])
            if acts and owns[player]:
                acted += 1
    return acted


@kernel
def pick(wanted, slots, network, played, rank, counts, rows):
    """Selects a kind's rows for the networks, sorted by the rank of their network; returns n.

    Args:
        wanted: (W, A) bool.
        slots: (A_kind,) of the kind.
        network: (W, A), number of the player of each slot.
        played: (Q,) bool, players that are networks.
        rank: (Q,), of each player.
        counts: (2, Q), output: rows of each rank; the second row is scratch.
        rows: (3, >= n), output: index among (W, A_kind), index among (W, A), player.
    """
    ends = counts[1]
    counts[0, :] = 0
    for w in range(wanted.shape[0]):
        for a in slots:
            if wanted[w, a] and played[network[w, a]]:
                counts[0, rank[network[w, a]]] += 1
    total = 0
    for q in range(len(ends)):
        ends[q] = total
        total += counts[0, q]
    for w in range(wanted.shape[0]):
        for place in range(len(slots)):
            a = slots[place]
            if wanted[w, a] and played[network[w, a]]:
                q = rank[network[w, a]]
                row = ends[q]
                ends[q] += 1
                rows[0, row] = w * len(slots) + place
                rows[1, row] = w * wanted.shape[1] + a
                rows[2, row] = network[w, a]
    return total


@kernel
def cut(counts, order, block, start, population, rows):
    """`populations.cut_blocks` for rows sorted by rank: fills the (M,) arrays of `Blocks`, returns the number of blocks."""
    number, first = 0, 0
    start[:], population[:], rows[:] = 0, 0, 0
    for q in range(len(counts)):
        done = 0
        while done < counts[q]:
            start[number], population[number] = first + done, order[q]
            rows[number] = min(counts[q] - done, block)
            done += block
            number += 1
        first += counts[q]
    return number


@kernel
def copy_rows(given, picked, out, column):
    """Copies the rows `picked` of (N, k) numbers into columns of `out`, from `column` on."""
    for n in range(len(picked)):
        row = picked[n]
        for k in range(given.shape[1]):
            out[n, column + k] = given[row, k]


@kernel
def copy_runs(given, runs, picked, out):
    """`copy_rows` of several runs of columns, (R, 3): source column, target column, number."""
    for n in range(len(picked)):
        row = picked[n]
        for r in range(runs.shape[0]):
            source, to = runs[r, 0], runs[r, 1]
            for k in range(runs[r, 2]):
                out[n, to + k] = given[row, source + k]


@kernel
def choose(outputs, picked, where, first, value, action):
    """Scatters sampled choices and values of n rows.

    Args:
        outputs: (n, columns + 2).
        picked, where: (n,), see `pick`.
        first: (columns,) int64, the number of each head's first choice.
        value: (W, A).
        action: (W A_kind, columns) of the action space's dtype.
    """
    columns, slots = action.shape[1], value.shape[1]
    for n in range(len(picked)):
        for c in range(columns):
            action[picked[n], c] = int(outputs[n, c]) + first[c]
        value[where[n] // slots, where[n] % slots] = outputs[n, columns + 1]


@kernel
def place(outputs, picked, where, value, action):
    """`choose` for action spaces with Boxes: `action`, float32, gets the policy's own numbers."""
    columns, slots = action.shape[1], value.shape[1]
    for n in range(len(picked)):
        for c in range(columns):
            action[picked[n], c] = outputs[n, c]
        value[where[n] // slots, where[n] % slots] = outputs[n, columns + 1]


@kernel
def keep(outputs, where, player, teaches, at, first, kept, step, slot, population, acts):
    """Writes n samples of step `at` into the columns of `PendingSamples` from `first` on.

    Args:
        outputs: (n, columns + 2).
        where, player: (n,), see `pick`.
        teaches: (W, A) bool.
    """
    slots = teaches.shape[1]
    for n in range(len(where)):
        to = first + n
        for c in range(kept.shape[1]):
            kept[to, c] = outputs[n, c]
        step[to], slot[to], population[to] = at, where[n], player[n]
        acts[to] = teaches[where[n] // slots, where[n] % slots]


@kernel
def remember(new, picked, where, teaches, memory, fresh):
    """Stores the new memory of n rows; rows outside `teaches` were only evaluated and keep theirs."""
    slots = teaches.shape[1]
    for n in range(len(picked)):
        w, a = where[n] // slots, where[n] % slots
        if teaches[w, a]:
            fresh[w, a] = False
            for k in range(memory.shape[1]):
                memory[picked[n], k] = new[n, k]


@kernel
def settle(
    reward, terminated, truncated, over, present, network, learns, living, window,
    earned, ended, bootstrap, life_steps, life_earned, returns, lengths, windows,
):  # fmt: skip
    """Writes a step into the trajectories and updates statistics; returns the union of `CUT`, `ENDED` and `OVER`.

    Args:
        reward, terminated, truncated, over: of the time step.
        present, living: (W, A) bool, slots with a life, and slots that are alive.
        network, learns: (W, A) player of each slot; (Q,) bool, players that learn.
        window: of the episodes that begin with this step.
        earned, ended, bootstrap: (W, A), the step's rows of `TrajectoryBuffer`.
        life_steps, life_earned: (W, A), of `LifeStatistics`.
        returns, lengths, windows: (W, A), (W,) and (W,), of `EpisodeStatistics` and its windows.
    """
    happened = 0
    for w in range(reward.shape[0]):
        if windows[w] == BEGINS:
            windows[w] = window
        lengths[w] += 1
        if over[w]:
            happened |= OVER
        for a in range(reward.shape[1]):
            ends = terminated[w, a] or truncated[w, a] or over[w]
            earned[w, a], ended[w, a], bootstrap[w, a] = reward[w, a], ends, 0.0
            returns[w, a] += reward[w, a]
            if present[w, a]:
                life_earned[w, a] += reward[w, a]
                if living[w, a]:
                    life_steps[w, a] += 1
                if ends:
                    happened |= ENDED
                if truncated[w, a] and learns[network[w, a]]:
                    happened |= CUT
    return happened
