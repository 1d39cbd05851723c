"""Pong for two as a world: spaces, reset, step, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.controls import Controls
from interplay.core.fog import EVERYTHING, Visible
from interplay.core.guides import Guide
from interplay.core.jit import as_table
from interplay.core.kernel_world import KernelWorld
from interplay.core.ranges import Invariant, Range
from interplay.core.scene import Canvas
from interplay.core.world import Kind, TimeStep
from interplay.worlds.pong import steps
from interplay.worlds.pong.config import SEATS, SIDE, PongSettings
from interplay.worlds.pong.observe import NAMES, NUMBERS, numbers_space, observation_space, write_global_state
from interplay.worlds.pong.pictures import score_table
from interplay.worlds.pong.ranges import laws_of, ranges_of
from interplay.worlds.pong.render import draw_game
from interplay.worlds.pong.state import FRAME, PongState, Sight, allocate_state, rules_of

ACTIONS = 6


class PongWorld(KernelWorld):
    """W games of Pong; slot 0 plays on the left, slot 1 on the right.

    With `follow` the game moves a bat as the published opponent does: a whole step each time, which no action does. That slot is
    rewarded but never acts. `threads` does not change the results.
    """

    version = 1
    action_names = MappingProxyType({"bat": ("glide", "brake", "down", "up", "down gently", "up gently")})

    def __init__(
        self,
        settings: PongSettings,
        num_worlds: int = 1,
        seed: int = 0,
        threads: int = 1,
        first_world: int = 0,
    ) -> None:
        space = observation_space(settings)
        kind = Kind("agent", tuple(range(SEATS)), space, spaces.Discrete(ACTIONS))
        super().__init__(num_worlds, ["left", "right"], [kind], seed, first_world, threads)
        self.settings, self.rules = settings, rules_of(settings)
        self._table = as_table(self.rules)
        with_pictures = settings.see == "pictures"
        frames = settings.frames if with_pictures else 0
        self.state: PongState = allocate_state(num_worlds, frames)
        self.state_space = numbers_space()
        self._sight = Sight(
            numbers=np.zeros((num_worlds, SEATS, NUMBERS), np.float32),
            pictures=np.zeros((num_worlds, SEATS, SIDE, SIDE, frames), np.uint8),
            scores=score_table(settings.rounds if with_pictures else 0),
            scratch=np.zeros((self._chunks.threads, FRAME), np.int16),
        )
        seen = {name: getattr(self._sight, name).view() for name in space.spaces}
        for array in seen.values():
            array.flags.writeable = False  # pictures are only partly repainted in each step
        self._views = TimeStep(seen, *self.outputs)  # no mask: every action is always legal

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Of the current episode: ``points`` (W, A) and ``rounds`` (W,).

        ``outcome`` (W, A) is +1 for more points than the other, -1 for fewer, 0 for a tie; NaN until the episode is over.
        """
        points, over = self.state.bat["points"], np.asarray(self.outputs.over)
        return {
            "points": points,
            "outcome": np.where(over[:, None], np.sign(points - points[:, ::-1]), np.nan),
            "rounds": self.state.ball["rounds"],
        }

    def global_state(self) -> np.ndarray:
        """The left player's numbers, (W, 11), also when pictures are observed."""
        numbers = np.empty((self.num_worlds, NUMBERS), np.float32)
        write_global_state(self.state, self._table, numbers)
        return numbers

    def controls(self, slot: int) -> Controls:
        """Keys move the bat; without a key it glides."""
        return Controls(
            {
                "ArrowUp": {"bat": "up"},
                "ArrowDown": {"bat": "down"},
                "w": {"bat": "up gently"},
                "s": {"bat": "down gently"},
                " ": {"bat": "brake"},
            },
            {"bat": "glide"},
        )

    def observation_guides(self, world: int, slot: int) -> dict[str, tuple[Guide]]:
        """Names of the numbers."""
        return {"numbers": (Guide(names=NAMES),)} if self.settings.see != "pictures" else {}

    def visible(self, world: int, slot: int) -> Visible:
        """Nothing is hidden."""
        return EVERYTHING

    def draw(self, canvas: Canvas, world: int) -> None:
        draw_game(canvas, self.state, self.agents, self.settings.rounds, world)

    def state_ranges(self) -> Mapping[str, Range]:
        return ranges_of(self.rules)

    def state_laws(self) -> Sequence[Invariant]:
        return laws_of(self.rules)

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self.state.stream, which, seeds)
        state, outputs, table, sight = self.state, self.outputs, self._table, self._sight
        self._chunks.run(lambda _, lo, hi: steps.begin(state, outputs, table, sight, which, lo, hi))

    def _advance(self, action: np.ndarray) -> None:
        state, outputs, table, sight = self.state, self.outputs, self._table, self._sight
        self._chunks.run(
            lambda thread, lo, hi: steps.advance(state, outputs, table, sight, action, thread, lo, hi)
        )

    def _look_anew(self) -> None:
        steps.look_anew(self.state, self._table, self._sight)

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = super()._arrays() | self.outputs._asdict()
        del arrays["truncated"]  # nothing is ever cut
        return arrays
