"""Policies for populations by their names: ``villager`` and ``werewolf`` instead of 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World
from interplay.evaluate.populations import Populations


class Cast(Policy):
    """Lets a policy of its own act for each population that is named, and another one for the rest.

    Args:
        policies: name of a population -> policy.
        others: gives the policy of a population that is not named; the same object may play several.

    Example:
        >>> from interplay.core.policy import RandomPolicy
        >>> Cast({"werewolf": RandomPolicy()}, others=lambda name: RandomPolicy()).name
        'random for werewolf'
    """

    def __init__(self, policies: Mapping[str, Policy], others: Callable[[str], Policy]) -> None:
        self._policies, self._others = dict(policies), others
        self.name = "; ".join(f"{policy.name} for {name}" for name, policy in self._policies.items())

    def start(self, world: World, seed: int = 0) -> None:
        """Assigns everybody; each policy gets a stream of its own.

        Raises:
            UserError: if the world has no such population.
        """
        super().start(world, seed)
        names = world.population_names or tuple(f"pop{number}" for number in range(world.num_populations))
        for name in self._policies:
            if name not in names:
                near = did_you_mean(name, names, f"there are {', '.join(names)}")
                raise UserError(f"{world.id}: no population {name!r}; {near}")
        playing = {
            number: self._policies[name] if name in self._policies else self._others(name)
            for number, name in enumerate(names)
        }
        self._table = Populations(playing)
        self._table.start(world, seed)

    def forget(self, which: np.ndarray) -> None:
        self._table.forget(which)

    def save(self) -> dict[str, np.ndarray]:
        return self._table.save()

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._table.load(arrays)

    def act(self, timestep: TimeStep) -> Any:
        return self._table.act(timestep)
