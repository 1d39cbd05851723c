"""A world for people: two walkers in a street of nine places, with a view of two places; a wall stops them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.controls import Controls
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep

PLACES, FAR = 9, 2


class StreetState(NamedTuple):
    """Places of the walkers."""

    at: np.ndarray  # (W, 2) place
    steps: np.ndarray  # (W,) steps


class Street(ArrayWorld):
    """One walks from the left, one from the right, and nothing ends."""

    persistent = True
    action_names: ClassVar[Any] = {
        "walk": ("left", "stay", "right"),
        "say": tuple(f"word {n}" for n in range(12)),
    }

    def __init__(self, num_worlds: int = 1, seed: int = 0) -> None:
        seen = spaces.Dict({"at": spaces.Box(0, PLACES, (1,), np.float32)})
        kind = Kind("agent", (0, 1), seen, spaces.MultiDiscrete([3, 12]))
        super().__init__(num_worlds, ["ann", "bob"], [kind], seed)
        self.state = StreetState(np.zeros((num_worlds, 2), np.int64), np.zeros(num_worlds, np.int64))

    def draw(self, canvas: Canvas, world: int) -> None:
        canvas.show(0, 0, PLACES, 3)
        canvas.tiles("street", np.zeros((3, PLACES), np.uint8), palette=("#dddddd",))
        canvas.circles("agents", self.state.at[world] + 0.5, [1.5, 1.5], 0.4, colour=np.uint8([0, 1]))
        canvas.table("status", ["step"], [[int(self.state.steps[world])]], caption=True)

    def controls(self, slot: int) -> Controls:
        return Controls({"ArrowLeft": {"walk": "left"}, "ArrowRight": {"walk": "right"}}, {"walk": "stay"})

    def click(self, world: int, slot: int, x: float, y: float) -> Mapping[str, str] | None:
        ways = {-1: "left", 1: "right"}
        way = ways.get(int(np.floor(x)) - int(self.state.at[world, slot]))
        return None if way is None else {"walk": way}

    def visible(self, world: int, slot: int) -> Any:
        near = abs(self.state.at[world] - self.state.at[world, slot]) <= FAR
        street = abs(np.arange(PLACES) - self.state.at[world, slot]) <= FAR
        return {"street": np.tile(street, (3, 1)), "agents": near, "status": True}

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        self.state.at[which], self.state.steps[which] = (0, PLACES - 1), 0

    def _advance(self, action: Any) -> None:
        self.state.at[:, 0] += action[:, 0, 0] - 1  # bob stands still
        self.state.steps[:] += 1

    def _read(self) -> TimeStep:
        mask = np.ones((self.num_worlds, 2, 15), bool)
        mask[..., 0] = self.state.at > 0
        mask[..., 2] = self.state.at < PLACES - 1
        return TimeStep({"at": self.state.at[..., None].astype(np.float32)}, *self.outputs, {"action": mask})
