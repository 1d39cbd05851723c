"""Kernels of an exact belief: what everything in public says about every set of players that may be the pack.

A hypothesis is a set of wolves together with one of the ways in which wolves may play. Its weight is the likelihood of what
was seen, over that of the same actions done by villagers: so a seat outside the set adds nothing, and all viewers can share the
weights. A viewer sees through the sets that it is in, and a deed that no villager does says to all others that it was a wolf's.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.werewolf.roles import WEREWOLF
from interplay.worlds.werewolf.theory.likelihood import (
    ANY,
    AS_ONE,
    NAMES,
    any_name,
    names_agreed,
    names_outside,
    reads_names,
    spoke,
    villager_names,
    villager_says,
    wolf_says,
)


class Sets(NamedTuple):
    """All hypotheses."""

    members: np.ndarray  # (H, m) int16
    inside: np.ndarray  # (H, A) bool
    weight: np.ndarray  # (W, M, H) float64, logarithm
    possible: np.ndarray  # (W, H) bool, by deaths and by the game's going on alone
    must: np.ndarray  # (W, A) bool, did what no villager does
    villager: np.ndarray  # (A,) float64, a working array: log-likelihood of each row as a villager's
    share: np.ndarray  # (M, H) float64, a working array


@kernel
def weigh(evidence, creed, sets):
    """Takes in one step of every world."""
    for w in range(evidence.going.shape[0]):
        if evidence.fresh[w]:
            weigh_board(evidence, creed, sets, w)
        weigh_deaths(evidence, sets, w)


@kernel
def restart(which, sets):
    """All sets are as likely as each other again."""
    for w in range(which.shape[0]):
        if which[w]:
            sets.weight[w] = 0.0
            sets.possible[w] = True
            sets.must[w] = False


# -- a board ----------------------------------------------------------------------------------------------------------


@phase
def weigh_board(evidence, creed, sets, w):
    for j in range(evidence.alive.shape[1]):
        sets.villager[j] = 0.0
        if spoke(evidence, w, j):
            said = villager_says(evidence, creed, w, j) + villager_names(evidence, creed, w, j)
            sets.must[w, j] |= said == -np.inf
            sets.villager[j] = said if said > -np.inf else 0.0
    for m in range(creed.wolves.shape[0]):
        for h in range(sets.members.shape[0]):
            if sets.weight[w, m, h] > -np.inf:
                sets.weight[w, m, h] += weigh_set(evidence, creed, sets, w, creed.wolves[m], h)


@phase
def weigh_set(evidence, creed, sets, w, way, h):
    """Log-likelihood of the rows of a set's members as wolves', less that as villagers'."""
    inside, total = sets.inside[h], 0.0
    outside = 0
    for i in range(inside.shape[0]):
        outside += evidence.legal[w, i] and not inside[i]
    one = way == AS_ONE and not evidence.talk[w]
    agreed = np.int64(-1)
    for place in range(sets.members.shape[1]):
        j = sets.members[h, place]
        if not spoke(evidence, w, j):
            continue
        total += wolf_says(evidence, creed, w, j) - sets.villager[j]
        if not reads_names(evidence, creed, w):
            continue
        if outside == 0 or way in (ANY, NAMES) or (way == AS_ONE and not one):
            total += any_name(evidence, creed, w, j, way == ANY)
        elif one:
            total += names_agreed(evidence, inside, w, j, agreed, outside)
            agreed = np.int64(evidence.targets[w, j, 0])
        else:
            total += names_outside(evidence, inside, w, j, outside)
    return total


# -- deaths -----------------------------------------------------------------------------------------------------------


@phase
def weigh_deaths(evidence, sets, w):
    """Who is eaten is no wolf, and each of the prey is as likely; the game goes on; roles that are revealed."""
    n, eaten = evidence.alive.shape[1], evidence.eaten[w]
    living, died = 0, 0
    for j in range(n):
        living += evidence.alive[w, j]
        died += evidence.was_alive[w, j] and not evidence.alive[w, j]
    if died == 0 and not evidence.going[w]:
        return
    killed = eaten >= 0 and evidence.was_alive[w, eaten] and not evidence.alive[w, eaten]
    for h in range(sets.members.shape[0]):
        if not sets.possible[w, h]:
            continue
        inside, wolves, prey = sets.inside[h], 0, 0
        for j in range(n):
            wolves += inside[j] and evidence.alive[w, j]
            prey += not inside[j] and evidence.was_alive[w, j]
        possible = not (killed and inside[eaten]) and agrees(evidence, inside, w)
        if evidence.going[w]:
            possible = possible and wolves > 0 and wolves < living - wolves
        sets.possible[w, h] = possible
        for m in range(sets.weight.shape[1]):
            if not possible:
                sets.weight[w, m, h] = -np.inf
            elif killed:
                sets.weight[w, m, h] -= np.log(prey)


