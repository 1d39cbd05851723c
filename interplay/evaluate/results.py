"""Results of episodes: the shares won, lost, drawn and cut, which sum to 1, with their intervals.

A world with winners has the metric `OUTCOME`, a value per agent: +1 won, 0 drawn, -1 lost at the end of an episode, NaN before it.
An episode without a winner is *cut* if a limit ended it (of the world, or ``max_steps``), and *drawn* if the rules did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.statistics import wilson

OUTCOME = "outcome"  # the metric with the result of an episode
NAMES = ("won", "lost", "drawn", "cut")


class Share(NamedTuple):
    """A share of episodes and its 95 % interval (Wilson); all NaN without episodes.

    Example:
        >>> print(share_of(3, 8))
        0.38 [0.14, 0.69]
    """

    share: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.share:.2f} [{self.low:.2f}, {self.high:.2f}]" if self.n else "-"


class Results(NamedTuple):
    """Results of E episodes for one side; in each episode the four sum to 1.

    Each is (E,) float64: 1 or 0, or a share of the side's agents if their outcomes differ.
    """

    won: np.ndarray
    lost: np.ndarray
    drawn: np.ndarray
    cut: np.ndarray

    def means(self) -> dict[str, float]:
        """The four shares by their `NAMES`; NaN without episodes."""
        return {
            name: float(values.mean()) if len(values) else np.nan
            for name, values in zip(NAMES, self, strict=True)
        }

    def shares(self) -> dict[str, Share]:
        """The four shares with their intervals, by their `NAMES`."""
        return {
            name: share_of(float(values.sum()), len(values)) for name, values in zip(NAMES, self, strict=True)
        }


def results(outcome: np.ndarray, truncated: np.ndarray) -> Results:
    """Results of a side's episodes.

    Args:
        outcome: (E,) of one agent or team, or (E, A) of the side's agents: +1, 0, -1 or NaN. Agents with NaN are left out; an
            episode of NaN alone is cut.
        truncated: (E,) bool, whether a limit ended the episode.

    Example:
        >>> results(np.array([1.0, -1.0, 0.0, 0.0, np.nan]), np.array([True, False, False, True, True])).means()
        {'won': 0.2, 'lost': 0.2, 'drawn': 0.2, 'cut': 0.4}
    """
    own = np.asarray(outcome, np.float64)
    own = own[:, None] if own.ndim == 1 else own
    known = ~np.isnan(own)
    odd = own[known & ~np.isin(own, (-1.0, 0.0, 1.0))]
    if len(odd):
        raise UserError(
            f"{OUTCOME} = {odd[0]:g}: it is +1, 0 or -1, or NaN before the end; rename that metric"
        )
    limit = np.asarray(truncated, bool)
    agents = known.sum(axis=1)
    unknown = agents == 0
    won, lost, even = ((own == value).sum(axis=1) / np.maximum(agents, 1) for value in (1.0, -1.0, 0.0))
    return Results(won, lost, np.where(limit, 0.0, even), np.where(limit, even, 0.0) + unknown)


def share_of(count: float, n: int) -> Share:
    """The share `count` / `n` with its interval.

    Example:
        >>> share_of(0, 0).n, str(share_of(0, 10))
        (0, '0.00 [0.00, 0.28]')
    """
    if n == 0:
        return Share(np.nan, np.nan, np.nan, 0)
    low, high = wilson(count, n)
    return Share(count / n, low, high, n)


def has_outcome(world: World) -> bool:
    """Whether the metrics of a world, after a reset, have an `OUTCOME` per agent."""
    metrics = world.metrics
    return OUTCOME in metrics and np.shape(metrics[OUTCOME])[1:] == (len(world.agents),)


def sides_by_name(world: World) -> Mapping[str, tuple[int, ...]]:
    """Name -> slots of each side: the world's teams, or single agents."""
    if world.teams is None:
        return {name: (slot,) for slot, name in enumerate(world.agents)}
    names = world.team_names or tuple(f"team{number}" for number in range(len(world.teams)))
    return dict(zip(names, world.teams, strict=True))


def limit_ended(truncated: np.ndarray, over: np.ndarray) -> np.ndarray:
    """(W,) episodes ended by a limit of the world, from (W, A) `truncated` and (W,) `over` of a time step."""
    return np.asarray(over, bool) & np.asarray(truncated, bool).any(axis=1)
