"""Small worlds for people: one of turns, one of hidden roles, one with all kinds of heads, one that raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep

EVERY = spaces.Dict(
    {
        "move": spaces.Discrete(4, start=-1),
        "push": spaces.Box(-1.0, 2.0, (2,), np.float32),
        "signs": spaces.MultiDiscrete([2, 3]),
        "lamps": spaces.MultiBinary(2),
    }
)


class TableState(NamedTuple):
    """State of the table: steps (W,), the last choice of each seat (W, A), and what each received (W, A)."""

    steps: np.ndarray
    last: np.ndarray
    secret: np.ndarray


class TableWorld(ArrayWorld):
    """Seats round a table; choice 0 is illegal in odd seats. With `turns` one acts after the other."""

    def __init__(self, seats: int = 2, turns: bool = False, hides: bool = False, length: int = 8) -> None:
        seen = spaces.Dict({"secret": spaces.Box(0, 100, (1,), np.float32)})
        names = [f"seat_{n}" for n in range(seats)]
        super().__init__(1, names, [Kind("agent", tuple(range(seats)), seen, spaces.Discrete(3))])
        self.turns, self.length = turns, length
        self.privileged_view = False if hides else None
        shape = (1, seats)
        self.state = TableState(
            np.zeros(1, np.int64), np.full(shape, -1), np.arange(50, 50 + seats)[None] * 1.0
        )

    def draw(self, canvas: Canvas, world: int) -> None:
        canvas.table(
            "table",
            ["seat", "last"],
            [[name, int(x)] for name, x in zip(self.agents, self.state.last[0], strict=True)],
        )

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        return {"last": self.state.last.astype(float), "share": np.full(self.state.last.shape, np.nan)}

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        self.state.steps[which], self.state.last[which] = 0, -1
        self._seat_turn()

    def _seat_turn(self) -> None:
        if self.turns:
            self.outputs.acting[0] = np.arange(len(self.agents)) == self.state.steps[0] % len(self.agents)

    def _advance(self, action: Any) -> None:
        if self.outputs.over[0]:
            return
        acting = self.outputs.acting[0].copy()
        self.state.last[0, acting] = action[0, acting]
        self.outputs.reward[0, acting] = action[0, acting]
        self.state.steps[0] += 1
        self._seat_turn()
        if self.state.steps[0] >= self.length:
            self.outputs.over[:], self.outputs.acting[:], self.outputs.terminated[:] = True, False, True

    def _read(self) -> TimeStep:
        mask = np.ones((1, len(self.agents), 3), bool)
        mask[:, 1::2, 0] = False
        return TimeStep(
            {"secret": self.state.secret[..., None].astype(np.float32)}, *self.outputs, {"action": mask}
        )


class BreakingWorld(TableWorld):
    """A user-defined world that raises."""

    def _advance(self, action: Any) -> None:
        raise ZeroDivisionError("somebody's own mistake")


class GrowingWorld(TableWorld):
    """The part that is shown differs from episode to episode."""

    episodes = 0

    def draw(self, canvas: Canvas, world: int) -> None:
        canvas.show(0, 0, 10 + self.episodes, 10)
        canvas.circles("agents", [1.0, 2.0], [1.0, 1.0], 0.5)

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        self.episodes += 1
        super()._begin(which, seeds)


class TwoKinds(ArrayWorld):
    """Slots 0 and 2 walk, slot 1 jumps; `given` is the action of the last step."""

    def __init__(self) -> None:
        seen = spaces.Dict({"x": spaces.Box(0, 1, (1,), np.float32)})
        kinds = [
            Kind("walker", (0, 2), seen, spaces.Discrete(2)),
            Kind("jumper", (1,), seen, spaces.Dict(jump=spaces.Discrete(2), kick=spaces.Discrete(3))),
        ]
        super().__init__(1, ["a", "b", "c"], kinds)
        self.state = TableState(np.zeros(1, np.int64), np.zeros((1, 3)), np.zeros((1, 3)))
        self.given: Any = None

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        self.state.steps[which] = 0

    def _advance(self, action: Any) -> None:
        self.given = action

    def _read(self) -> TimeStep:
        seen = {
            "walker": {"x": np.zeros((1, 2, 1), np.float32)},
            "jumper": {"x": np.zeros((1, 1, 1), np.float32)},
        }
        return TimeStep(seen, *self.outputs)
