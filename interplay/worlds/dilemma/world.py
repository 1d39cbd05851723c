"""The iterated prisoner's dilemma as a world: spaces, reset, step, observations, metrics, drawing, valid ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from gymnasium import spaces

from interplay.core.fog import EVERYTHING, Visible
from interplay.core.ranges import ANYTHING, REAL, Invariant, Range, count, index
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.worlds.dilemma import rules
from interplay.worlds.dilemma.config import DilemmaSettings
from interplay.worlds.dilemma.rules import AGENTS, DilemmaState, allocate_state

_MOVES = 3  # none yet, cooperated, defected
_WORDS = {-1: "has not moved", 0: "cooperated", 1: "defected"}


def _unit_box(size: int) -> spaces.Box:
    return spaces.Box(0.0, 1.0, (size,), np.float32)


class DilemmaWorld(ArrayWorld):
    """W games of two agents that cooperate or defect, round after round."""

    version = 1
    action_names = MappingProxyType({"move": ("cooperate", "defect")})

    def __init__(
        self, settings: DilemmaSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        observation = spaces.Dict(
            own=_unit_box(_MOVES),  # its own last move, one-hot
            other=_unit_box(_MOVES),  # the other's
            round=_unit_box(1),  # share of the rounds played
        )
        kind = Kind("agent", tuple(range(AGENTS)), observation, spaces.Discrete(2))
        names = [f"agent_{a}" for a in range(AGENTS)]
        super().__init__(num_worlds, names, [kind], seed, first_world)
        self.settings = settings
        self.state_space = _unit_box(AGENTS * _MOVES + 1)
        self.state: DilemmaState = allocate_state(num_worlds)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """``rounds`` played (W,), and ``cooperation`` (W, A), the share of cooperative moves; NaN before the first round."""
        rounds = self.state.rounds[:, None]
        none = np.full((self.num_worlds, AGENTS), np.nan)
        share = np.divide(self.state.cooperations, rounds, out=none, where=rounds > 0)
        return {"rounds": self.state.rounds, "cooperation": share}

    def global_state(self) -> np.ndarray:
        """Both last moves and the share of the rounds played, (W, 7)."""
        return np.hstack([self._last_moves().reshape(self.num_worlds, -1), self._share_of_rounds()])

    def visible(self, world: int, slot: int) -> Visible:
        """Nothing is hidden."""
        return EVERYTHING

    def draw(self, canvas: Canvas, world: int) -> None:
        """A table with one row for each agent; worlds with geometry draw circles, boxes and tiles.

        Transcripts omit the titles, so each cell names its value.
        """
        last, reward = self.state.last[world], self.outputs.reward[world]
        rows = [
            [name, _WORDS[int(last[a])], f"{float(reward[a]):g} earned"] for a, name in enumerate(self.agents)
        ]
        canvas.table("game", ["agent", "last move", "reward"], rows)

    def state_ranges(self) -> Mapping[str, Range]:
        return {
            "stream": ANYTHING,
            "rounds": count(self.settings.rounds),
            "last": index(2, none=True),
            "cooperations": count(self.settings.rounds),
            "reward": REAL,
        }

    def state_laws(self) -> Sequence[Invariant]:
        longest = self.settings.rounds
        return (
            Invariant(
                "over",
                "is False after the last round",
                lambda given: (given["rounds"] == longest) & ~given["over"],
            ),
            Invariant(
                "acting",
                "does not hold both agents before the end and none after it",
                lambda given: given["acting"] == given["over"][:, None],
            ),
        )

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        rules.begin_episodes(self.state, which, seeds)

    def _advance(self, action: np.ndarray) -> None:
        rules.step(self.state, self.outputs, self.settings, action)

    def _read(self) -> TimeStep:
        """New arrays; there is no mask, as both moves are always legal."""
        last = self._last_moves()
        share = np.repeat(self._share_of_rounds()[:, None], AGENTS, axis=1)
        observation = {"own": last, "other": last[:, ::-1].copy(), "round": share}
        return TimeStep(observation, *self.outputs)

    def _last_moves(self) -> np.ndarray:
        """(W, A, 3) one-hot."""
        return np.eye(_MOVES, dtype=np.float32)[self.state.last + 1]

    def _share_of_rounds(self) -> np.ndarray:
        """(W, 1)."""
        return (self.state.rounds / self.settings.rounds).astype(np.float32)[:, None]
