"""One policy per population: homes whose agents are born, live and die in one world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.seats import Table


class PopulationView:
    """A world as the policy of some of its populations sees it: those are numbered 0, 1, ... in ascending order.

    Everything but these and their names is the world's own.

    Args:
        world: any batch.
        populations: numbers of the policy's populations in the world.
    """

    def __init__(self, world: World, populations: tuple[int, ...]) -> None:
        self._world = world
        self.num_populations = len(populations)
        names = world.population_names
        self.population_names = None if names is None else tuple(names[k] for k in populations)
        self._number = np.zeros(max(world.num_populations, 1), np.uint8)
        self._number[list(populations)] = np.arange(len(populations))

    @property
    def population(self) -> np.ndarray:
        """(W, A) uint8 below `num_populations`; slots of other people's populations say 0."""
        return self._number[self._world.population]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)


class Populations(Table):
    """Lets a policy of its own act for each population, whoever is in which slot.

    It reads `World.population` at every act. A policy that acts for several populations sees its own ones as 0, 1, ...; see
    `PopulationView`.

    Args:
        policies: number of the population in the world -> policy; one policy may act for several. Two homes need two objects.

    Example:
        >>> from interplay.core.policy import RandomPolicy
        >>> ours, theirs = RandomPolicy(), RandomPolicy()
        >>> Populations({0: ours, 1: ours, 2: theirs}).name
        'random for 0, 1; random for 2'
    """

    def __init__(self, policies: Mapping[int, Policy]) -> None:
        self._policies = dict(policies)
        players: list[Policy] = []
        self._own: list[tuple[int, ...]] = []
        for policy in self._policies.values():
            if not any(policy is other for other in players):
                players.append(policy)
                self._own.append(tuple(sorted(k for k, p in self._policies.items() if p is policy)))
        self._players = players
        self.name = "; ".join(
            f"{policy.name} for {', '.join(map(str, own))}"
            for policy, own in zip(players, self._own, strict=True)
        )

    def start(self, world: World, seed: int = 0) -> None:
        """Assigns everybody; each policy gets a stream of its own.

        Raises:
            UserError: if a population has no policy, or a policy's population does not exist.
        """
        super().start(world, seed)
        count = world.num_populations
        odd = sorted(set(self._policies) ^ set(range(count)))
        if odd:
            what = "has no policy" if odd[0] < count else "does not exist"
            raise UserError(
                f"{world.id}: population {odd[0]} {what}; name the populations 0..{count - 1} once each"
            )
        self._player = np.zeros(count, np.int64)
        streams = seeding.world_seeds(seed, len(self._players))
        for index, (policy, own) in enumerate(zip(self._players, self._own, strict=True)):
            self._player[list(own)] = index
            policy.start(cast(World, PopulationView(world, own)), int(streams[index]))

    def sitting(self) -> np.ndarray:
        """(W, A) index of the player who acts in each slot now."""
        return self._player[self.world.population]
