"""Statistics of episodes and lives by the update in which they began (decision 16).

Means over the episodes that *ended* in an update are biased towards short ones at the beginning of a run and wherever episodes
become longer. So sums are kept by window of beginnings, one update long; when all `MOST` windows are open, the newest is extended.
A window is complete when its episodes and all earlier ones ended.

Usually lives are parts of an episode and are counted with it. A world with ``world.ended`` has slots that respawn in possibly endless
episodes; there a life counts when it ends. With ``World.dead_stay`` a life's length is its acting steps, and its return includes
rewards after death.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.train.populations import Populations
from interplay.train.run.restoring import check_array, restore
from interplay.train.run.side_sums import OUTCOME, Balance, LoggedSides, SideSums


class EpisodeStatistics:
    """Sums of episodes by window, float64, so that sums of shards can be added.

    Length and return are counted here for every world, in place of a world's own metrics of these names. An episode does not
    count for a metric that is NaN (a share without a case).

    Args:
        further: additional numbers per episode, given to `end`.

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
        self._teams = dict.fromkeys(world.per_team, world.teams) if world.teams else {}

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
        logged = read_sums(self.names, sums[:at], self._teams)
        if not logged["episodes"]:
            return logged
        by_agent = logged.pop("by_agent", None)
        logged |= self.by_side.read(sums[at:], balance)
        logged = {name: value for name, value in logged.items() if value is not None}
        if of_others := [name for name in self.by_side.of_others(balance) if name in logged]:
            logged["of_others"] = of_others
        return logged if by_agent is None else {**logged, "by_agent": by_agent}


