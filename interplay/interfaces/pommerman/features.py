"""Planes, attributes and wise moves of Pommerman agents (specification interfaces 10; v2 of one agent, v1 of a team of two)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.interfaces.generic.adding import Feature
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.interfaces.pommerman import boards
from interplay.interfaces.pommerman.pairs import PAIR

_ITEMS = (
    *(boards.RIGID, boards.WOOD, boards.BOMB, boards.FLAMES, boards.FOG),
    *(boards.EXTRA_BOMB, boards.RANGE, boards.KICK),
)


class BoardMapObs(Feature):
    """Adds 22 planes (N, N, 22): rigid, wood, bomb, flames, fog, extra bomb, range, kick; self, team-mate, three enemies by id; blast
    cross; danger; own cell, team-mate, any enemy; ammo/3, blast/5, kick, alive everywhere.

    For a team of two, above a `CombineObs`, (N, N, 17): the same eight; both members, two enemies by id; blast cross; danger; and at
    the members' cells blast/5, kick, ammo/3.

    It reads the view, so it works above a `RotateItf`.

    Args:
        joint: whether the observation is a team's of two.
        stop_at_walls: whether walls stop the blast cross; in the published one they do not.
    """

    name = "planes"

    def __init__(
        self,
        inner: Interface | None = None,
        joint: bool = False,
        stop_at_walls: bool = False,
        mode: str = "append",
        key: str | None = None,
    ) -> None:
        super().__init__(inner, mode, key)
        self.joint, self.stop_at_walls = joint, stop_at_walls
        self.needs = (PAIR,) if joint else ()

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        raw: Any = self.ctx.memory[PAIR] if self.joint else self.ctx.raw_observation_space
        n = boards.side_of(self._called(), raw)
        high = np.ones((n, n, 17 if self.joint else 22), np.float32)
        ammo, blast = (16, 14) if self.joint else (18, 19)
        high[..., ammo], high[..., blast] = _most(raw["ammo"], 3), _most(raw["blast_strength"], 5)
        return spaces.Box(np.zeros_like(high), high, dtype=np.float32)

    def _feature(self, obs: Nest) -> Any:
        view = self.ctx.view
        board = view["board"]
        planes = np.zeros((*board.shape, 17 if self.joint else 22), np.float32)
        for plane, code in enumerate(_ITEMS):
            planes[..., plane] = board == code
        if self.joint:
            self._put_pair(view, planes)
        else:
            self._put_self(view, planes)
        return planes

    def _put_self(self, view: boards.Raw, planes: Array) -> None:
        board = view["board"]
        own = boards.own_id(view)[:, None, None] + boards.AGENT
        mate = boards.number(view, "teammate")[:, None, None]
        planes[..., 8] = board == own
        planes[..., 9] = planes[..., 16] = (board == mate) & (mate >= boards.AGENT)
        _put_enemies(view["enemies"], board, planes[..., 10:13])
        planes[..., 13], planes[..., 14] = boards.blasts(view, self.stop_at_walls)
        planes[..., 15] = boards.one_cell(view)
        planes[..., 17] = planes[..., 10:13].any(axis=-1)
        constant = (*_scaled(view), boards.alive(view))
        for plane, value in zip((18, 19, 20, 21), constant, strict=True):
            planes[..., plane] = value[:, None, None]

    def _put_pair(self, view: boards.Raw, planes: Array) -> None:
        board = view["board"]
        for member in range(2):
            # Each is the other's team-mate; dead ones have no cell.
            here = board == view["teammate"].reshape(len(board), 2)[:, 1 - member, None, None]
            planes[..., 8 + member] = here
            own = {key: view[key][:, member] for key in ("ammo", "blast_strength", "can_kick")}
            ammo, blast, kick = _scaled(own)
            for plane, value in zip((14, 15, 16), (blast, kick, ammo), strict=True):
                planes[..., plane] += here * value[:, None, None]
        _put_enemies(view["enemies"][:, 0], board, planes[..., 10:12])
        planes[..., 12], planes[..., 13] = boards.blasts(view, self.stop_at_walls)


class AttrObsItf(Feature):
    """Adds (6,): alive, row/(N-1) - 0.5, column/(N-1) - 0.5, blast/5, kick, ammo/3; the last three are 0 when dead."""

    name = "attributes"

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        raw: Any = self.ctx.raw_observation_space
        boards.side_of(self._called(), raw)
        high = [1, 0.5, 0.5, _most(raw["blast_strength"], 5), 1, _most(raw["ammo"], 3)]
        return spaces.Box(
            np.array([0, -0.5, -0.5, 0, 0, 0], np.float32), np.array(high, np.float32), dtype=np.float32
        )

    def _feature(self, obs: Nest) -> Any:
        view = self.ctx.view
        lives = boards.alive(view)
        ammo, blast, kick = (np.where(lives, part, 0) for part in _scaled(view))
        row, column = (view["position"] / (view["board"].shape[1] - 1) - 0.5).T
        return np.stack([lives, row, column, blast, kick, ammo], axis=1).astype(np.float32)


class ActMaskObsItf(Feature):
    """Adds (6,) bits: which actions are wise (`boards.wise_moves`)."""

    name = "wise"

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        boards.side_of(self._called(), self.ctx.raw_observation_space)
        return spaces.MultiBinary(6)

    def _feature(self, obs: Nest) -> Any:
        return boards.wise_moves(self.ctx.view).astype(np.int8)


def _put_enemies(enemies: Array, board: Array, planes: Array) -> None:
    """A plane for each enemy, by id; absent enemies come last and have empty planes."""
    by_id = np.sort(np.where(enemies < boards.AGENT, 99, enemies), axis=1)
    for k in range(planes.shape[-1]):
        planes[..., k] = board == by_id[:, k, None, None]


def _scaled(view: boards.Raw) -> tuple[Array, Array, Array]:
    """Ammo/3, blast/5 and kick, (B,) each."""
    return (
        boards.number(view, "ammo") / 3,
        boards.number(view, "blast_strength") / 5,
        boards.number(view, "can_kick"),
    )


def _most(space: Any, unit: int) -> float:
    """The greatest value of a number in units; infinite if its space has no bound."""
    if isinstance(space, spaces.Discrete):
        return (int(space.start) + int(space.n) - 1) / unit
    if isinstance(space, spaces.MultiDiscrete):
        return float(np.max(np.asarray(space.start) + space.nvec - 1)) / unit
    return float(np.max(space.high)) / unit if isinstance(space, spaces.Box) else 1.0
