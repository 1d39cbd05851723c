"""Scripted players. They read only the observation and act for all players of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.soccer.config import ROLL, STEER, SoccerSettings
from interplay.worlds.soccer.observe import OWN, PITCH

GYRO = 14  # column of the turn rate
MIDDLE = 2  # of the nine numbers of a goal and a corner: the goal's middle
BEHIND, BESIDE = 2.0, 1.5  # m from the ball to the place from which a run begins, and around the ball
IN_LINE = 0.92  # cosine between the ways to the ball and from the ball to the goal, above which a run begins
TURNING, DAMPING = 1.5, 0.3  # steering per radian to the target, and per rad/s of the turn
SLOW = 4.0  # m, distance below which a player slows down
GUARD = 0.35  # share of the way from the goal to the ball at which a keeper stands


class Still(Policy):
    """Never moves."""

    name = "still"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return in_space(self.world, np.zeros((*timestep.acting.shape, 3)))


class Chaser(Policy):
    """Runs to a place behind the ball, seen from the goal, then through the ball."""

    name = "chaser"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return in_space(self.world, chase(timestep.observation["numbers"].astype(np.float64)))


class Keeper(Policy):
    """The team's first player stays between its goal and the ball; the others chase."""

    name = "keeper"

    def act(self, timestep: TimeStep) -> np.ndarray:
        numbers = timestep.observation["numbers"].astype(np.float64)
        action = chase(numbers)
        for team in self.world.teams or ():
            own = numbers[:, team[0]]
            goal, ball = own[:, MIDDLE - PITCH :][:, :2], own[:, OWN : OWN + 2]
            action[:, team[0]] = run_to(goal + GUARD * (ball - goal), own, np.full(len(own), SLOW))
        return in_space(self.world, action)


def chase(numbers: np.ndarray) -> np.ndarray:
    """Actions (W, A, 3) of players that run through the ball to the goal."""
    ball = numbers[..., OWN : OWN + 2]
    goal = numbers[..., MIDDLE - PITCH // 2 :][..., :2]
    ahead, _ = _unit(goal - ball)
    way, distance = _unit(ball)
    line = (way * ahead).sum(axis=-1)
    side = np.stack([-ahead[..., 1], ahead[..., 0]], axis=-1)
    side *= np.where((way * side).sum(axis=-1) > 0, -1.0, 1.0)[..., None]  # the player's side of the line
    around = ball - BEHIND * ahead + BESIDE * side * (line < 0.5)[..., None]
    running = line > IN_LINE
    target = np.where(running[..., None], ball, around)
    return run_to(target, numbers, np.where(running, 0.0, SLOW))


def run_to(target: np.ndarray, numbers: np.ndarray, slow: np.ndarray) -> np.ndarray:
    """Actions (..., 3) towards places (..., 2) in the players' own frames, slower within `slow` metres."""
    angle = np.arctan2(target[..., 1], target[..., 0])
    distance = np.hypot(target[..., 0], target[..., 1])
    action = np.zeros((*angle.shape, 3))
    action[..., STEER] = DAMPING * numbers[..., GYRO] - TURNING * angle  # 1 turns clockwise
    speed = np.minimum(1.0, distance / np.maximum(slow, 1e-6))
    action[..., ROLL] = -np.cos(angle) * speed  # 1 rolls backwards
    return action


def in_space(world: World, action: np.ndarray) -> np.ndarray:
    """Actions in the form of the world's action space, cut to -1 .. 1."""
    settings: SoccerSettings = world.settings  # type: ignore[attr-defined]
    cut = np.clip(action, -1.0, 1.0)
    if settings.actions == "discrete":
        return np.rint(cut).astype(np.int64) + 1
    return cut.astype(np.float32)


def _unit(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions (..., 2) and lengths (...)."""
    length = np.linalg.norm(vector, axis=-1)
    return vector / np.maximum(length, 1e-6)[..., None], length


POLICIES = by_name(RandomPolicy, Still, Chaser, Keeper)
