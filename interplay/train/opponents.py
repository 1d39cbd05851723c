"""Those whom a run plays against: scripted policies and trained ones whose weights stay as they are.

They act for whole populations. Their rows are neither computed by the run's networks nor kept, and their actions do not
count as agent-steps. What they remember is saved with the shard whose worlds they play, so a resumed run meets them as they
were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World
from interplay.evaluate.policy_map import PopulationView, merge_actions
from interplay.train.populations import Populations

_STREAM = 0x0990  # key of the opponents' streams


class Opponents:
    """The opponents in one shard's worlds.

    Args:
        world: the shard's, reset.
        populations: of the run.
        policies: population -> who plays it.
        key: names their random streams: the run's seed, the shard, and the update that they begin with.
    """

    def __init__(
        self,
        world: World,
        populations: Populations,
        policies: Mapping[str, Policy],
        key: tuple[int, int, int],
    ) -> None:
        self._world, self._populations, self._policies = world, populations, dict(policies)
        self._number = {name: populations.names.index(name) for name in policies}
        self.begin(key)

    def begin(self, key: tuple[int, int, int]) -> None:
        """Starts everybody anew, with the streams of `key`."""
        for name, policy in self._policies.items():
            number = self._number[name]
            seed = int(seeding.generator(_STREAM, *key, number).integers(2**63))
            policy.start(_seen_by(self._world, self._populations, number), seed)

    def act(self, actions: Any, timestep: TimeStep, population: np.ndarray) -> Any:
        """Puts the opponents' actions in the place of the networks' ones.

        Args:
            actions: of the networks, in the form `World.step` takes.
            timestep: what is seen.
            population: (W, A), of each slot.
        """
        players, chosen = np.zeros(population.shape, np.int64), [actions]
        for index, (name, policy) in enumerate(self._policies.items(), 1):
            own = timestep.acting & (population == self._number[name])
            players[own] = index
            chosen.append(policy.act(timestep._replace(acting=own)))
        return merge_actions(self._world, chosen, players) if len(chosen) > 1 else actions

    def forget(self, which: np.ndarray) -> None:
        """The worlds in the (W,) mask were restarted."""
        for policy in self._policies.values():
            policy.forget(which)

    def save(self) -> dict[str, np.ndarray]:
        """What they remember: ``population/name`` -> array."""
        return {
            f"{name}/{part}": array
            for name, policy in self._policies.items()
            for part, array in policy.save().items()
        }

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores what `save` gave.

        Raises:
            UserError: if others played before.
        """
        for name, policy in self._policies.items():
            prefix = f"{name}/"
            try:
                policy.load({k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)})
            except UserError as error:
                raise UserError(f"opponents.{name}: {error}; resume with the run's own opponents") from None


def _seen_by(world: World, populations: Populations, number: int) -> World:
    """The world as the player of one population sees it."""
    return cast(World, PopulationView(world, (number,))) if populations.fixed is None else world
