"""Plays a fixed set of episodes to their ends, whichever end first.

Taking the first N episodes that finish in a batch favours short ones. Here the episodes are named beforehand by
their seeds, worlds take them in that order as they become free, and every one of them is played to its end:
the table depends on the seed, not on the number of worlds (as long as the policy does not either).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.data_frames import frame_of
from interplay.core.errors import UserError
from interplay.core.html import html_table
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.statistics import Difference, Estimate, difference, estimate

MOST_AGENTS = 16  # that a table shows one by one

OnStep = Callable[[World, np.ndarray], None]


@dataclass(frozen=True, repr=False)
class EpisodeTable:
    """One row per episode, in the order of the episodes' seeds.

    Attributes:
        world: the world's id.
        policy: the policy's name.
        seed: names the episodes.
        agents: slot names, length A.
        columns: name -> (E,) or (E, A) array: ``seed``, ``steps``, ``cut`` (stopped by `max_steps`), ``return``
            (E, A) float64, and the world's metrics at the episode's end.
    """

    world: str
    policy: str
    seed: int
    agents: tuple[str, ...]
    columns: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.columns["steps"])

    def __getitem__(self, name: str) -> np.ndarray:
        """A column.

        Raises:
            UserError: if there is none of that name.
        """
        if name not in self.columns:
            raise UserError(f"{self.world}: no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def __repr__(self) -> str:
        columns = ", ".join(self.columns)
        return f"<EpisodeTable: {self.policy} on {self.world}, {len(self)} episodes, seed {self.seed}: {columns}>"

    def frame(self) -> Any:
        """A pandas data frame with a row for each episode; every agent has a column, ``return[red_0]``.

        Raises:
            UserError: if pandas is not installed.
        """
        return frame_of(self.columns.items(), self.agents)

    def summary(self) -> dict[str, Estimate]:
        """The estimate of each column, over episodes.

        A column per agent gives its mean over agents under its own name (agents of one episode are not
        independent, so an episode counts once) and each agent's as ``name[agent]``. NaN is left out of every mean.
        """
        found: dict[str, Estimate] = {}
        for name, values in self.columns.items():
            if name == "seed":
                continue
            if values.ndim == 1:
                found[name] = estimate(values)
                continue
            found[name] = estimate(_mean_over_agents(values))
            for slot, agent in enumerate(self.agents):
                found[f"{name}[{agent}]"] = estimate(values[:, slot])
        return found

    def _repr_html_(self) -> str:
        """The summary, for notebooks; of crowds without the columns of single agents."""
        rows = [
            (name, found)
            for name, found in self.summary().items()
            if len(self.agents) <= MOST_AGENTS or not name.endswith("]")
        ]
        title = f"{self.policy} on {self.world}, {len(self)} episodes, mean ± standard error"
        return html_table(title, ("", "mean"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {
            "world": self.world,
            "policy": self.policy,
            "seed": self.seed,
            "agents": list(self.agents),
            "episodes": len(self),
            "columns": {name: values.tolist() for name, values in self.columns.items()},
        }


def play(
    world: World,
    policy: Policy,
    episodes: int,
    seed: int = 0,
    *,
    max_steps: int | None = None,
    on_step: OnStep | None = None,
) -> EpisodeTable:
    """Plays `episodes` episodes, each to its end.

    Args:
        world: any batch; it is restarted.
        policy: acts for all agents; see `PolicyMap` for a policy for each slot.
        episodes: how many; episode e starts from seed e of `seeding.world_seeds(seed, episodes)`.
        seed: names the episodes and the policy's stream.
        max_steps: cuts episodes at that length; needed where worlds may run for ever.
        on_step: called after every step with the world and the episode (W,) that each world plays, -1 for none.

    Raises:
        UserError: for no episodes, or a persistent world without `max_steps`.
    """
    if episodes < 1:
        raise UserError(f"episodes = {episodes}: play at least one")
    if max_steps is not None and max_steps < 1:
        raise UserError(f"max_steps = {max_steps}: an episode has at least one step")
    if max_steps is None and world.persistent:
        raise UserError(f"{world.id}: its worlds may run for ever; pass max_steps (--max-steps)")
    ledger = _Ledger(world, seeding.world_seeds(seed, episodes))
    timestep = world.reset(seeds=ledger.first_seeds(seed))
    policy.start(world, seed)
    while ledger.unfinished:
        timestep = world.step(policy.act(timestep))
        ledger.note(timestep.reward)
        if on_step is not None:
            on_step(world, ledger.episode)
        done = ledger.finish(timestep.over, max_steps)
        if done.any():
            again = ledger.assign(done)
            if again.any():
                timestep = world.reset(again, ledger.seeds)
                policy.forget(again)
    return EpisodeTable(world.id, policy.name, seed, world.agents, ledger.columns())


def compare(a: EpisodeTable, b: EpisodeTable) -> dict[str, Difference]:
    """The columns that both tables have, a against b, as independent samples."""
    ours, theirs = a.summary(), b.summary()
    return {name: difference(ours[name], theirs[name]) for name in ours if name in theirs}


class _Ledger:
    """Which world plays which episode, and what came of those that are finished."""

    def __init__(self, world: World, episode_seeds: np.ndarray) -> None:
        self._world = world
        self._episode_seeds = episode_seeds
        self._next = min(world.num_worlds, len(episode_seeds))
        self._rows: dict[int, dict[str, Any]] = {}
        self.episode = np.where(np.arange(world.num_worlds) < self._next, np.arange(world.num_worlds), -1)
        self._steps = np.zeros(world.num_worlds, np.int64)
        self._returns = np.zeros((world.num_worlds, len(world.agents)))
        self.seeds = np.zeros(world.num_worlds, np.uint64)

    @property
    def unfinished(self) -> bool:
        return len(self._rows) < len(self._episode_seeds)

    def first_seeds(self, seed: int) -> np.ndarray:
        """Seeds (W,) of the first episodes; worlds without one get some seed of their own."""
        self.seeds[:] = seeding.world_seeds(seed, len(self.seeds), first=len(self._episode_seeds))
        self.seeds[: self._next] = self._episode_seeds[: self._next]
        return self.seeds

    def note(self, reward: np.ndarray) -> None:
        self._steps += 1
        self._returns += reward

    def finish(self, over: np.ndarray, max_steps: int | None) -> np.ndarray:
        """Writes the rows of episodes that ended now; returns their worlds as a (W,) bool mask."""
        cut = np.zeros_like(over) if max_steps is None else ~over & (self._steps >= max_steps)
        done: np.ndarray = (over | cut) & (self.episode >= 0)
        if done.any():
            metrics = self._world.metrics
            for w in np.flatnonzero(done):
                self._rows[int(self.episode[w])] = {
                    **{name: np.array(values[w]) for name, values in metrics.items()},
                    "seed": self.seeds[w],
                    "steps": self._steps[w],
                    "cut": cut[w],
                    "return": self._returns[w].copy(),
                }
        return done

    def assign(self, done: np.ndarray) -> np.ndarray:
        """Gives the next episodes to the worlds in `done`; returns those that got one."""
        again = np.zeros_like(done)
        for w in np.flatnonzero(done):
            self.episode[w] = -1
            if self._next < len(self._episode_seeds):
                self.episode[w] = self._next
                self.seeds[w] = self._episode_seeds[self._next]
                self._next += 1
                again[w] = True
        self._steps[again] = 0
        self._returns[again] = 0.0
        return again

    def columns(self) -> dict[str, np.ndarray]:
        rows = [self._rows[episode] for episode in sorted(self._rows)]
        first = ["seed", "steps", "cut", "return"]
        names = first + [name for name in rows[0] if name not in first]
        return {name: np.stack([row[name] for row in rows]) for name in names}


def _mean_over_agents(values: np.ndarray) -> np.ndarray:
    """(E,) means over the agents of each episode that have a number; NaN where none has."""
    missing = np.isnan(values)
    if not missing.any():
        mean: np.ndarray = values.mean(axis=1, dtype=np.float64)
        return mean
    sums = np.where(missing, 0.0, values).sum(axis=1, dtype=np.float64)
    cases = (~missing).sum(axis=1)
    return np.divide(sums, cases, out=np.full(len(values), np.nan), where=cases > 0)
