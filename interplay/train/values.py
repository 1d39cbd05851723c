"""What a trained policy's networks expect: values of observations that nobody has to have made in play."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jax
import numpy as np

from interplay.core.world import World
from interplay.train.policy import TrainedPolicy
from interplay.train.population_policy import PopulationPolicy

BATCH = 1_024  # rows evaluated together; the last batch is filled up, so that XLA compiles one shape


def values_of(
    policy: TrainedPolicy | PopulationPolicy, world: World, kind: int = 0
) -> Callable[[Mapping[str, np.ndarray], int], np.ndarray]:
    """A function that gives V of a batch of observations for the network of one population.

    Args:
        policy: of a checkpoint.
        world: any batch of the world whose spaces the observations have.
        kind: number of the kind of agents whose network is asked.

    Returns:
        (observation name -> (N, ...), population) -> values (N,) float32.

    Raises:
        UserError: if the networks were trained for other spaces.
    """
    policy.start(world)
    name = world.kinds[kind].name
    if isinstance(policy, PopulationPolicy):
        of_population = policy.values
        return lambda observation, population: of_population(
            observation, np.full(len(next(iter(observation.values()))), population), name
        )
    brain, vector = policy._brains[name], policy._vectors[name]
    key = jax.random.key(0)  # of actions that nobody takes

    def value(observation: Mapping[str, np.ndarray], population: int) -> np.ndarray:
        # One network plays every population of a run without populations.
        count = len(next(iter(observation.values())))
        rows = np.zeros((-(-count // BATCH) * BATCH, brain.rows.width), np.float32)
        brain.rows.write(observation, rows[:count])
        parts = [
            np.asarray(brain.act(vector, rows[start : start + BATCH], None, key, np.uint32(0)))[:, -1]
            for start in range(0, len(rows), BATCH)
        ]
        return np.concatenate(parts)[:count]

    return value
