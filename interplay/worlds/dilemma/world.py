"""The iterated prisoner's dilemma as a world: spaces, reset, step, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from gymnasium import spaces

from interplay.core.fog import EVERYTHING, Visible
from interplay.core.ranges import Invariant, Range
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.worlds.dilemma import rules
from interplay.worlds.dilemma.config import DilemmaSettings
from interplay.worlds.dilemma.observe import global_state, observation_space, observe, state_space
from interplay.worlds.dilemma.ranges import laws_of, ranges_of
from interplay.worlds.dilemma.render import draw_game
from interplay.worlds.dilemma.state import AGENTS, DilemmaState, allocate_state


class DilemmaWorld(ArrayWorld):
    """W games of two agents that cooperate or defect, round after round."""

    version = 1
    action_names = MappingProxyType({"move": ("cooperate", "defect")})

    def __init__(
        self, settings: DilemmaSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        kind = Kind("agent", tuple(range(AGENTS)), observation_space(), spaces.Discrete(2))
        names = [f"agent_{a}" for a in range(AGENTS)]
        super().__init__(num_worlds, names, [kind], seed, first_world)
        self.settings = settings
        self.state_space = state_space()
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
        return global_state(self.state, self.settings)

    def visible(self, world: int, slot: int) -> Visible:
        """Nothing is hidden."""
        return EVERYTHING

    def draw(self, canvas: Canvas, world: int) -> None:
        draw_game(canvas, self.state, self.outputs, self.agents, world)

    def state_ranges(self) -> Mapping[str, Range]:
        return ranges_of(self.settings)

    def state_laws(self) -> Sequence[Invariant]:
        return laws_of(self.settings)

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        rules.begin_episodes(self.state, which, seeds)

    def _advance(self, action: np.ndarray) -> None:
        rules.step(self.state, self.outputs, self.settings, action)

    def _read(self) -> TimeStep:
        return TimeStep(
            observe(self.state, self.settings), *self.outputs
        )  # no mask: both moves are always legal
