"""A small world with a scene, for tests of pictures and videos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep

SIZE = 10.0


def pixels(path: Any) -> np.ndarray:
    """The picture in a PNG file, (height, width, 3) uint8."""
    import pygame

    return pygame.surfarray.array3d(pygame.image.load(str(path))).swapaxes(0, 1)


class WalkState(NamedTuple):
    """Two walkers; axes W worlds, A agents."""

    x: np.ndarray  # (W, A)
    y: np.ndarray  # (W, A)
    stream: np.ndarray  # (W, 3) uint64
    steps: np.ndarray  # (W,) int64
    over: np.ndarray  # (W,) bool


class WalkWorld(ArrayWorld):
    """Two agents walk in a square for `length` steps."""

    def __init__(self, num_worlds: int = 1, length: int = 12, seed: int = 0) -> None:
        space = spaces.Dict({"x": spaces.Box(0, SIZE, (1,), np.float32)})
        super().__init__(num_worlds, ["a", "b"], [Kind("agent", (0, 1), space, spaces.Discrete(4))], seed)
        self.length = length
        shape = (num_worlds, 2)
        self.state = WalkState(
            np.zeros(shape),
            np.zeros(shape),
            seeding.new_stream(num_worlds),
            np.zeros(num_worlds, np.int64),
            np.zeros(num_worlds, bool),
        )

    def draw(self, canvas: Canvas, world: int) -> None:
        canvas.show(0, 0, SIZE, SIZE)
        canvas.circles("agents", self.state.x[world], self.state.y[world], 0.6, colour=np.uint8([0, 1]))
        canvas.table("status", ["step"], [[self.state.steps[world]]], caption=True)

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        seeding.begin_episode(self.state.stream, which, seeds)
        for w in np.flatnonzero(which):
            rng = seeding.generator(*(int(part) for part in self.state.stream[w]))
            self.state.x[w], self.state.y[w] = rng.uniform(1, SIZE - 1, (2, 2))
        self.state.steps[which], self.state.over[which] = 0, False
        return self._read()

    def _step(self, action: Any) -> TimeStep:
        live = ~self.state.over
        way = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])[action] * live[:, None, None]
        self.state.x[:] = np.clip(self.state.x + way[..., 0], 0, SIZE)
        self.state.y[:] = np.clip(self.state.y + way[..., 1], 0, SIZE)
        self.state.steps[live] += 1
        self.state.over[:] = self.state.steps >= self.length
        return self._read(live & self.state.over)

    def _read(self, ended: np.ndarray | None = None) -> TimeStep:
        shape = (self.num_worlds, 2)
        over = self.state.over
        cut = np.zeros(shape, bool) if ended is None else np.repeat(ended[:, None], 2, axis=1)
        observation: Mapping[str, Any] = {"x": self.state.x[..., None].astype(np.float32)}
        acting = np.repeat(~over[:, None], 2, axis=1)
        return TimeStep(
            observation, np.zeros(shape, np.float32), acting, np.zeros(shape, bool), cut, over.copy()
        )


class TextWorld(WalkWorld):
    """The same world without a picture of its own."""

    def draw(self, canvas: Canvas, world: int) -> None:
        super(ArrayWorld, self).draw(canvas, world)
