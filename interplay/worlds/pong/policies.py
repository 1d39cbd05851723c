"""Scripted players (specification 2.6). They read the observation alone, as a learner does, and act for both seats of the batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.core.policy import Policy, RandomPolicy
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
    """Goes where the published opponent goes, by the six actions: after the ball while it comes, to the middle while it leaves.

    The published opponent moves by whole steps of 1.25 s at once, which no action does: that is the world's option `follow`. This
    player takes the action whose speed is nearest to the way that is left, at most 1.25 s; so it plays on either seat, in tournaments
    and as an opponent in training, a little behind the ball where the other is at once with it.
    """

    name = "follow"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        settings: PongSettings = world.settings  # type: ignore[attr-defined]
        self._stride = FOLLOWING * settings.ball_speed
        self._speed_scale = rules_of(settings).speed_scale
        drawn = settings.ball_speed * sum(VARIETY) / 2  # nobody sees top speeds: their mean
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
    """Brakes, and so never moves."""

    name = "still"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return np.full(timestep.acting.shape, BRAKE, np.int64)


PICTURE_POLICIES: dict[str, Callable[[], Policy]] = {policy.name: policy for policy in (RandomPolicy, Still)}
POLICIES: dict[str, Callable[[], Policy]] = {**PICTURE_POLICIES, Follow.name: Follow}
