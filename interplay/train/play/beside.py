"""A trained policy asked for values in another thread than it plays in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.play.values import values_of

Value = Callable[[Mapping[str, np.ndarray], int], np.ndarray]
Expects = Callable[[Mapping[str, np.ndarray]], np.ndarray]


class ValuesBeside:
    """V of observations by the weights that a policy plays with now; buffers and streams are its own, so nothing waits for it.

    Args:
        policy: that plays, and may be given newer weights meanwhile.

    Attributes:
        playing: as given.
    """

    def __init__(self, policy: TrainedPolicy) -> None:
        self.playing, self._own = policy, policy.twin()
        self._value: Value | None = None

    def __call__(self, world: World) -> Value:
        """A function as `interplay.train.play.values.values_of` makes it.

        Args:
            world: always the same one, which the calling thread has to itself.

        Raises:
            UserError: if the networks were trained for other spaces; from the function, if somebody else plays the population.
        """
        if self._value is None or self.playing.weights is not self._own.weights:
            self._own.load_weights(self.playing.weights)
            self._value = values_of(self._own, world)
        value = self._value

        def checked(observation: Mapping[str, np.ndarray], population: int) -> np.ndarray:
            if population in self.playing.foreign:
                raise UserError(
                    f"population {population}: this run does not play it, so it has no values; choose another population"
                )
            return value(observation, population)

        return checked

    def of_agent(self, world: World, slot: int, memory: np.ndarray | None) -> Expects:
        """What the network of one agent expects of observations of that agent, as a function.

        Args:
            world: as for a call.
            slot: of the agent.
            memory: (size,) that it has now; None: its network remembers nothing.

        Raises:
            UserError: as a call; from the function, if its critic sees more than an observation.
        """
        name, population = world.agents[slot], int(world.population[0, slot])
        if population in self.playing.foreign:
            raise UserError(f"{name}: this run does not play it, so it has no values; choose another agent")
        self(world)

        def expects(observation: Mapping[str, np.ndarray]) -> np.ndarray:
            value = self._own.look(observation, None, memory, name, population).value
            if value is None:
                raise UserError(
                    f"{self._own.name}: its critic sees more than an agent does, so an observation alone has no value; "
                    "train with network.critic=own"
                )
            return value

        return expects
