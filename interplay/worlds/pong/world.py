"""Pong for two as a world: spaces, reset, step, metrics, valid ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.controls import Controls
from interplay.core.fog import EVERYTHING, Visible
from interplay.core.guides import Guide
from interplay.core.jit import as_table
from interplay.core.kernel_world import KernelWorld
from interplay.core.ranges import ANYTHING, REAL, Arrays, Invariant, Range, count
from interplay.core.scene import Canvas
from interplay.core.world import Kind, TimeStep
from interplay.worlds.pong import steps
from interplay.worlds.pong.config import (
    BALL_WIDTH,
    BAT_HEIGHT,
    SEATS,
    SIDE,
    SIDEWAYS,
    SMASH,
    WIDTH,
    PongSettings,
)
from interplay.worlds.pong.observe import NAMES, NUMBERS, numbers_space, observation_space, write_global_state
from interplay.worlds.pong.pictures import HIDDEN_ABOVE, HIDDEN_BELOW, score_table
from interplay.worlds.pong.render import draw_game
from interplay.worlds.pong.rules import LEAST_BALL, LEAST_BAT, MOST_BALL, MOST_BAT
from interplay.worlds.pong.state import FRAME, PongState, Rules, Sight, allocate_state, rules_of

_LEAST = 1e-9  # of a speed that is not 0


def ranges_of(rules: Rules) -> dict[str, Range]:
    """Name -> range of every numeric field; bools need none."""
    speed = rules.ball_speed
    # The published code may extrapolate the ball's path backwards, past a bat's end by a step's height.
    beyond = BAT_HEIGHT + SIDEWAYS * (speed * SIDEWAYS + 2 * BALL_WIDTH) if rules.classic_quirks else 0.0
    return {
        "bat.y": Range(LEAST_BAT, MOST_BAT),
        "bat.speed": Range(-rules.speed_scale, rules.speed_scale),
        "bat.top_speed": Range(_LEAST, rules.speed_scale),
        "bat.points": count(rules.rounds),
        "ball.x": Range(0.0, WIDTH - BALL_WIDTH),
        "ball.y": Range(LEAST_BALL - beyond, MOST_BALL + beyond),
        "ball.vx": Range(-SMASH * speed, SMASH * speed),
        "ball.vy": Range(-SIDEWAYS * speed, SIDEWAYS * speed),
        "ball.rounds": count(rules.rounds),
        "ball.round_step": count(rules.round_steps),
        "frames": _frame_range(rules.rounds),
        "stream": ANYTHING,
        "reward": REAL,
    }


def _frame_range(rounds: int) -> Range:
    """Range of each column; frames are painted, so positions must lie in the picture."""
    ball, bats = (int(HIDDEN_ABOVE), int(HIDDEN_BELOW)), (int(LEAST_BAT), int(MOST_BAT))
    columns = [(0, WIDTH - BALL_WIDTH)] * 2 + [ball] + [bats] * 2 + [(0, rounds)] * 2
    low, high = np.array(columns, np.int16).T
    return Range(low, high)


def laws_of(rules: Rules) -> tuple[Invariant, ...]:
    """Invariants between fields."""
    acts = np.array([not rules.follow_left, not rules.follow_right])

    def wrong_end(given: Arrays) -> Any:
        return (given["ball.rounds"] == rules.rounds) != given["over"]

    def too_many_points(given: Arrays) -> Any:
        return given["bat.points"].sum(axis=1) > given["ball.rounds"]

    def stands_still(given: Arrays) -> Any:
        return abs(given["ball.vx"]) < _LEAST

    def wrong_acting(given: Arrays) -> Any:
        return given["acting"] != (acts & ~given["over"][:, None])

    return (
        Invariant("over", "does not match whether the last round was played", wrong_end),
        Invariant("bat.points", "are more than the rounds played", too_many_points),
        Invariant("ball.vx", "is 0", stands_still),
        Invariant(
            "acting", "does not hold the players of a running game, without following bats", wrong_acting
        ),
    )


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
        self.scripted = tuple(slot for slot, name in enumerate(self.agents) if name == settings.follow)
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
