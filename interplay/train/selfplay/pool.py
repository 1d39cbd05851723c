"""Past selves: copies of a learner's earlier weights, which play some sides (`interplay.train.selfplay.casting`).

Every `pool.every` updates the weights of a population are copied into its pool, over the oldest ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import World
from interplay.train.populations import Populations
from interplay.train.run.restoring import restore
from interplay.train.selfplay.league.decisions import Decision
from interplay.train.settings import PoolGroup, TrainSettings


class Others:
    """Networks beside a run's own, the same in every worker. By default no matches are counted.

    Attributes:
        first: number of the first one: Q, the number of the run's own.
        stacks: kind name -> (R, P) float32, their weights.
        players: N, players with counted matches.
        logged: metrics of theirs that an update may have.
    """

    first: int
    stacks: dict[str, np.ndarray]
    players = 0
    logged: Sequence[str] = ()

    @property
    def places(self) -> int:
        """R."""
        raise NotImplementedError

    @property
    def there(self) -> np.ndarray:
        """Numbers of copies of learners, to be summed."""
        raise NotImplementedError

    def end_update(self, updates: int, agent_steps: int, vectors: Mapping[str, Any]) -> Decision | None:
        """Copies weights, (Q, P) for each kind, when due.

        Returns:
            Learners to restart from their mirrors' weights in `stacks`, or to replace by others; None: no change.
        """
        raise NotImplementedError

    def add(self, results: np.ndarray) -> dict[str, float]:
        """Counts an update's matches, (2, N, N) sums of outcomes and numbers over all workers; returns metrics."""
        return {}

    def scale(self, rates: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Each learner's own rates."""
        return [dict(own) for own in rates]

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """Replaces the learners' initial weights, kind name -> (Q, P)."""

    def go_on(self, agent_steps: int) -> None:
        """The run continues from a checkpoint at `agent_steps`."""

    def ratings(self) -> dict[str, float]:
        """Elo points of the players that have met, by name."""
        return {}

    def members(self) -> Iterable[tuple[str, dict[str, np.ndarray]]]:
        """The networks with files in a checkpoint: name, and kind name -> (P,) weights."""
        return ()

    def mirrors(self) -> Iterable[tuple[str, dict[str, np.ndarray]]]:
        """The copies of learners' present weights: name, and kind name -> (P,)."""
        return ()

    def save(self) -> dict[str, np.ndarray]:
        """Arrays for a checkpoint."""
        raise NotImplementedError

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores `save`."""
        raise NotImplementedError


class Pool(Others):
    """The past selves of a run, the same in every worker.

    Args:
        settings: of the pool; without populations it is empty.
        sizes: kind name -> P, parameters of a network.

    Attributes:
        taken: (populations with a pool,) int64, snapshots so far.
        stacks: R = populations with a pool times ``settings.keep``.
    """

    def __init__(self, settings: PoolGroup, populations: Populations, sizes: Mapping[str, int]) -> None:
        self.settings = settings
        self.numbers = np.array([populations.names.index(name) for name in settings.populations], np.int64)
        self.first = len(populations.names)
        self.taken = np.zeros(len(self.numbers), np.int64)
        self._place = np.full(self.first, -1)
        self._place[self.numbers] = self.first + settings.keep * np.arange(len(self.numbers))
        self.stacks = {name: np.zeros((self.places, size), np.float32) for name, size in sizes.items()}

    @property
    def places(self) -> int:
        """R."""
        return len(self.numbers) * self.settings.keep

    @property
    def there(self) -> np.ndarray:
        """(populations with a pool,) int64, numbers of members."""
        return np.minimum(self.taken, self.settings.keep)

    @property
    def kept(self) -> int:
        """Number of past selves of each population."""
        return int(min(self.there, default=0))

    def place(self, population: np.ndarray, member: np.ndarray) -> np.ndarray:
        """Network numbers of past selves; a population without a pool keeps its own number."""
        first = self._place[population]
        return np.where(first < 0, population, first + member)

    def end_update(self, updates: int, agent_steps: int, vectors: Mapping[str, Any]) -> None:
        """Takes a snapshot when due."""
        if not len(self.numbers) or updates % self.settings.every:
            return
        for index, number in enumerate(self.numbers):
            place = index * self.settings.keep + self.taken[index] % self.settings.keep
            for name, stack in self.stacks.items():
                stack[place] = jax.device_get(vectors[name])[number]
        self.taken += 1

    def save(self) -> dict[str, np.ndarray]:
        """Members, and the number of snapshots."""
        return self._arrays() | {"taken": self.taken.copy()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores `save`; a run saved without a pool begins with an empty one."""
        if not arrays:
            return
        restore(self._arrays(), arrays, "checkpoint: pool", {"taken": (0, 2**53)})

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"taken": self.taken} | {f"stack/{name}": stack for name, stack in self.stacks.items()}


def pool_of(settings: TrainSettings, populations: Populations) -> PoolGroup:
    """The pool's settings; with all own populations if only ``opponents`` names past selves."""
    names = settings.pool.populations
    if not names and settings.has_past_selves:
        names = populations.own
    return settings.pool.model_copy(update={"populations": names})


def check_pool(settings: PoolGroup, world: World, populations: Populations, sides: Populations) -> None:
    """Checks that the pool's past selves can play."""
    if not settings.populations:
        return
    if len(sides.names) == 1:
        raise UserError(
            f'pool: {world.id} has one population; make several with population.by = "name" and groups, '
            'or set sides.by = "seat"'
        )
    for name in settings.populations:
        if name not in populations.names:
            near = did_you_mean(name, populations.names, f"there are {', '.join(populations.names)}")
            raise UserError(f"pool.populations: no population {name!r}; {near}")
        if name in populations.opponents:
            raise UserError(f"pool.populations: {name} is played by opponents; take it out of opponents")
    if world.persistent:
        raise UserError(
            f"pool: worlds of {world.id} may never end, and past selves are drawn for episodes; leave out pool"
        )
