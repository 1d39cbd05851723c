"""Makes a world for a verb."""

from __future__ import annotations

from typing import Any

from interplay.core.errors import UserError
from interplay.core.world import World


def open_world(world_id: str, num_worlds: int = 1, seed: int = 0, **options: Any) -> World:
    """Makes and resets a world, as `registry.make_world`."""
    from interplay.registry import make_world

    world = make_world(world_id, num_worlds=num_worlds, seed=seed, **options)
    world.reset()
    return world


def set_privileged_view(world: World, reveal: bool) -> None:
    """Sets the privileged view of a world (``--reveal``)."""
    if not reveal:
        return
    if world.privileged_view is None:
        raise UserError(f"--reveal: {world.id} hides nothing; leave the option out")
    world.privileged_view = True