def read_sums(
    names: Mapping[str, int], sums: np.ndarray, teams: Mapping[str, Sequence[Sequence[int]]] | None = None
) -> dict[str, Any]:
    """Means over episodes for the log: one number per metric, and lists per agent under ``by_agent``.

    A mean is over the episodes with a number, then over agents, and for the metrics in `teams` over their teams; NaN where none has one.

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
        groups = [means[list(team)] for team in (teams or {}).get(name, [range(size)])]
        each = [float(own[~np.isnan(own)].mean()) for own in groups if not np.isnan(own).all()]
        logged[name] = float(np.mean(each)) if each else math.nan
        if size > 1:
            by_agent[name] = means.tolist()
        at += size
    return {**logged, "by_agent": by_agent} if by_agent else logged


MOST = 32  # open windows at a time
BEGINS, UNKNOWN = -1, -2  # instead of a window: a new episode begins, or the current one began in no window


class Windows:
    """The windows of one shard. All shards open and free the same rows at the same time.

    Args:
        worlds: W.
        columns: summed numbers per episode.

    Attributes:
        began: (MOST,) int64, the run's agent-steps when each window was opened; -1 for a free row.
        of: (W,) int64, window of each world's current episode, `BEGINS` or `UNKNOWN`.
        sums: (MOST, columns) float64, over finished episodes.

    Example:
        >>> windows = Windows(2, 1)
        >>> windows.of[:] = windows.current; windows.end(np.array([True, False]), np.array([[3.0]]))
        >>> bool(windows.complete(windows.waiting()).any())  # the other world's episode is unfinished
        False
        >>> windows.end(np.array([False, True]), np.array([[9.0]]))
        >>> windows.take(windows.complete(windows.waiting()))
        array([12.])
    """

    def __init__(self, worlds: int, columns: int) -> None:
        self.began = np.full(MOST, -1, np.int64)
        self.of = np.full(worlds, BEGINS, np.int64)
        self.sums = np.zeros((MOST, columns))
        self._newest, self._closed = 0, False
        self.open(0)

    def open(self, agent_steps: int) -> None:
        """Opens a window for episodes that begin from now on; without a free row the newest is extended."""
        free = np.flatnonzero(self.began < 0)
        if len(free) and agent_steps not in self.began:
            self._newest = int(free[0])
            self.began[self._newest] = agent_steps

    @property
    def current(self) -> int:
        """The window of an episode that begins now."""
        return UNKNOWN if self._closed else self._newest

    def close(self) -> None:
        """Counts episodes that begin from now on in no window."""
        self._closed = True

    def end(self, over: np.ndarray, numbers: np.ndarray) -> None:
        """Adds finished episodes.

        Args:
            over: (W,) bool, worlds with an ended episode.
            numbers: (n, columns) of these episodes.
        """
        rows = self.of[over]
        known = rows >= 0
        np.add.at(self.sums, rows[known], numbers[known])
        self.of[over] = BEGINS

    def waiting(self) -> np.ndarray:
        """(MOST,) unfinished episodes by window."""
        return np.bincount(self.of[self.of >= 0], minlength=MOST)

    def complete(self, waiting: np.ndarray) -> np.ndarray:
        """(MOST,) bool, windows without unfinished episodes in them or in earlier ones.

        Args:
            waiting: (MOST,) unfinished episodes by window, of all shards together.
        """
        late = (self.began >= 0) & (waiting > 0)
        return (self.began >= 0) & (self.began < self.began[late].min(initial=2**62))

    def take(self, complete: np.ndarray) -> np.ndarray:
        """(columns,) sums over the windows in `complete`, (MOST,) bool, which become free."""
        sums: np.ndarray = self.sums[complete].sum(axis=0)
        self.sums[complete], self.began[complete] = 0.0, -1
        return sums

    def widen(self, at: np.ndarray, columns: int) -> None:
        """Adds columns; `at`: new positions of the present ones."""
        sums, self.sums = self.sums, np.zeros((MOST, columns))
        self.sums[:, at] = sums

    def forget(self, of: int) -> None:
        """Drops all windows, since without their lost episodes they would be biased.

        Args:
            of: `BEGINS` where new episodes begin; `UNKNOWN` where episodes go on.
        """
        self.sums[:], self.began[:], self.of[:] = 0.0, -1, of

    # -- checkpoints ------------------------------------------------------------------------------------

    def save(self) -> dict[str, np.ndarray]:
        """The state, with sums only of rows in use, because there may be many columns."""
        return {"began": self.began, "of": self.of, "sums": self.sums[self.began >= 0]}

    def fits(self, saved: Mapping[str, np.ndarray]) -> bool:
        """Whether the arrays have the columns of the world's present metrics."""
        sums = saved.get("sums")
        return bool(saved) and (sums is None or sums.ndim != 2 or sums.shape[1] == self.sums.shape[1])

    def load(self, saved: Mapping[str, np.ndarray], owner: str) -> None:
        """Restores the arrays of `save`; for those of other metrics it drops all windows."""
        if not self.fits(saved):
            self.forget(UNKNOWN)
            return
        bounds = {"began": (-1, 2**62 - 1), "of": (UNKNOWN, MOST - 1)}
        for name, mine in (("began", self.began), ("of", self.of)):
            check_array(name, saved.get(name), mine.shape, mine.dtype, owner, bounds)
        used = saved["began"] >= 0
        sums = np.zeros((int(used.sum()), self.sums.shape[1]))
        if not used[saved["of"][saved["of"] >= 0]].all():
            raise UserError(
                f"{owner}: array of holds a window that is not open; choose an earlier checkpoint"
            )
        restore({"began": self.began, "of": self.of, "sums": sums}, saved, owner, bounds)
        self.sums[:] = 0.0
        self.sums[used] = sums
        self._newest = int(self.began.argmax())


OWN = ("life", "life_return")
NOT_MEANS = ("life", "cause", "population", "id")  # of `world.ended`: counted here, or not to be averaged


