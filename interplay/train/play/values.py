"""The value function of a trained policy: of arbitrary observations, and in another thread than the policy plays in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.train.play.trained_policy import TrainedPolicy

Value = Callable[[Mapping[str, np.ndarray], int], np.ndarray]
Expects = Callable[[Mapping[str, np.ndarray]], np.ndarray]


def values_of(policy: TrainedPolicy, world: World) -> Value:
    """A function that returns V of a batch of observations by the network of one population, for the first kind of agents.

    Returns:
        (observation name -> (N, ...), population) -> values (N,) float32.

    Raises:
        UserError: if the networks were trained for other spaces.
    """
    policy.start(world)
    name = world.kinds[0].name
    return lambda observation, population: policy.values(
        observation, np.full(len(next(iter(observation.values()))), population), name
    )


class ValuesBeside:
    """V of observations by the current weights of a playing policy, with separate buffers.

    Args:
        policy: plays, and may get newer weights meanwhile.

    Attributes:
        playing: the policy.
    """

    def __init__(self, policy: TrainedPolicy) -> None:
        self.playing, self._own = policy, policy.twin()
        self._value: Value | None = None

    def __call__(self, world: World) -> Value:
        """A function as from `values_of`.

        Args:
            world: always the same one, used by the calling thread alone.

        Raises:
            UserError: if the networks were trained for other spaces; from the function, if an opponent plays the population.
        """
        if self._value is None or self.playing.weights is not self._own.weights:
            self._own.load_weights(self.playing.weights)
            self._value = values_of(self._own, world)
        value = self._value

        def checked(observation: Mapping[str, np.ndarray], population: int) -> np.ndarray:
            if population in self.playing.foreign:
                raise UserError(
                    f"population {population} has no values, since an opponent plays it; choose another population"
                )
            return value(observation, population)

        return checked

    def of_agent(self, world: World, slot: int, memory: np.ndarray | None) -> Expects:
        """The value function of one agent's observations.

        Args:
            world: as for a call.
            memory: (size,) its current memory; None: its network has none.

        Raises:
            UserError: as a call; from the function, for a central critic.
        """
        name, population = world.agents[slot], int(world.population[0, slot])
        if population in self.playing.foreign:
            raise UserError(f"{name} has no values, since an opponent plays it; choose another agent")
        self(world)

        def expects(observation: Mapping[str, np.ndarray]) -> np.ndarray:
            value = self._own.look(observation, None, memory, name, population).value
            if value is None:
                raise UserError(
                    f"{self._own.name}: its critic is central, so an observation alone has no value; "
                    "train with network.critic=own"
                )
            return value

        return expects
