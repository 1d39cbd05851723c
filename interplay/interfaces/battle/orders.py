"""Orders by cell: every own unit obeys the order of its cell (specification games 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.battle.fields import (
    FLIES,
    HITS_AIR,
    TYPES,
    Field,
    check_side,
    read_field,
    shared_cells,
)
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.worlds.battle.observe import X, Y
from interplay.worlds.battle.state import EAST, FIRST_ATTACK, MOVES, NORTH, NOTHING, SOUTH, STOP, WEST

HEADINGS = 8  # clockwise from north
ATTACK, ATTACK_AIR = 8, 9  # entries: the nearest, or with ground first; air first
_TURN = np.pi / 4 * np.arange(HEADINGS)
_DIRECTIONS = np.stack([np.sin(_TURN), np.cos(_TURN)], axis=1)  # (headings, 2) to the right and up


class CellOrders(Interface):
    """Base of both kinds of orders.

    A unit that cannot obey does the nearest thing: a move slides along the edge, an attack on a unit out of SMAC's range
    walks towards it. In cells without an own unit only entry 0 is legal, as every head needs one legal choice. ``info["shared_cells"]`` of a match
    counts, for each slot, the ground units that share a cell and so an order; None for a slot without orders by cell.

    Args:
        inner: the stack below; it sees a side's tuple, of a world with `see_field` and `diagonals`.
    """

    grid: ClassVar[int]
    planes: ClassVar[tuple[int, ...]]  # (): ground and air units obey the same cells; (2,): a plane for each
    entries: ClassVar[int]
    types: ClassVar[tuple[str, ...]]

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        raw, owner = self.ctx.raw_observation_space, self._called()
        self._members = members = check_side(owner, raw, self.grid, self.types)
        slots = raw[0]["field"].shape[0]  # type: ignore[index]
        self._enemies = max(members, slots - members)
        wanted: spaces.Space = spaces.Discrete(FIRST_ATTACK + self._enemies + MOVES)
        if act_space != spaces.Tuple([wanted] * members):
            raise UserError(
                f"{owner}: {act_space} are no actions of {members} units with eight moves; make the world with diagonals = true, without look_directions"
            )
        return obs_space, spaces.MultiDiscrete(np.full((*self.planes, self.grid, self.grid), self.entries))

    def _act(self, action: Nest) -> Nest:
        field = read_field(self.ctx.raw, self.grid)
        orders = np.asarray(action).reshape(len(field.table), -1)
        obeyed = np.take_along_axis(orders, self._cells(field), axis=1)
        chosen = [self._choose(field, obeyed[:, a], a) for a in range(self._members)]
        return tuple(chosen)

    def _mask(self, mask: Nest) -> Nest:
        field = read_field(self.ctx.raw, self.grid)
        heads = int(np.prod((*self.planes, self.grid, self.grid)))
        legal = np.zeros((len(field.table), heads, self.entries), bool)
        legal[:, :, 0] = True
        b, a = np.nonzero(field.alive[:, : self._members])
        legal[b, self._cells(field)[b, a]] = True
        return legal.reshape(len(legal), -1)

    def _infos(self) -> Mapping[str, Array]:
        return {"shared_cells": shared_cells(read_field(self.ctx.raw, self.grid), self._members)}

    def _cells(self, field: Field) -> Array:
        """(B, members) the number of the entry that each unit obeys."""
        own = slice(0, self._members)
        cell = field.row[:, own] * self.grid + field.column[:, own]
        return cell + self.grid**2 * FLIES[field.types[:, own]] if self.planes else cell

    def _choose(self, field: Field, entry: Array, member: int) -> Array:
        """(B,) the raw actions of one unit."""
        legal = self.ctx.raw[member]["legal"].astype(bool)
        direction = _DIRECTIONS[entry % HEADINGS]
        attacks = entry >= ATTACK
        target, towards = self._aim(field, entry, member)
        direction = np.where(attacks[:, None], towards, direction)
        action = _best_move(legal, direction, self._enemies)
        rows = np.arange(len(entry))
        shoots = attacks & (target >= 0) & legal[rows, FIRST_ATTACK + np.maximum(target, 0)]
        action = np.where(shoots, FIRST_ATTACK + target, action)
        return np.where(field.alive[:, member], action, NOTHING).astype(np.int64)

    def _aim(self, field: Field, entry: Array, member: int) -> tuple[Array, Array]:
        """(B,) the enemy that is attacked, -1 for none, and (B, 2) the direction to it."""
        theirs = slice(self._members, None)
        across = field.table[:, theirs, X] - field.table[:, member, X, None]
        up = field.table[:, theirs, Y] - field.table[:, member, Y, None]
        flies = FLIES[field.types[:, theirs]]
        hit = field.alive[:, theirs] & (HITS_AIR[field.types[:, member]][:, None] | ~flies)
        far = np.hypot(across, up).astype(np.float64)
        if self.entries > ATTACK_AIR:  # the other kind counts as farther than anything on the field
            far += 1e3 * (flies != (entry == ATTACK_AIR)[:, None])
        far[~hit] = np.inf
        target = far.argmin(axis=1)
        rows = np.arange(len(entry))
        none = ~hit.any(axis=1)
        direction = np.stack([across[rows, target], up[rows, target]], axis=1)
        return np.where(none, -1, target), np.where(none[:, None], 0.0, direction)


class ImgActItf(CellOrders):
    """(8, 8) entries: 0..7 moves, clockwise from north, 8 attacks the nearest enemy that the unit can hit."""

    grid, planes, entries = 8, (), 9
    types = TYPES


class ImgMABActItf(CellOrders):
    """(2, 16, 16) entries, plane 0 for ground units, 1 for flying ones: 0..7 moves, 8 attacks the nearest, ground first, 9 air first."""

    grid, planes, entries = 16, (2,), 10
    types = TYPES


def _best_move(legal: Array, direction: Array, enemies: int) -> Array:
    """(B,) the legal move closest to a direction (B, 2); stop if there is none."""
    north_east = FIRST_ATTACK + enemies
    moves = np.array([NORTH, north_east, EAST, north_east + 1, SOUTH, north_east + 2, WEST, north_east + 3])
    gain = np.where(legal[:, moves], direction @ _DIRECTIONS.T, 0.0)
    best = gain.argmax(axis=1)
    return np.where(gain.max(axis=1) > 1e-9, moves[best], STOP)
