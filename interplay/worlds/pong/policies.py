"""Scripted players (specification 2.6). They read only the observation and act for both seats of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.pong.config import (
    BALL_HEIGHT,
    BAT_HEIGHT,
    BRAKE,
    BRAKING,
    FOLLOWING,
    GENTLE_PUSH,
    GLIDING,
    PUSH,
    VARIETY,
    PongSettings,
)
from interplay.worlds.pong.observe import BALL_ROOM, BAT_ROOM, OWN_SPEED, OWN_Y, VX, Y
from interplay.worlds.pong.rules import LEAST_BALL, LEAST_BAT, MIDDLE
from interplay.worlds.pong.state import rules_of


class Follow(Policy):
    """Imitates the published opponent with the six actions: follows an approaching ball, else returns to the middle.

    The published opponent (the world's option `follow`) moves 1.25 s at once, which no action does. This player takes the action
    with the speed nearest to the remaining distance, at most 1.25 s, and so lags a little behind the ball. It plays on either seat.
    """

    name = "follow"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        settings: PongSettings = world.settings  # type: ignore[attr-defined]
        self._stride = FOLLOWING * settings.ball_speed
        self._speed_scale = rules_of(settings).speed_scale
        drawn = settings.ball_speed * sum(VARIETY) / 2  # the mean, as top speeds are not observed
        self._tops = (drawn, drawn) if settings.randomize else settings.bat_speeds

    def act(self, timestep: TimeStep) -> np.ndarray:
        seen = timestep.observation["numbers"].astype(np.float64)
        own = LEAST_BAT + (seen[..., OWN_Y] + 1) / 2 * BAT_ROOM + BAT_HEIGHT / 2
        ball = LEAST_BALL + (seen[..., Y] + 1) / 2 * BALL_ROOM + BALL_HEIGHT / 2
        goal = np.where(seen[..., VX] < 0, ball, MIDDLE)
        wish = np.clip(goal - own, -self._stride, self._stride)
        speed = seen[..., OWN_SPEED] * self._speed_scale
        action: np.ndarray = np.abs(self._outcomes(speed) - wish[..., None]).argmin(axis=-1)
        return action

    def _outcomes(self, speed: np.ndarray) -> np.ndarray:
        """Speed of each seat's bat (W, A) after each action: (W, A, 6)."""
        top = np.broadcast_to(self._tops, speed.shape)
        slower = [np.sign(speed) * np.maximum(abs(speed) - share * top, 0) for share in (GLIDING, BRAKING)]
        pushes = (PUSH, -PUSH, GENTLE_PUSH, -GENTLE_PUSH)  # down is positive
        faster = [np.clip(speed + share * top, -top, top) for share in pushes]
        return np.stack([*slower, *faster], axis=-1)


class Still(Policy):
    """Always brakes, so it never moves."""

    name = "still"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.full(timestep.acting.shape, BRAKE, np.int64)


PICTURE_POLICIES = by_name(RandomPolicy, Still)
POLICIES = by_name(RandomPolicy, Still, Follow)
