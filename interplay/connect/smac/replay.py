"""A battle kept for a video: its first state and all actions."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from interplay.core.errors import UserError
from interplay.core.scene import Scene, scene_of
from interplay.core.world import World


class Replay:
    """One episode, from the world's present state on.

    Attributes:
        actions: (1, A) of each step so far, of all slots.
    """

    def __init__(self, world: World) -> None:
        self._beginning = world.save()
        self.actions: list[np.ndarray] = []

    def scenes(self, world: World) -> Iterator[tuple[Scene, int, bool]]:
        """Plays the episode again in a copy of its world: (scene, 0, is last)."""
        again = copy.deepcopy(world)
        again.load(self._beginning)
        yield scene_of(again, 0), 0, not self.actions
        for number, action in enumerate(self.actions, 1):
            again.step(action)
            yield scene_of(again, 0), 0, number == len(self.actions)

    def write(self, world: World, folder: str, name: str) -> Path:
        """Writes a video of the episode, ``folder/name.mp4``, atomically."""
        from interplay.view.encode import write_video
        from interplay.view.output import writing
        from interplay.view.video import SUFFIXES, held

        place = Path(folder)
        if not place.is_dir():
            raise UserError(f"replay_dir = {folder!r}: there is no such folder; make it first")
        target = place / f"{name}.mp4"
        with writing(target, SUFFIXES) as temporary:
            write_video(temporary, held(self.scenes(world), frames=world.frames_per_step))
        return target
