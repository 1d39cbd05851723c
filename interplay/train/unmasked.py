"""Checks that a world can be trained without action masks (``network.action_masks = false``)."""

from __future__ import annotations

from typing import Any

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.spaces import sample_actions
from interplay.core.world import World
from interplay.train.settings import TrainSettings

STEPS = 64  # of the trial


def check_unmasked(settings: TrainSettings, world: World) -> None:
    """Plays some steps with random choices, legal or not; reset the world afterwards.

    Raises:
        UserError: if the world has no masks, or refuses an illegal choice.
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
    """Random actions of all slots, without masks."""
    drawn = {
        kind.name: sample_actions(kind.action_space, rng, (world.num_worlds, len(kind.slots)))
        for kind in world.kinds
    }
    return drawn if len(drawn) > 1 else next(iter(drawn.values()))
