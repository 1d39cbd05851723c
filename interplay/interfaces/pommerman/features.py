"""Planes, attributes and wise moves of one Pommerman agent (specification interfaces 10; generation v2, per agent)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.interfaces.generic.adding import Feature
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.interfaces.pommerman import boards

_ITEMS = (
    *(boards.RIGID, boards.WOOD, boards.BOMB, boards.FLAMES, boards.FOG),
    *(boards.EXTRA_BOMB, boards.RANGE, boards.KICK),
)


class BoardMapObs(Feature):
    """Adds 22 planes (N, N, 22): rigid, wood, bomb, flames, fog, extra bomb, range, kick; self, team-mate, three enemies by id; blast
    cross; danger; own cell, team-mate, any enemy; ammo/3, blast/5, kick, alive everywhere.

    It reads the view, so it stands above a `RotateItf`.

    Args:
        inner: the stack below.
        stop_at_walls: whether walls stop the blast cross; the published one goes through them.
        mode, key: see `Feature`; a mapping calls it ``planes``.
    """

    name = "planes"

    def __init__(
        self,
        inner: Interface | None = None,
        stop_at_walls: bool = False,
        mode: str = "append",
        key: str | None = None,
    ) -> None:
        super().__init__(inner, mode, key)
        self.stop_at_walls = stop_at_walls

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        raw: Any = self.ctx.raw_observation_space
        n = boards.side_of(self._called(), raw)
        high = np.ones((n, n, 22), np.float32)
        high[..., 18], high[..., 19] = _most(raw["ammo"], 3), _most(raw["blast_strength"], 5)
        return spaces.Box(np.zeros_like(high), high, dtype=np.float32)

    def _feature(self, obs: Nest) -> Any:
        view = self.ctx.view
        board = view["board"]
        planes = np.zeros((*board.shape, 22), np.float32)
        for plane, code in enumerate(_ITEMS):
            planes[..., plane] = board == code
        own = boards.own_id(view)[:, None, None] + boards.AGENT
        mate = boards.number(view, "teammate")[:, None, None]
        enemies = np.sort(np.where(view["enemies"] < boards.AGENT, 99, view["enemies"]), axis=1)
        planes[..., 8] = board == own
        planes[..., 9] = planes[..., 16] = (board == mate) & (mate >= boards.AGENT)
        for k in range(enemies.shape[1]):
            planes[..., 10 + k] = board == enemies[:, k, None, None]
        planes[..., 13], planes[..., 14] = boards.blasts(view, self.stop_at_walls)
        planes[..., 15] = boards.one_cell(view)
        planes[..., 17] = planes[..., 10:13].any(axis=-1)
        constant = (*_scaled(view), boards.alive(view))
        for plane, value in zip((18, 19, 20, 21), constant, strict=True):
            planes[..., plane] = value[:, None, None]
        return planes


class AttrObsItf(Feature):
    """Adds (6,): alive, row/(N-1) - 0.5, column/(N-1) - 0.5, blast/5, kick, ammo/3; the last three are 0 when dead.

    Args:
        inner: the stack below.
        mode, key: see `Feature`; a mapping calls it ``attributes``.
    """

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
    """Adds (6,) bits: which actions are wise (`boards.wise_moves`).

    Args:
        inner: the stack below.
        mode, key: see `Feature`; a mapping calls it ``wise``.
    """

    name = "wise"

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        boards.side_of(self._called(), self.ctx.raw_observation_space)
        return spaces.MultiBinary(6)

    def _feature(self, obs: Nest) -> Any:
        return boards.wise_moves(self.ctx.view).astype(np.int8)


def _scaled(view: boards.Raw) -> tuple[Array, Array, Array]:
    """Ammo/3, blast/5 and kick, (B,) each."""
    return (
        boards.number(view, "ammo") / 3,
        boards.number(view, "blast_strength") / 5,
        boards.number(view, "can_kick"),
    )


def _most(space: Any, unit: int) -> float:
    """The greatest value of a number in units; infinite where its space does not say."""
    if isinstance(space, spaces.Discrete):
        return (int(space.start) + int(space.n) - 1) / unit
    return float(np.max(space.high)) / unit if isinstance(space, spaces.Box) else 1.0