class LifeStatistics:
    """Sums over lives, float64, so that sums of shards can be added.

    Args:
        others: other players take part: the learner's lives get an additional row behind those of the populations.

    Attributes:
        names: metrics of a life.
        with_episodes: lives are counted with their episode.
        in_episode: (W, rows * (1 + names)) float64, sums over lives ended in the current episodes; no columns where lives
            count when they end.
        steps: (W, A) int64, of the current lives, until death.
        earned: (W, A) float64, return of the current lives.
        living: (W, A) bool, slots alive in the current step, for worlds with `dead_stay`; elsewhere all True.
    """

    def __init__(self, world: World, populations: Populations, others: bool = False) -> None:
        ended: Mapping[str, np.ndarray] = getattr(world, "ended", {})
        self.with_episodes = not ended
        self.names = [*OWN, *(name for name in ended if name not in (*OWN, *NOT_MEANS))]
        shape = (world.num_worlds, len(world.agents))
        self.steps = np.zeros(shape, np.int64)
        self.earned = np.zeros(shape)
        self.living = np.ones(shape, bool)
        self._world, self._count = world, len(populations.names)
        self._sums = np.zeros((self._count + others, 1 + len(self.names)))
        self.in_episode = np.zeros((len(self.steps), self._sums.size if self.with_episodes else 0))

    def end(self, over: np.ndarray, population: np.ndarray, learner: np.ndarray | None = None) -> None:
        """Counts lives that ended in a step.

        Args:
            over: (W, A) bool, lives that ended.
            population: (W, A), of these lives; larger numbers than the last population's are not counted.
            learner: (W, A) bool, lives of the learner; read where they have a row.
        """
        ours = over & (population < self._count)
        own = population[ours]
        columns = [np.ones(len(own)), self.steps[ours], self.earned[ours]]
        counted = getattr(self._world, "ended", {})
        columns += [np.asarray(counted[name])[ours] for name in self.names[len(OWN) :]]
        rows = np.stack(columns, axis=1)
        self._add_up(np.nonzero(ours)[0], own, rows)
        if learner is not None and len(self._sums) > self._count:
            mine = learner[ours]
            self._add_up(np.nonzero(ours)[0][mine], np.full(mine.sum(), self._count), rows[mine])
        self.steps[over] = 0
        self.earned[over] = 0.0

    def _add_up(self, world: np.ndarray, row: np.ndarray, numbers: np.ndarray) -> None:
        """Adds (n, 1 + names) numbers of n lives to their rows, per episode or in total."""
        if self.with_episodes:
            np.add.at(self.in_episode.reshape(len(self.steps), *self._sums.shape), (world, row), numbers)
            return
        for at, column in enumerate(numbers.T):
            self._sums[:, at] += np.bincount(row, np.asarray(column, np.float64), len(self._sums))

    def begin(self, over: np.ndarray) -> None:
        """Begins new episodes in some worlds, (W,) bool."""
        self.in_episode[over] = 0.0

    def take(self) -> np.ndarray:
        """Per row the number of lives and each metric's sum since the last call, flat; only of lives counted when they end."""
        sums, self._sums = self._sums, np.zeros_like(self._sums)
        return sums.ravel()


def read_lives(names: Sequence[str], populations: Sequence[str], sums: np.ndarray) -> dict[str, Any]:
    """Means over lives for the log: the learner's, and ``name[population]`` where there are several populations.

    Without a row of the learner, its means are those of all populations together.

    Example:
        >>> read_lives(["life"], ["pop0", "pop1"], np.array([1.0, 9.0, 0.0, 0.0]))
        {'lives': 1, 'life': 9.0, 'lives[pop0]': 1, 'life[pop0]': 9.0, 'lives[pop1]': 0}
    """
    table, count = sums.reshape(-1, 1 + len(names)), len(populations)
    logged = _means("", names, table[count] if len(table) > count else table.sum(axis=0))
    if count > 1:
        for population, row in zip(populations, table[:count], strict=True):
            logged |= _means(f"[{population}]", names, row)
    return logged


def _means(suffix: str, names: Sequence[str], row: np.ndarray) -> dict[str, Any]:
    logged: dict[str, Any] = {f"lives{suffix}": int(row[0])}
    if row[0]:
        logged |= {
            f"{name}{suffix}": float(total / row[0]) for name, total in zip(names, row[1:], strict=True)
        }
    return logged
