"""Soccer as a world: spaces, reset, step, metrics, valid ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from interplay.core.controls import Controls
from interplay.core.fog import EVERYTHING, Visible
from interplay.core.guides import Guides
from interplay.core.ranges import ANYTHING, REAL, Arrays, Invariant, Range, count
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.worlds.soccer import layout, observe, rules
from interplay.worlds.soccer.config import SoccerSettings
from interplay.worlds.soccer.engine import Engine
from interplay.worlds.soccer.model import furnish
from interplay.worlds.soccer.render import draw_match
from interplay.worlds.soccer.state import (
    BALL_POSITIONS,
    BODY,
    HEADING,
    ROLLED,
    SoccerState,
    allocate_state,
    bodies,
    results,
)

FARTHEST, TURNED = 1e4, 1e6  # m; rad of a heading or a wheel in a long match
FASTEST, HARDEST = 1e4, 1e9  # m/s and rad/s; m/s^2 and rad/s^2
MEANS = (
    "speed_to_ball",
    "closest_speed_to_ball",
    "forward_speed",
    "ball_speed_to_goal",
    "mate_distance",
    "spread",
)


class SoccerWorld(ArrayWorld):
    """W matches; home's players come first and defend the negative end of x.

    `threads` does not change the results.
    """

    version = 1
    team_names = ("home", "away")
    per_team = ("outcome", "ball_speed_to_goal")

    def __init__(
        self,
        settings: SoccerSettings,
        num_worlds: int = 1,
        seed: int = 0,
        threads: int = 1,
        first_world: int = 0,
    ) -> None:
        side = settings.players
        names = [f"{team}_{number}" for team in self.team_names for number in range(side)]
        kind = Kind(
            "agent", tuple(range(2 * side)), layout.observation_space(settings), layout.action_space(settings)
        )
        super().__init__(num_worlds, names, [kind], seed, first_world)
        self.settings, self.action_names = settings, layout.action_names(settings)
        self.teams = (tuple(range(side)), tuple(range(side, 2 * side)))
        self.tick_seconds = settings.decision
        self.state_space = layout.box(layout.STATE + layout.PLAYER * 2 * side)
        self.state: SoccerState = allocate_state(num_worlds, 2 * side)
        self._engine = Engine(settings, num_worlds, threads)
        self._furniture = furnish(self.state.size)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Of the current match: ``outcome`` (W, A), +1, 0 or -1, NaN until the end; ``throw_ins`` (W,); means of statistics (W, A)."""
        state, over = self.state, self.outputs.over
        steps = state.steps[:, None, None]
        means = np.divide(state.sums, steps, out=np.full(state.sums.shape, np.nan), where=steps > 0)
        return {
            "outcome": np.where(over[:, None], results(state), np.nan),
            "throw_ins": state.throw_ins,
            **{name: means[..., number] for number, name in enumerate(MEANS)},
        }

    def global_state(self) -> np.ndarray:
        """The pitch, the ball, every player and the time left, in the pitch's frame: (W, 12 + 11 A)."""
        return layout.global_state(self.state, self.settings, self._seen)

    def controls(self, slot: int) -> Controls | None:
        """Keys of discrete actions; without a key a number is 0."""
        return layout.CONTROLS if self.settings.actions == "discrete" else None

    def observation_guides(self, world: int, slot: int) -> Guides:
        """Names of the numbers."""
        return layout.guides(self.settings)

    def visible(self, world: int, slot: int) -> Visible:
        """Nothing is hidden."""
        return EVERYTHING

    def draw(self, canvas: Canvas, world: int) -> None:
        draw_match(canvas, self.state, self.settings, self._seen, world)

    def state_ranges(self) -> Mapping[str, Range]:
        settings = self.settings
        low, high = np.array([settings.length, settings.width]).T
        place = np.full(BALL_POSITIONS + BODY * len(self.agents), FARTHEST)
        place[3:BALL_POSITIONS] = 1.0 + 1e-9
        bodies(place[None], BALL_POSITIONS)[..., [HEADING, ROLLED]] = TURNED
        return {
            "stream": ANYTHING,
            "size": Range(low, high),
            "qpos": Range(-place, place),
            "qvel": Range(-FASTEST, FASTEST),
            "warmstart": Range(-HARDEST, HARDEST),
            "felt": Range(-HARDEST, HARDEST),
            "action": Range(-1.0, 1.0),
            "steps": count(settings.steps),
            "throw_ins": count(settings.steps),
            "result": Range(-1, 1),
            "sums": Range(-FASTEST * 2 * settings.steps, FASTEST * 2 * settings.steps),
            "reward": REAL,
        }

    def state_laws(self) -> Sequence[Invariant]:
        steps = self.settings.steps

        def no_rotation(given: Arrays) -> np.ndarray:
            length = np.linalg.norm(given["qpos"][:, 3:BALL_POSITIONS], axis=1)
            return abs(length - 1.0) > 1e-6

        return (
            Invariant("qpos", "has a ball's quaternion that is not of unit length", no_rotation),
            Invariant(
                "over",
                "does not match result and steps",
                lambda given: ((given["result"] != 0) | (given["steps"] == steps)) != given["over"],
            ),
            Invariant(
                "acting",
                "does not hold all players before the end and none after it",
                lambda given: given["acting"] == given["over"][:, None],
            ),
        )

    def close(self) -> None:
        self._engine.close()

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        rules.begin_matches(self.state, self._furniture, self.settings, self._engine, which, seeds)
        self._look()

    def _advance(self, action: np.ndarray) -> None:
        going = ~self.outputs.over
        wish = action if self.settings.actions == "continuous" else action - 1.0
        rules.step(self.state, self.outputs, self._furniture, self.settings, self._engine, wish)
        self._look()
        self.state.sums[going] += self._now[going]
        rules.pay(self.state, self.outputs, self.settings, self._now, going)

    def _look_anew(self) -> None:
        rules.move_furniture(self.state, self._furniture, np.ones(self.num_worlds, bool))
        self._look()

    def _look(self) -> None:
        self._seen = observe.motion(self.state)
        self._now = observe.statistics(self.state.size, self._seen)

    def _read(self) -> TimeStep:
        """New arrays; there is no mask, as every action is legal."""
        return TimeStep(layout.observation(self.state, self.settings, self._seen, self._now), *self.outputs)
