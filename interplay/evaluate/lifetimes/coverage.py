"""Share of the ground that agents have visited (specification 12).

Coverage(S) = distinct reachable walkable tiles entered by any agent after S agent-steps / R, where R is the number of
reachable walkable tiles. More agents trivially cover more: compare at equal S, and with the random walkers of
`interplay.evaluate.lifetimes.walks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.information import entropy
from interplay.evaluate.lifetimes.tick import Array
from interplay.evaluate.lifetimes.visits import NEVER, VisitRecorder

STEPS = (10_000, 100_000, 1_000_000)  # agent-steps at which coverage is usually compared


class Coverage(NamedTuple):
    """Coverage of agents and of their control, mean over worlds.

    Attributes:
        steps: (S,) agent-steps of one world.
        agents: (S,) share of the reachable tiles; NaN beyond the shortest world.
        control: (S,) the same of random walkers with the same births, places and lengths of life.
        ratio: (S,) agents / control.
    """

    steps: Array
    agents: Array
    control: Array
    ratio: Array


def coverage(visits: VisitRecorder, reachable: Array, steps: Array | Sequence[int], group: int = -1) -> Array:
    """Coverage(S) = distinct tiles entered after S agent-steps / R, for each world.

    Args:
        reachable: (W,) R of each world.
        steps: (S,) agent-steps of one world (of `group`'s agents).
        group: a population, in its own agent-steps; -1 = all agents.

    Returns:
        (W, S) float64, NaN beyond the steps that a world has played.
    """
    steps, reachable = np.asarray(steps), np.asarray(reachable)
    if (reachable < 1).any():
        raise UserError(
            "a world has no reachable tile, so there is nothing to cover; choose another map_seed"
        )
    found = np.full((len(visits.first), len(steps)), np.nan)
    for w, first in enumerate(visits.first[:, group]):
        entered = np.searchsorted(np.sort(first[first != NEVER]), steps, side="right")
        played = steps <= visits.steps[w, group]
        found[w, played] = entered[played] / reachable[w]
    return found


def against_control(
    agents: VisitRecorder,
    control: VisitRecorder,
    reachable: Array,
    steps: Array | Sequence[int] = STEPS,
    group: int = -1,
) -> Coverage:
    """`coverage` of agents and of their random walkers at equal agent-steps, mean over worlds, and the ratio."""
    ours, theirs = (coverage(visits, reachable, steps, group).mean(axis=0) for visits in (agents, control))
    with np.errstate(invalid="ignore", divide="ignore"):
        return Coverage(np.asarray(steps), ours, theirs, ours / theirs)


def visit_entropy(counts: Array, reachable: float) -> float:
    """H = -sum p ln p / ln R with p = a cell's share of visits: 1 = uniform over R cells, 0 = one cell.

    Example:
        >>> visit_entropy(np.array([5, 5, 0, 5, 5]), reachable=4)
        1.0
    """
    return float(entropy(np.ravel(counts), base=reachable)) if reachable > 1 else 0.0


def log_steps(visits: VisitRecorder, points: int = 40) -> Array:
    """Agent-steps for a curve: evenly spaced in their logarithm, up to the shortest world."""
    last = int(visits.steps[:, -1].min())
    return np.unique(np.geomspace(1, max(last, 1), points).round().astype(np.int64))
