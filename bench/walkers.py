"""The toy world with which the viewer's bars were set (docs/specs/viewer.md 4.3 and 12): everybody walks, eats and drinks, a few fight.

Its step costs next to nothing, so a session of it tells what the viewer itself takes. For nothing but that: what it draws is no part of its
state, so it keeps few of the laws of worlds::

    interplay view bench.walkers:Walkers --option agents=1024
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep

SIDES = {128: 118, 1024: 301, 8192: 818}  # tiles of a side for so many agents; others have a hundred each
FIGHTERS = 50  # walkers of whom one strikes at a tick
STORES = 32.0
REGROWN = 1000  # tiles of which one changes at a tick


class WalkersState(NamedTuple):
    """Where who stands, and what they have."""

    at: np.ndarray  # (W, A, 2) tile
    stores: np.ndarray  # (W, 3, A) health, food, water
    ground: np.ndarray  # (W, side, side) kinds of tiles
    steps: np.ndarray  # (W,)


class Walkers(ArrayWorld):
    """Random walkers on a square of tiles; nothing ends.

    Args:
        agents: walkers.
    """

    persistent = True

    def __init__(self, num_worlds: int = 1, seed: int = 0, agents: int = 128) -> None:
        self.side = SIDES.get(agents, max(round(10 * agents**0.5), 8))
        self._rng = np.random.default_rng(seed)
        seen = spaces.Dict({"at": spaces.Box(0, self.side, (2,), np.float32)})
        kind = Kind("walker", tuple(range(agents)), seen, spaces.MultiDiscrete([5]))
        super().__init__(num_worlds, [f"walker_{number}" for number in range(agents)], [kind], seed)
        self.state = WalkersState(
            np.zeros((num_worlds, agents, 2), np.int64),
            np.full((num_worlds, 3, agents), STORES),
            np.zeros((num_worlds, self.side, self.side), np.uint8),
            np.zeros(num_worlds, np.int64),
        )
        self._team = (np.arange(agents) % 8).astype(np.uint8)

    def draw(self, canvas: Canvas, world: int) -> None:
        state, agents = self.state, len(self.agents)
        canvas.show(0, 0, self.side, self.side, up="south")
        canvas.tiles("ground", state.ground[world], palette="terrain")
        x, y = state.at[world].T + 0.5
        names = ("health", "food", "water")
        canvas.circles(
            "agents",
            x,
            y,
            0.36,
            colour=self._team,
            absent=np.zeros(agents, bool),
            jump=np.zeros(agents, bool),
            glyph="team",
            bars={name: (state.stores[world, row], STORES) for row, name in enumerate(names)},
            marks={"hungry": state.stores[world, 1] < STORES / 4},
        )
        who = np.arange(int(state.steps[world]) % FIGHTERS, agents, FIGHTERS)
        whom = (who + 1) % agents
        canvas.segments("blows", x[who], y[who], x[whom], y[whom], colour=np.uint8(0), width=0.1)
        canvas.table("status", ["step"], [[int(state.steps[world])]], caption=True)

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        state, count = self.state, int(np.count_nonzero(which))
        state.at[which] = self._rng.integers(0, self.side, (count, len(self.agents), 2))
        state.ground[which] = self._rng.integers(0, 6, (count, self.side, self.side))
        state.stores[which], state.steps[which] = STORES, 0

    def _advance(self, action: Any) -> None:
        state = self.state
        moves = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])
        state.at[:] = (state.at + moves[action[..., 0]]) % self.side
        state.stores[:] = np.where(state.stores > 1, state.stores - 1, STORES)
        state.steps[:] += 1
        regrown = self._rng.integers(0, self.side, (2, self.side**2 // REGROWN))
        state.ground[:, regrown[0], regrown[1]] ^= 1

    def _read(self) -> TimeStep:
        mask = np.ones((self.num_worlds, len(self.agents), 5), bool)
        return TimeStep({"at": self.state.at.astype(np.float32)}, *self.outputs, {"action": mask})
