"""Makes a world, with a notice where the compiler takes long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.train.run.progress import tell

NOTICE_AFTER = 1.5  # seconds; the bar for a start from the cache


def open_world(world_id: str, num_worlds: int = 1, seed: int = 0, **options: Any) -> World:
    """Makes and resets a world, as `registry.make_world`; says so on stderr if that takes its time."""
    from interplay.registry import make_world

    with _told_if_slow(world_id):
        world = make_world(world_id, num_worlds=num_worlds, seed=seed, **options)
        world.reset()
    return world


def set_privileged_view(world: World, reveal: bool) -> None:
    """Sets the privileged view of a world (``--reveal``).

    Raises:
        UserError: if it is asked for where nothing is hidden.
    """
    if not reveal:
        return
    if world.privileged_view is None:
        raise UserError(f"--reveal: {world.id} hides nothing; leave the option out")
    world.privileged_view = True


@contextmanager
def _told_if_slow(world_id: str) -> Iterator[None]:
    message = (
        f"preparing {world_id}: its kernels are compiled at first use, later starts find them in the cache"
    )
    timer = threading.Timer(NOTICE_AFTER, tell, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
