"""Statistics of episodes by the update in which they began: length, return, the world's metrics, and lives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from interplay.core.world import TimeStep, World
from interplay.train.run.side_sums import OUTCOME, Balance, LoggedSides, SideSums
from interplay.train.run.windows import Windows


class EpisodeStatistics:
    """Sums of episodes by window, float64, so that sums of shards can be added.

    Length and return are counted here for every world, in place of a world's own metrics of these names. An episode does not
    count for a metric that is NaN (a share without a case).

    Args:
        world: a batch, reset.
        further: additional numbers per episode, given to `end`.
        sides: sides to log.

    Attributes:
        names: metric -> number of its values, 1 per world or A.
        by_side: sums of the per-agent metrics by side.
        size: summed numbers per episode: a count, values of `names`, whether each is present, those of `by_side`.
        later: those of `names` that appeared during play (`World.later_metrics`).
        windows: of the episodes; `further` numbers come last.
        ended: finished episodes; the caller resets it.
        returns: (W, A) float64, of the current episodes.
        lengths: (W,) int64, steps of the current episodes.
    """

    def __init__(self, world: World, further: int = 0, sides: LoggedSides | None = None) -> None:
        agents = len(world.agents)
        own = {
            name: np.shape(values)[1:]
            for name, values in world.metrics.items()
            if name not in ("episode_length", "episode_return")
        }
        self.later = sorted(own) if world.later_metrics else []
        self._own = {"episode_length": (), "episode_return": (agents,)} | own
        self._own = {name: shape for name, shape in self._own.items() if name not in self.later}
        self._sides, self._further = sides or LoggedSides(), further
        self._lay_out()
        self.windows = Windows(world.num_worlds, self.size + further)
        self.ended = 0
        self.returns = np.zeros((world.num_worlds, agents))
        self.lengths = np.zeros(world.num_worlds, np.int64)
        self._world = world

    def _lay_out(self) -> None:
        """Assigns columns to all numbers."""
        agents = self._own["episode_return"]
        shapes = self._own | dict.fromkeys(self.later, agents)
        self.names = {name: int(np.prod(shape)) for name, shape in shapes.items()}
        per_agent = [name for name, shape in shapes.items() if shape == agents]
        self.by_side = SideSums(per_agent, self._sides)
        self._columns = {name: list(self.names).index(name) for name in per_agent}
        self.size = 1 + 2 * sum(self.names.values()) + self.by_side.size

    def grow(self, later: Iterable[str]) -> None:
        """Adds per-agent metrics, sorted by name; finished episodes have none of them."""
        later, before = sorted({*self.later, *later}), self._labels()
        if later == self.later:
            return
        self.later = later
        self._lay_out()
        at = {label: column for column, label in enumerate(self._labels())}
        self.windows.widen(np.array([at[label] for label in before]), len(at))

    def _labels(self) -> list[tuple[Any, ...]]:
        """A label for each number of an episode."""
        each = [(name, i) for name, size in self.names.items() for i in range(size)]
        means = [("episodes",), *(("sum", *one) for one in each), *(("cases", *one) for one in each)]
        return [*means, *self.by_side.labels, *(("further", i) for i in range(self._further))]

    @property
    def logged(self) -> list[str]:
        """Possible names in a line of the log."""
        return list(dict.fromkeys([*(name for name in self.names if name != OUTCOME), *self.by_side.logged]))

    def end(
        self, timestep: TimeStep, further: np.ndarray | None = None, members: np.ndarray | None = None
    ) -> None:
        """Counts the episodes that ended in a step; call it before their worlds are reset.

        Args:
            further: (W, further) additional numbers, read where episodes are over.
            members: (1 + sides, W, A) bool, slots of the learner and of each side, read where episodes are over; None: all the learner's.
        """
        over = timestep.over
        metrics, ended = self._world.metrics, int(over.sum())
        if self._world.later_metrics and (new := metrics.keys() - self.names.keys()):
            self.grow(new)
        values = [self.lengths[over, None], self.returns[over]]
        none = np.full(self.returns.shape, np.nan)  # of a metric that only other shards have so far
        values += [
            np.asarray(metrics.get(name, none))[over].reshape(ended, -1) for name in list(self.names)[2:]
        ]
        numbers = np.concatenate(values, axis=1)
        counts = ~np.isnan(numbers)
        per_agent = np.stack([np.asarray(values[at], np.float64) for at in self._columns.values()], axis=1)
        own = np.ones((1, *self.returns.shape), bool) if members is None else members
        cut = timestep.truncated[over].any(axis=1)
        columns = [np.ones((ended, 1)), np.where(counts, numbers, 0.0), counts]
        columns += [self.by_side.of_episodes(per_agent, cut, own[:, over])]
        columns += [] if further is None else [further[over]]
        self.windows.end(over, np.concatenate(columns, axis=1))
        self.ended += ended
        self.returns[over] = 0.0
        self.lengths[over] = 0

    def read(self, sums: np.ndarray, balance: Balance) -> dict[str, Any]:
        """Means over episodes for the log: the learner's, those of each side in brackets, and a list per agent.

        Args:
            sums: (size,) over episodes.
            balance: of the run; updated by these episodes.
        """
        at = self.size - self.by_side.size
        logged = read_sums(self.names, sums[:at])
        if not logged["episodes"]:
            return logged
        by_agent = logged.pop("by_agent", None)
        logged |= self.by_side.read(sums[at:], balance)
        logged = {name: value for name, value in logged.items() if value is not None}
        if of_others := [name for name in self.by_side.of_others(balance) if name in logged]:
            logged["of_others"] = of_others
        return logged if by_agent is None else {**logged, "by_agent": by_agent}


def read_sums(names: Mapping[str, int], sums: np.ndarray) -> dict[str, Any]:
    """Means over episodes for the log: one number per metric, and lists per agent under ``by_agent``.

    A mean is over the episodes with a number, and then over agents; NaN where none has one.

    Example:
        >>> read_sums({"episode_length": 1, "kills": 2}, np.array([2.0, 30.0, 1.0, 3.0, 2.0, 2.0, 1.0]))
        {'episodes': 2, 'episode_length': 15.0, 'kills': 1.75, 'by_agent': {'kills': [0.5, 3.0]}}
    """
    episodes = int(sums[0])
    logged: dict[str, Any] = {"episodes": episodes}
    if not episodes:
        return logged
    by_agent, at, count = {}, 1, (len(sums) - 1) // 2
    for name, size in names.items():
        cases = sums[count + at : count + at + size]
        means = np.divide(sums[at : at + size], cases, out=np.full(size, np.nan), where=cases > 0)
        logged[name] = float(means[cases > 0].mean()) if cases.any() else math.nan
        if size > 1:
            by_agent[name] = means.tolist()
        at += size
    return {**logged, "by_agent": by_agent} if by_agent else logged
