"""Scripted players. They read only the observation and act for all players of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.soccer.config import ROLL, STEER, SoccerSettings
from interplay.worlds.soccer.observe import OWN


class Still(Policy):
    """Never moves."""

    name = "still"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return in_space(self.world, np.zeros((*timestep.acting.shape, 3)))


class Chaser(Policy):
    """Runs to a place behind the ball, then through it towards the goal."""

    name = "chaser"

    def act(self, timestep: TimeStep) -> np.ndarray:
        numbers = timestep.observation["numbers"]
        ball = numbers[..., OWN : OWN + 2]
        goal = numbers[..., -7:-5]  # middle of the opponents' goal
        aim = goal - ball
        aim = aim / np.maximum(np.linalg.norm(aim, axis=-1, keepdims=True), 1e-6)
        distance = np.linalg.norm(ball, axis=-1, keepdims=True)
        target = ball - aim * np.minimum(distance / 2, 3.0)
        return in_space(self.world, run_to(target, numbers))


def run_to(target: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """(W, A, 3) actions towards places (W, A, 2) in the players' own frames."""
    angle = np.arctan2(target[..., 1], target[..., 0])
    action = np.zeros((*angle.shape, 3))
    action[..., STEER] = -np.clip(angle, -1.0, 1.0)  # 1 turns clockwise
    action[..., ROLL] = -np.cos(angle)  # 1 rolls backwards
    return action


def in_space(world: World, action: np.ndarray) -> np.ndarray:
    """Actions in -1 .. 1 in the form of the world's action space."""
    settings: SoccerSettings = world.settings  # type: ignore[attr-defined]
    if settings.actions == "discrete":
        return np.rint(action).astype(np.int64) + 1
    return np.clip(action, -1.0, 1.0).astype(np.float32)


POLICIES = by_name(RandomPolicy, Still, Chaser)
