"""The future of the cells near a Pommerman agent, and its survivable moves (after the action filter of Gao et al. 2019, arXiv 1905.01360)."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.context import Context
from interplay.interfaces.generic.adding import Feature
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.interfaces.pommerman import boards
from interplay.interfaces.pommerman.search import HORIZON, Sights, allocate, find_escapes

_MEMO = "pommerman/escapes"
_MOST_ROWS = 32  # a row of the board has to fit into a word


class EscapeMaskItf(Feature):
    """Masks actions that cannot be survived, and adds the mask to the observation as (6,) bits.

    An action is allowed if it does something and, as far as the agent sees, some path stays alive until all present bombs and flames have burnt out.
    Assumptions: bombs do not move, burn in chains and stop at walls, no further bomb is laid, other agents stay for three steps. If there is no
    such action, all moves are allowed. Bombs out of sight and kicked ones are not foreseen, so the agent can still die. The bits are of the board at
    this place of the stack: below a `RotateItf` the mask is turned with it, the bits are not.
    """

    name = "escapes"
    restricts = True

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        _board_side(self._called(), self.ctx)
        choices = (
            act_space.nvec[0] if isinstance(act_space, spaces.MultiDiscrete) else getattr(act_space, "n", 0)
        )
        if choices != 6 or np.ravel(getattr(act_space, "start", 0))[0] != 0:
            raise UserError(
                f"{self._called()}: {act_space} does not begin with Pommerman's six actions; put it below what changes them"
            )
        return spaces.MultiBinary(6)

    def _feature(self, obs: Nest) -> Any:
        self._moves = _escapes(self.ctx)[0]  # kept, as an interface above may turn the view
        return self._moves.astype(np.int8)

    def _mask(self, mask: Nest) -> Nest:
        found = mask.copy()
        found[:, :6] &= self._moves.astype(bool)
        nothing = ~found[:, :6].any(axis=1)
        found[nothing, :6] = mask[nothing, :6]
        return found


class CentredBoardObs(Feature):
    """Adds 7 planes of the cells around the agent, (S, S, 7) with S = 2 reach + 1: open, wood, bomb (its life / 10), fire, item, enemy, team-mate.

    Fire is 1 for cells that burn in the next step and falls to 0 for cells that no present bomb will burn. Cells beyond the board, rigid ones and fog
    are 0 in all planes. It reads the view, so it works above a `RotateItf` or without one.

    Args:
        reach: cells in each direction; agents in fog see 4.
    """

    name = "near"

    def __init__(
        self, inner: Interface | None = None, reach: int = 4, mode: str = "append", key: str | None = None
    ) -> None:
        super().__init__(inner, mode, key)
        if not 1 <= reach < _MOST_ROWS:
            raise UserError(f"CentredBoardObs: reach = {reach}; it sees 1 to {_MOST_ROWS - 1} cells far")
        self.reach = reach

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        _board_side(self._called(), self.ctx)
        side = 2 * self.reach + 1
        return spaces.Box(0.0, 1.0, (side, side, 7), np.float32)

    def _feature(self, obs: Nest) -> Any:
        view: Any = self.ctx.view
        code = self._window(view["board"], boards.RIGID)
        life = self._window(view["bomb_life"], 0)
        soon = self._window(_escapes(self.ctx)[1], 0)
        mate, own = boards.number(view, "teammate")[:, None, None], boards.own_id(view)[:, None, None]
        planes = np.zeros((*code.shape, 7), np.float32)
        planes[..., 0] = (code == boards.PASSAGE) | (code == boards.FLAMES)
        planes[..., 1] = code == boards.WOOD
        planes[..., 2] = np.minimum(life / np.float32(boards.LONGEST), 1)
        planes[..., 3] = np.where(soon > 0, (HORIZON + 1 - soon) / np.float32(HORIZON), 0)
        planes[..., 4] = (code >= boards.EXTRA_BOMB) & (code <= boards.KICK)
        planes[..., 6] = (code == mate) & (mate >= boards.AGENT)
        planes[..., 5] = (code >= boards.AGENT) & (code != own + boards.AGENT) & (planes[..., 6] == 0)
        return planes

    def _window(self, maps: Array, beyond: int) -> Array:
        """(B, S, S) of (B, N, N): the cells around the agents."""
        view: Any = self.ctx.view
        reach = self.reach
        wide = np.pad(maps, ((0, 0), (reach, reach), (reach, reach)), constant_values=beyond)
        around = np.arange(2 * reach + 1)
        at = view["position"].astype(np.int64)
        rows, columns = at[:, 0, None, None] + around[:, None], at[:, 1, None, None] + around
        return wide[np.arange(len(maps))[:, None, None], rows, columns]


def _board_side(owner: str, ctx: Context) -> int:
    side = boards.side_of(owner, ctx.raw_observation_space)
    raw: Any = ctx.raw_observation_space
    if "flame_life" not in raw.spaces:
        raise UserError(f"{owner}: the observation has no 'flame_life'; it is unknown how long flames last")
    if side > _MOST_ROWS:
        raise UserError(f"{owner}: a board of {side} cells a side; it reads boards of up to {_MOST_ROWS}")
    return side


def _escapes(ctx: Context) -> tuple[Array, Array]:
    """(B, 6) survivable actions and (B, N, N) steps until cells burn, from the observation; computed once per view."""
    view: Any = ctx.view
    known = ctx.memory.get(_MEMO)
    if known is not None and known[0] is view:
        return known[1]

    def small(key: str) -> Array:
        return np.minimum(view[key], 255).astype(np.uint8)  # a copy, which the search writes into

    side, rows = view["board"].shape[1], len(view["board"])
    sights = Sights(
        board=small("board"),
        strength=small("bomb_blast_strength"),
        life=small("bomb_life"),
        flame=small("flame_life"),
        position=small("position"),
        ammo=small("ammo").reshape(rows),
        blast=small("blast_strength").reshape(rows),
        kick=small("can_kick").reshape(rows),
    )
    found = np.zeros((rows, 6), np.uint8), np.zeros((rows, side, side), np.uint8)
    find_escapes(sights, allocate(side), *found)
    ctx.memory[_MEMO] = (view, found)
    return found
