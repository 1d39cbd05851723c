"""Policies that are not told which choices are legal (``network.action_masks = false``), where a world plays illegal ones."""

from __future__ import annotations

from typing import Any

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.spaces import sample_actions
from interplay.core.world import World
from interplay.train.settings import TrainSettings

STEPS = 64  # of the world that is tried


def check_unmasked(settings: TrainSettings, world: World) -> None:
    """Refuses policies without masks where there are none, and where an illegal choice is an error.

    The world is played with choices of all kinds, legal or not, to see what it does; reset it afterwards.

    Args:
        settings: of the run.
        world: a copy of its own for the trial.

    Raises:
        UserError: naming the setting, and what the world says.
    """
    if settings.network.action_masks:
        return
    world.reset()
    if not any(world.by_kind(world.timestep.action_mask).values()):
        raise UserError(
            f"network.action_masks = false: {world.id} has no action masks, everything is legal; leave it out"
        )
    rng = seeding.generator(settings.seed, 0x3A5C)
    for _ in range(STEPS):
        try:
            timestep = world.step(_anything(world, rng))
        except (UserError, ValueError) as error:
            raise UserError(
                f"network.action_masks = false: {world.id} refuses illegal choices ({error}); leave it out"
            ) from None
        if timestep.over.any():
            world.reset()


def _anything(world: World, rng: Any) -> Any:
    """Actions of all slots, drawn from their spaces without a mask."""
    drawn = {
        kind.name: sample_actions(kind.action_space, rng, (world.num_worlds, len(kind.slots)))
        for kind in world.kinds
    }
    return drawn if len(drawn) > 1 else next(iter(drawn.values()))
