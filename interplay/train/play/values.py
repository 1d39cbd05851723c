"""The value function of a trained policy for arbitrary observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from interplay.core.world import World
from interplay.train.play.trained_policy import TrainedPolicy


def values_of(
    policy: TrainedPolicy, world: World, kind: int = 0
) -> Callable[[Mapping[str, np.ndarray], int], np.ndarray]:
    """A function that returns V of a batch of observations by the network of one population.

    Args:
        kind: number of the kind of agents.

    Returns:
        (observation name -> (N, ...), population) -> values (N,) float32.

    Raises:
        UserError: if the networks were trained for other spaces.
    """
    policy.start(world)
    name = world.kinds[kind].name
    return lambda observation, population: policy.values(
        observation, np.full(len(next(iter(observation.values()))), population), name
    )
