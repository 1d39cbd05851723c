"""Every agent sees the board as if it had begun top left (specification games 3.6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.interfaces.pommerman import boards

# Turns -> the agent's action -> the board's; quarter turns clockwise.
ACTIONS = np.array([[0, 1, 2, 3, 4, 5], [0, 3, 4, 2, 1, 5], [0, 2, 1, 4, 3, 5], [0, 4, 3, 1, 2, 5]])
BACK = ACTIONS.argsort(axis=1)  # the board's -> the agent's


class RotateItf(Interface):
    """Turns maps, positions and directions so that the agent begins top left, numbers agents from its own on, and turns actions and masks back.

    With four agents: (id - own) mod 4 and a quarter turn for each number. With two: mod 2 and a half turn, as the second
    begins in the opposite corner. The team-mate is then agent 2. All keys stay; features above use the turned view.
    """

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        boards.side_of(self._called(), obs_space)
        choices = (
            act_space.nvec[0] if isinstance(act_space, spaces.MultiDiscrete) else getattr(act_space, "n", 0)
        )
        if choices != 6 or np.ravel(getattr(act_space, "start", 0))[0] != 0:
            raise UserError(
                f"RotateItf: {act_space} does not begin with Pommerman's six actions; put it nearest to the environment"
            )
        return obs_space, act_space

    def _observe(self, obs: Nest) -> Nest:
        turned = turn(obs)
        self.ctx.view = turned
        return turned

    def _act(self, action: Nest) -> Nest:
        turns = quarter_turns(self.ctx.raw)
        if action.ndim == 1:
            return ACTIONS[turns, action]
        return np.concatenate([ACTIONS[turns, action[:, 0]][:, None], action[:, 1:]], axis=1)

    def _mask(self, mask: Nest) -> Nest:
        rows = np.arange(len(mask))[:, None]
        return np.concatenate([mask[rows, ACTIONS[quarter_turns(self.ctx.raw)]], mask[:, 6:]], axis=1)


def quarter_turns(raw: boards.Raw) -> Array:
    """(B,) 0..3, clockwise quarter turns of the board for the observing agent."""
    own = boards.own_id(raw)
    return np.where(boards.is_duel(raw), 2 * own, own)


def turn(raw: boards.Raw) -> dict[str, Any]:
    """Raw observations turned so that their agents begin top left; changed arrays are new."""
    turns, own = quarter_turns(raw), boards.own_id(raw)
    agents = np.where(boards.is_duel(raw), 2, 4)
    found = dict(raw)
    for key in boards.MAPS:
        if key in raw:
            found[key] = _turned_map(raw[key], turns)
    if "bomb_moving_direction" in raw:
        moving = found["bomb_moving_direction"]
        found["bomb_moving_direction"] = BACK[turns[:, None, None], moving.astype(np.int64)].astype(
            moving.dtype
        )
    found["board"] = _renumbered(found["board"], own, agents)
    found["teammate"] = _renumbered(raw["teammate"], own, agents)
    enemies = _renumbered(raw["enemies"], own, agents)
    last = np.where(enemies < boards.AGENT, 99, enemies).argsort(
        axis=1, kind="stable"
    )  # by number, absent ones last
    found["enemies"] = np.take_along_axis(enemies, last, axis=1)
    found["position"] = _turned_cell(raw["position"], turns, raw["board"].shape[1])
    flags = raw["alive"]
    if flags.ndim == 2 and flags.shape[1] > 1:
        order = np.arange(flags.shape[1])
        source = np.where(order < agents[:, None], (order + own[:, None]) % agents[:, None], order)
        found["alive"] = np.take_along_axis(flags, source, axis=1)
    return found


def _turned_map(array: Array, turns: Array) -> Array:
    found = array.copy()
    for turn in range(1, 4):
        rows = turns == turn
        found[rows] = np.rot90(array[rows], -turn, axes=(1, 2))
    return found


def _turned_cell(position: Array, turns: Array, n: int) -> Array:
    row, column = position[:, 0], position[:, 1]
    last = n - 1
    cells = np.stack(
        [
            np.stack(pair, axis=1)
            for pair in (
                (row, column),
                (column, last - row),
                (last - row, last - column),
                (last - column, row),
            )
        ]
    )
    return cells[turns, np.arange(len(position))].astype(position.dtype)


def _renumbered(codes: Array, own: Array, agents: Array) -> Array:
    """Codes with agents counted from the own one on; other codes are unchanged."""
    shape = (-1, *[1] * (codes.ndim - 1))
    number = codes.astype(np.int64) - boards.AGENT
    return np.where(
        number >= 0, (number - own.reshape(shape)) % agents.reshape(shape) + boards.AGENT, codes
    ).astype(codes.dtype)
