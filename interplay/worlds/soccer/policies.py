"""Scripted players. They read only the observation and act for all players of the batch."""

from __future__ import annotations

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.soccer.config import ROLL, STEER, SoccerSettings
from interplay.worlds.soccer.observe import BALL, OTHER, OWN, PITCH

GYRO = 14  # column of the turn rate
MIDDLE = 2  # of the nine numbers of a goal and a corner: the goal's middle
BEHIND, BESIDE = 2.0, 1.5  # m from the ball to the place from which a run begins, and around the ball
IN_LINE = 0.92  # cosine between the ways to the ball and from the ball to the goal, above which a run begins
TURNING, DAMPING = 1.5, 0.3  # steering per radian to the target, and per rad/s of the turn
SLOW = 4.0  # m, distance below which a player slows down
SUPPORT = 8.0  # m behind the ball, seen from the own goal, where the others wait
GUARD = 0.35  # share of the way from the goal to the ball at which a keeper stands


class Still(Policy):
    """Never moves."""

    name = "still"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return in_space(self.world, np.zeros((*timestep.acting.shape, 3)))


class Chaser(Policy):
    """The team's player nearest to the ball runs behind it, seen from the goal, then through it; the others follow at a distance."""

    name = "chaser"

    def act(self, timestep: TimeStep) -> np.ndarray:
        return in_space(self.world, chase(self.world, _numbers(timestep)))


class Keeper(Policy):
    """The team's first player stays between its goal and the ball; the others play as the chaser."""

    name = "keeper"

    def act(self, timestep: TimeStep) -> np.ndarray:
        numbers = _numbers(timestep)
        action = chase(self.world, numbers)
        for first, *_ in self.world.teams or ():
            own = numbers[:, first]
            goal, ball = own[:, MIDDLE - PITCH :][:, :2], own[:, OWN : OWN + 2]
            action[:, first] = run_to(goal + GUARD * (ball - goal), own, np.full(len(own), SLOW))
        return in_space(self.world, action)


def chase(world: World, numbers: np.ndarray) -> np.ndarray:
    """Actions (W, A, 3) of the chaser."""
    ball = numbers[..., OWN : OWN + 2]
    own_goal, goal = (numbers[..., MIDDLE - part :][..., :2] for part in (PITCH, PITCH // 2))
    ahead, way = _unit(goal - ball), _unit(ball)
    line = (way * ahead).sum(axis=-1)
    side = np.stack([-ahead[..., 1], ahead[..., 0]], axis=-1)
    side *= np.where((way * side).sum(axis=-1) > 0, -1.0, 1.0)[..., None]  # the player's side of the line
    around = ball - BEHIND * ahead + BESIDE * side * (line < 0.5)[..., None]
    running, nearest = line > IN_LINE, _nearest(len(world.agents) // 2, numbers, ball)
    target = np.where(running[..., None], ball, around)
    target = np.where(nearest[..., None], target, ball + SUPPORT * _unit(own_goal - ball))
    return run_to(target, numbers, np.where(running & nearest, 0.0, SLOW))


def _nearest(side: int, numbers: np.ndarray, ball: np.ndarray) -> np.ndarray:
    """(W, A) bool: no team-mate is nearer to the ball."""
    first = OWN + BALL
    mates = numbers[..., first : first + OTHER * (side - 1)].reshape(*numbers.shape[:2], side - 1, OTHER)
    theirs = np.linalg.norm(mates[..., 3:5] - ball[..., None, :], axis=-1)
    nearest: np.ndarray = (theirs >= np.linalg.norm(ball, axis=-1)[..., None]).all(axis=-1)
    return nearest


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


def _numbers(timestep: TimeStep) -> np.ndarray:
    if "numbers" not in timestep.observation:
        raise UserError('soccer: chaser and keeper read `numbers`, which layout="dm_control" lacks')
    return timestep.observation["numbers"].astype(np.float64)


def _unit(vector: np.ndarray) -> np.ndarray:
    """Directions (..., 2)."""
    length = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.asarray(vector / np.maximum(length, 1e-6))


POLICIES = by_name(RandomPolicy, Still, Chaser, Keeper)
