"""The rules of a match: pitch, start, throw-ins, goals and the end (specification 8.1). Phases act on the worlds of a mask."""

from __future__ import annotations

import numpy as np

from interplay.core import seeding
from interplay.core.world import Outputs
from interplay.kernels.philox import draw_uniform
from interplay.worlds.soccer.config import (
    BALL_HEIGHT,
    SIDE,
    SPAWN,
    THROW_IN,
    SoccerSettings,
)
from interplay.worlds.soccer.engine import Engine
from interplay.worlds.soccer.model import Furniture, furnish, goal_centres, goal_sizes
from interplay.worlds.soccer.observe import ball_centres
from interplay.worlds.soccer.state import BALL_POSITIONS, HEADING, SoccerState, X, Y, bodies, results


def begin_matches(
    state: SoccerState,
    furniture: Furniture,
    settings: SoccerSettings,
    engine: Engine,
    which: np.ndarray,
    seeds: np.ndarray | None,
) -> None:
    """Begins a match in the worlds of the mask `which` (W,): draws the pitch, then places until nothing touches."""
    seeding.begin_episode(state.stream, which, seeds)
    ranges = np.array([settings.length, settings.width])
    state.size[which] = _between(*ranges.T, draw_uniform(state.stream, which, 2))
    for array in (state.action, state.steps, state.throw_ins, state.result, state.sums):
        array[which] = 0
    move_furniture(state, furniture, which)
    waiting = which.copy()
    while waiting.any():
        place_all(state, waiting)
        waiting = engine.settle(state, furniture, waiting)


def move_furniture(state: SoccerState, furniture: Furniture, which: np.ndarray) -> None:
    """Moves walls and goals to the pitches' sizes."""
    for array, values in zip(furniture, furnish(state.size[which]), strict=True):
        array[which] = values


def place_all(state: SoccerState, which: np.ndarray) -> None:
    """Places ball and players at random and at rest."""
    agents = state.action.shape[1]
    drawn = draw_uniform(state.stream, which, 2 + 3 * agents)
    reach = SPAWN * state.size[which]
    state.qpos[which], state.qvel[which], state.warmstart[which] = 0.0, 0.0, 0.0
    qpos = state.qpos[which]
    qpos[:, :2] = _between(-reach, reach, drawn[:, :2])
    qpos[:, 2:4] = BALL_HEIGHT, 1.0  # height, and the real part of the quaternion
    body, own = bodies(qpos, BALL_POSITIONS), drawn[:, 2:].reshape(-1, agents, 3)
    body[..., [X, Y]] = _between(-reach[:, None], reach[:, None], own[..., :2])
    body[..., HEADING] = _between(-np.pi, np.pi, own[..., 2])
    state.qpos[which] = qpos


def step(
    state: SoccerState,
    outputs: Outputs,
    furniture: Furniture,
    settings: SoccerSettings,
    engine: Engine,
    action: np.ndarray,
) -> None:
    """Plays one decision in every world that is not over. The outputs come cleared."""
    going = ~outputs.over
    throw_in(state, going)
    state.action[going] = action[going]
    track = np.zeros((len(going), settings.substeps, BALL_POSITIONS))
    engine.advance(state, furniture, going, track)
    state.steps[going] += 1
    find_goals(state, track, going)
    end_matches(state, outputs, settings, going)


def throw_in(state: SoccerState, going: np.ndarray) -> None:
    """Puts balls that left the field of play back towards the centre, at rest."""
    centre = ball_centres(state.qpos[:, :BALL_POSITIONS])
    inside = (np.abs(centre[:, :2]) < state.size - SIDE).all(axis=1)
    out = going & ~inside
    if not out.any():
        return
    share = _between(*THROW_IN, draw_uniform(state.stream, out, 2))
    state.qpos[out, :2] = centre[out, :2] * share
    state.qpos[out, 2] = BALL_HEIGHT
    state.qvel[out, :6] = 0.0
    state.throw_ins[out] += 1


def find_goals(state: SoccerState, track: np.ndarray, going: np.ndarray) -> None:
    """Sets the result of worlds with a ball in a goal after any substep; track is (W, S, 7)."""
    centres = ball_centres(track)[:, :, None]
    away = np.abs(centres - goal_centres(state.size)[:, None])
    entered = (away < goal_sizes(state.size)[:, None, None]).all(axis=-1).any(axis=1)  # (W, 2 goals)
    state.result[going & entered[:, 1]] = 1
    state.result[going & entered[:, 0]] = -1


def end_matches(state: SoccerState, outputs: Outputs, settings: SoccerSettings, going: np.ndarray) -> None:
    """Terminates matches with a goal, and truncates those at their longest."""
    scored = going & (state.result != 0)
    cut = going & ~scored & (state.steps >= settings.steps)
    outputs.terminated[scored] = True
    outputs.truncated[cut] = True
    outputs.over[scored | cut] = True
    outputs.acting[outputs.over] = False


def pay(
    state: SoccerState, outputs: Outputs, settings: SoccerSettings, now: np.ndarray, going: np.ndarray
) -> None:
    """Pays +1 and -1 for a goal, or the shaped reward (specification 8.3); `now` (W, A, 6) are the statistics."""
    side = settings.players
    goal = results(state).astype(float)
    if settings.reward == "shaped":
        scored, conceded, to_ball, to_goal = settings.weights
        each = scored * (goal > 0) - conceded * (goal < 0) + to_ball * now[..., 0] + to_goal * now[..., 3]
        goal = np.repeat(each.reshape(-1, 2, side).mean(axis=-1), side, axis=1)
    outputs.reward[going] = goal[going]


def _between(low: object, high: object, share: np.ndarray) -> np.ndarray:
    """Numbers from `low` to `high` at uniform draws `share`."""
    return np.asarray(low) + share * (np.asarray(high) - np.asarray(low))