@phase
def agrees(evidence, inside, w):
    """Whether a set has the wolves among the dead whose roles are known, and nobody else of these."""
    for j in range(inside.shape[0]):
        role = evidence.revealed[w, j]
        if role >= 0 and (role == WEREWOLF) != inside[j]:
            return False
    return True


# -- the belief -------------------------------------------------------------------------------------------------------


@kernel
def believe(sets, viewers, told, belief):
    """The chance that each seat is a wolf, as each viewer sees it.

    Where all that a viewer saw cannot be, because somebody plays in none of the ways that it believes in, it goes by deaths alone.

    Args:
        sets: `Sets`.
        viewers: (W, A) bool, who are no wolves and asked; other rows stay as they are.
        told: (W, A, A) int8, what a viewer was told: 1 a wolf, 0 none, -1 nothing.
        belief: (W, A, A) float64, written.
    """
    for w in range(viewers.shape[0]):
        shared = False  # the shares are those by the heaviest set of all
        for i in range(viewers.shape[1]):
            if not viewers[w, i]:
                continue
            if not shared:
                divide(sets, w, heaviest(sets, told, w, -1))
            shared = add_up(sets, told, w, i, True, belief) > 1e-250
            if not shared:  # all that this viewer can think of vanishes beside it
                top = heaviest(sets, told, w, i)
                divide(sets, w, top)
                add_up(sets, told, w, i, top > -np.inf, belief)


@phase
def heaviest(sets, told, w, i):
    """The greatest weight among the sets that a viewer can think of; -1: of all."""
    top = -np.inf
    for h in range(sets.members.shape[0]):
        if i < 0 or thinkable(sets, told, w, i, h, True):
            for m in range(sets.weight.shape[1]):
                top = max(top, sets.weight[w, m, h])
    return top


@phase
def divide(sets, w, top):
    """Writes the weights as shares of the greatest; where there is none, by deaths alone."""
    for m in range(sets.share.shape[0]):
        for h in range(sets.share.shape[1]):
            by_deaths = 1.0 if sets.possible[w, h] else 0.0
            sets.share[m, h] = np.exp(sets.weight[w, m, h] - top) if top > -np.inf else by_deaths


@phase
def add_up(sets, told, w, i, by_actions, belief):
    """Sums the shares of the sets that a viewer can think of; how much there is of them."""
    total, knows = 0.0, knows_anything(sets, told, w, i)
    for j in range(belief.shape[1]):
        belief[w, i, j] = 0.0
    for h in range(sets.members.shape[0]):
        if sets.inside[h, i]:
            continue
        weight = 0.0
        for m in range(sets.share.shape[0]):
            weight += sets.share[m, h]
        if weight == 0.0 or (knows and not thinkable(sets, told, w, i, h, by_actions)):
            continue
        total += weight
        for place in range(sets.members.shape[1]):
            belief[w, i, sets.members[h, place]] += weight
    for j in range(belief.shape[1]):
        belief[w, i, j] /= total if total > 0.0 else 1.0
    return total


@phase
def thinkable(sets, told, w, i, h, by_actions):
    """Whether a viewer can think of a set: not in it, with what it was told, and with all others who did as no villager does."""
    inside = sets.inside[h]
    if inside[i]:
        return False
    for j in range(inside.shape[0]):
        if told[w, i, j] >= 0 and (told[w, i, j] == 1) != inside[j]:
            return False
        if by_actions and j != i and sets.must[w, j] and not inside[j]:
            return False
    return True


@phase
def knows_anything(sets, told, w, i):
    """Whether a viewer was told something, or saw somebody do as no villager does."""
    known = 0
    for j in range(told.shape[2]):
        known += told[w, i, j] >= 0 or sets.must[w, j]
    return known > 0
