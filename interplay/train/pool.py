"""Past selves: a learner's weights as they were, who play its population in some of the worlds while the other side learns.

Every so many updates the weights of a population are copied into its pool, the newest in the place of the oldest. When a world begins
an episode it draws, from a stream of its own that is a pure function of the run's seed, the world and the episode, whether one population
is played by a member of its pool, and by which. Rows of past selves are computed beside the others and not learnt from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.hashing import mix64
from interplay.core.loading import did_you_mean
from interplay.core.world import World
from interplay.train.populations import Populations
from interplay.train.restoring import restore
from interplay.train.settings import PoolGroup

_STREAM = 0x9001_5E1F  # told from the worlds' own streams
_NOBODY = -1


class Pool:
    """The past selves of a run; every worker holds the same.

    Args:
        settings: of the pool; without populations it is empty.
        populations: of the run.
        sizes: kind name -> P, parameters of a network.

    Attributes:
        taken: (populations with a pool,) int64, snapshots so far.
        stacks: kind name -> (R, P) float32, R = populations with a pool times ``settings.keep``.
    """

    def __init__(self, settings: PoolGroup, populations: Populations, sizes: Mapping[str, int]) -> None:
        self.settings = settings
        self.numbers = np.array([populations.names.index(name) for name in settings.populations], np.int64)
        self.first = len(populations.names)  # number of the first past self
        self.taken = np.zeros(len(self.numbers), np.int64)
        self.stacks = {name: np.zeros((self.places, size), np.float32) for name, size in sizes.items()}

    @property
    def places(self) -> int:
        """R."""
        return len(self.numbers) * self.settings.keep

    @property
    def there(self) -> np.ndarray:
        """(populations with a pool,) int64, members that there are."""
        return np.minimum(self.taken, self.settings.keep)

    def add(self, updates: int, vectors: Mapping[str, Any]) -> None:
        """Takes a snapshot if it is time for one.

        Args:
            updates: done so far.
            vectors: kind name -> (Q, P), the weights after them.
        """
        if not len(self.numbers) or updates % self.settings.every:
            return
        for index, number in enumerate(self.numbers):
            place = index * self.settings.keep + self.taken[index] % self.settings.keep
            for name, stack in self.stacks.items():
                stack[place] = np.asarray(vectors[name][int(number)])
        self.taken += 1

    def save(self) -> dict[str, np.ndarray]:
        """Members and how many there were."""
        return {"taken": self.taken.copy()} | {f"stack/{name}": stack for name, stack in self.stacks.items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores what `save` gave; a run without a pool so far begins with an empty one.

        Raises:
            UserError: if the pool was of other populations or another size.
        """
        if not arrays:
            return
        restore(self._arrays(), arrays, "checkpoint: pool", {"taken": (0, 2**62)})

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"taken": self.taken} | {f"stack/{name}": stack for name, stack in self.stacks.items()}


class PastSelves:
    """Where past selves play, in one shard's worlds.

    Args:
        pool: of the run.
        world: the shard's.
        seed: of the run.

    Attributes:
        episode: (W,) int64, episodes that were begun.
        population: (W,) int64, the population that a past self plays in this episode, or -1.
        member: (W,) int64, number of the past self among all networks.
    """

    def __init__(self, pool: Pool, world: World, seed: int) -> None:
        self.pool = pool
        worlds = world.num_worlds
        self.episode = np.zeros(worlds, np.int64)
        self.population = np.full(worlds, _NOBODY, np.int64)
        self.member = np.full(worlds, _NOBODY, np.int64)
        self._streams = seeding.world_seeds(seed ^ _STREAM, worlds, world.first_world)

    def draw(self, which: np.ndarray) -> None:
        """The worlds in the (W,) mask begin an episode."""
        self.episode[which] += 1
        if not self.pool.taken.any():
            return
        past, whose, who = (self._uniform(number) for number in range(3))
        index = (whose * len(self.pool.numbers)).astype(np.int64)
        member = (
            self.pool.first
            + index * self.pool.settings.keep
            + (who * self.pool.there[index]).astype(np.int64)
        )
        plays = past < self.pool.settings.share
        self.population[which] = np.where(plays, self.pool.numbers[index], _NOBODY)[which]
        self.member[which] = np.where(plays, member, _NOBODY)[which]

    def seat(self, population: np.ndarray) -> np.ndarray:
        """(W, A) number of the network that plays each slot, from the (W, A) number of its population."""
        theirs = population == self.population[:, None]
        if not theirs.any():
            return population
        return np.where(theirs, self.member[:, None], population).astype(np.uint16)

    def save(self) -> dict[str, np.ndarray]:
        """What the next draws and the episodes under way depend on."""
        return {"episode": self.episode, "population": self.population, "member": self.member}

    def _uniform(self, number: int) -> np.ndarray:
        """(W,) float64 in [0, 1), draw `number` of each world's episode."""
        with np.errstate(over="ignore"):
            counter = self.episode.astype(np.uint64) * np.uint64(4) + np.uint64(number)
            words = mix64(self._streams + mix64(counter + np.uint64(0x9E3779B97F4A7C15)))
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def check_pool(settings: PoolGroup, world: World, populations: Populations) -> None:
    """Refuses a pool that cannot be.

    Raises:
        UserError: for an unknown population or one that others play, or a world that never ends.
    """
    if not settings.populations:
        return
    if len(populations.names) == 1:
        raise UserError(
            f'pool: {world.id} has one population; make several with population.by = "name" and groups'
        )
    if world.persistent:
        raise UserError(
            f"pool: worlds of {world.id} may never end, past selves come with episodes; leave out pool"
        )
    for name in settings.populations:
        if name not in populations.names:
            near = did_you_mean(name, populations.names, f"there are {', '.join(populations.names)}")
            raise UserError(f"pool.populations: no population {name!r}; {near}")
        if name in populations.opponents:
            raise UserError(f"pool.populations: {name} is played by somebody else; take it out of opponents")
