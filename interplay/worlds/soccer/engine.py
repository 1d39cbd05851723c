"""MuJoCo: the only module of soccer that imports it. Steps the matches of a batch, in threads.

A thread has one compiled model and one `MjData`. Before a match is stepped, its walls and goals are moved into the model and its state is
copied into the data, with the accelerations from which the solver starts. So a step depends on nothing but the match's own
arrays, whatever the thread, the batch and the place in it.
"""

from __future__ import annotations

import copy
from importlib.metadata import distributions
from typing import Any

import numpy as np

from interplay.core.chunks import Chunks
from interplay.core.errors import MissingExtraError, UserError
from interplay.worlds.soccer.config import SoccerSettings
from interplay.worlds.soccer.model import FIRST_POST, FIXED, Furniture, build_mjcf
from interplay.worlds.soccer.state import BALL_POSITIONS, SoccerState

VERSION = "3.17.0"  # of MuJoCo, as in pyproject.toml; others compute other bits
CURE = f'The Soccer game is not installed: run `pip install "interplay[soccer]"` (MuJoCo {VERSION} and no other version).'


def missing() -> str:
    """The line with the cure if this version of MuJoCo is not installed, else an empty string."""
    return "" if VERSION in [one.version for one in distributions(name="mujoco")] else CURE


def load_mujoco() -> Any:
    """The package mujoco.

    Raises:
        MissingExtraError: if `VERSION` is not installed.
    """
    if missing():
        raise MissingExtraError(CURE)
    import mujoco

    return mujoco


class Lane:
    """One thread's model and data, and views of their arrays."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self._step, self._forward = mujoco.mj_step, mujoco.mj_forward
        self._model, self._data = model, mujoco.MjData(model)
        self._quiet = int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
        self._place, self._post = model.geom_pos[:FIXED], model.geom_size[FIRST_POST:FIXED]
        self._bound, self._box = model.geom_rbound[FIRST_POST:FIXED], model.geom_aabb[FIRST_POST:FIXED, 3:]
        data = self._data
        self._qpos, self._qvel, self._warmstart = data.qpos, data.qvel, data.qacc_warmstart
        self._ctrl, self._felt = data.ctrl, data.sensordata
        bad = mujoco.mjtWarning
        self._resets = data.warning.number[bad.mjWARN_BADQPOS : bad.mjWARN_BADQACC + 1]

    def enter(self, state: SoccerState, furniture: Furniture, w: int) -> None:
        """Copies world `w` into model and data."""
        self._place[:] = furniture.place[w]
        radius, half = furniture.radius[w], furniture.half[w]
        self._post[:, 0], self._post[:, 1] = radius, half
        self._box[:, :2], self._box[:, 2] = radius[:, None], radius + half
        self._bound[:] = self._box[:, 2]
        self._qpos[:], self._qvel[:], self._warmstart[:] = state.qpos[w], state.qvel[w], state.warmstart[w]
        self._ctrl[:] = state.action[w].ravel()

    def leave(self, state: SoccerState, w: int) -> None:
        """Copies the data back into world `w`."""
        state.qpos[w], state.qvel[w], state.warmstart[w] = self._qpos, self._qvel, self._warmstart
        state.felt[w] = self._felt.reshape(-1, 3)

    def advance(self, track: np.ndarray) -> None:
        """A decision; writes the ball's part of `qpos` after each substep, (S, 7). Accelerometers are computed in the last one."""
        model, data, step, ball = self._model, self._data, self._step, self._qpos[:BALL_POSITIONS]
        flags = model.opt.disableflags
        model.opt.disableflags = flags | self._quiet
        last = len(track) - 1
        for s in range(last):
            step(model, data)
            track[s] = ball
        model.opt.disableflags = flags
        step(model, data)
        track[last] = ball

    def check(self, w: int) -> None:
        """Refuses a match that MuJoCo has put back to the model's start, as its numbers were not finite or huge."""
        if self._resets.any():
            self._resets[:] = 0
            raise UserError(
                f"soccer: world {w}: MuJoCo found numbers that are not finite, or huge, and began the match anew; "
                "go on from a checkpoint or a reset"
            )

    def settle(self) -> bool:
        """Computes accelerations without a step; returns whether the ball or players touch each other."""
        self._forward(self._model, self._data)
        return bool((self._data.contact.geom >= FIXED).all(axis=1).any())


class Engine:
    """Steps the matches of a batch.

    Args:
        threads: matches stepped at the same time; the results do not depend on it.
    """

    def __init__(self, settings: SoccerSettings, num_worlds: int, threads: int) -> None:
        mujoco = load_mujoco()
        self._chunks = Chunks(num_worlds, threads)
        size = (settings.length[1], settings.width[1])
        model = mujoco.MjModel.from_xml_string(build_mjcf(settings.players, settings.contacts, size))
        self._lanes = [Lane(mujoco, copy.copy(model)) for _ in range(self._chunks.threads)]

    def advance(self, state: SoccerState, furniture: Furniture, going: np.ndarray, track: np.ndarray) -> None:
        """Steps the worlds of the mask `going` (W,) by one decision; fills `track` (W, S, 7)."""

        def part(thread: int, low: int, high: int) -> None:
            lane = self._lanes[thread]
            for w in range(low, high):
                if going[w]:
                    lane.enter(state, furniture, w)
                    lane.advance(track[w])
                    lane.check(w)
                    lane.leave(state, w)

        self._chunks.run(part)

    def settle(self, state: SoccerState, furniture: Furniture, which: np.ndarray) -> np.ndarray:
        """Computes accelerations at the start of the matches in `which` (W,); returns which have contacts among ball and players."""
        touching = np.zeros(len(which), bool)
        lane = self._lanes[0]
        for w in np.flatnonzero(which).tolist():
            lane.enter(state, furniture, w)
            touching[w] = lane.settle()
            lane.leave(state, w)
        return touching

    def close(self) -> None:
        """Ends the threads."""
        self._chunks.close()
