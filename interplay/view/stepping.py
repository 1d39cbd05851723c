"""Plays one world of a batch step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World


class Stand(NamedTuple):
    """Progress of a world.

    Attributes:
        episode: from 0.
        step: of the episode, 0 after the reset.
        last: whether the episode ends here.
        action: the batch's last action; None after a reset.
    """

    episode: int
    step: int
    last: bool
    action: Any = None


def stands(
    world: World,
    policy: Policy,
    episodes: int = 1,
    max_steps: int | None = None,
    seed: int = 0,
    index: int = 0,
) -> Iterator[Stand]:
    """Plays episodes of world `index`, yielding after each reset and step.

    Args:
        world: is reset with `seed`.
        policy: acts for all slots; it is started with `seed`.
        max_steps: of an episode, which is then left.
    """
    world.reset(seeds=seed)
    policy.start(world, seed)
    for episode in range(episodes):
        if episode:
            world.reset()
            policy.forget(np.ones(world.num_worlds, bool))
        step, last = 0, False
        yield Stand(episode, step, last)
        while not last:
            action = policy.act(world.timestep)
            world.step(action)
            step += 1
            last = bool(world.timestep.over[index]) or step == max_steps
            yield Stand(episode, step, last, action)


def check_play(world: World, episodes: int, max_steps: int | None, every: int = 1, index: int = 0) -> None:
    """Checks the arguments of `stands`."""
    for name, value in (("episodes", episodes), ("max_steps", max_steps), ("every", every)):
        if value is not None and value < 1:
            raise UserError(f"{name} = {value}; record at least one")
    if world.persistent and max_steps is None:
        raise UserError(f"{world.id}: its episodes may never end; limit them by max_steps (--max-steps)")
    if not 0 <= index < world.num_worlds:
        raise UserError(
            f"{world.id}: world {index} of a batch of {world.num_worlds}; name one of 0..{world.num_worlds - 1}"
        )
