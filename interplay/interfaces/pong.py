"""Observations of Pong for two: whole pictures, or small grey ones (specification interfaces 10; games 2.5)."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.ranges import of_space
from interplay.interfaces.generic.adding import Feature
from interplay.interfaces.generic.boxes import Entry
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.worlds.pong.config import (
    BALL_HEIGHT,
    BALL_WIDTH,
    BAT_HEIGHT,
    BAT_WIDTH,
    BATS,
    BOTTOM,
    HEIGHT,
    SIDE,
    TOP,
    WIDTH,
)
from interplay.worlds.pong.observe import (
    BALL_ACROSS,
    BALL_ROOM,
    BAT_ROOM,
    NUMBERS,
    OTHER_POINTS,
    OTHER_Y,
    OWN_POINTS,
    OWN_Y,
    X,
    Y,
)
from interplay.worlds.pong.render import BAND, ink
from interplay.worlds.pong.rules import LEAST_BALL, LEAST_BAT

ACTIONS = 6
WHITE = 255
NEARLY = 1 / 1024  # pixels: float32 numbers from -1 to 1 hold places to within a hundredth of that
LUMA = np.array([299, 587, 114], np.float32)  # thousandths: how bright red, green and blue are (ITU-R BT.601)


class PongImageObs(Feature):
    """The whole picture, (210, 160, 3) uint8, black and white; both players see themselves, and their points, on the left.

    It is made of the ``numbers`` that `pong/2p` shows, so it works around agents and around worlds. Positions at whole pixels are as in
    `worlds.pong.render.picture`; others are rounded down, or up if they are less than a thousandth of a pixel below the next whole one. With
    ``classic_quirks`` a ball may leave the field; its numbers, and so its picture, stop at the edge.

    Args:
        rounds: of an episode, as in the world, since the numbers hold points as shares of it.
    """

    name = "image"

    def __init__(
        self,
        inner: Interface | None = None,
        rounds: int = 20,
        mode: str = "replace",
        key: str | None = None,
    ) -> None:
        super().__init__(inner, mode, key)
        if not 1 <= rounds <= 99:
            raise UserError(f"PongImageObs: rounds = {rounds}; scores have two digits, it is from 1 to 99")
        self.rounds = int(rounds)

    def _feature_space(self, obs_space: spaces.Space, act_space: spaces.Space) -> spaces.Space:
        raw = self.ctx.raw_observation_space
        numbers = raw.spaces.get("numbers") if isinstance(raw, spaces.Dict) else None
        if numbers is None or numbers.shape != (NUMBERS,):
            raise UserError(f"PongImageObs: {raw} has no Pong numbers; put it around pong/2p")
        self._scores = np.stack([~ink(points, points) for points in range(self.rounds + 1)])
        return spaces.Box(0, WHITE, (HEIGHT, WIDTH, 3), np.uint8)

    def _feature(self, obs: Nest) -> Any:
        numbers = self.ctx.raw["numbers"].astype(np.float64)
        white = np.ones((len(numbers), HEIGHT, WIDTH), bool)
        white[:, slice(*BAND)] = self._band(numbers)
        field = white[:, TOP:BOTTOM]
        field[...] = False
        for x, column in zip(BATS, (OWN_Y, OTHER_Y), strict=True):
            top = _pixel(numbers[:, column], LEAST_BAT, BAT_ROOM)
            field[:, :, x : x + BAT_WIDTH] = _stretch(top - TOP, BAT_HEIGHT, BOTTOM - TOP)[:, :, None]
        left, y = _pixel(numbers[:, X], 0.0, BALL_ACROSS), _pixel(numbers[:, Y], LEAST_BALL, BALL_ROOM)
        down = _stretch(y - TOP, BALL_HEIGHT, BOTTOM - TOP)
        field |= down[:, :, None] & _stretch(left, BALL_WIDTH, WIDTH)[:, None]
        return np.repeat((white * np.uint8(WHITE))[..., None], 3, axis=-1)

    def _band(self, numbers: Array) -> Array:
        """The scores, (B, rows, 160) bool: the own one left, the other's right."""
        shares = numbers[:, [OWN_POINTS, OTHER_POINTS]] * self.rounds
        points = np.rint(shares).astype(np.int64)
        if (np.abs(shares - points) > NEARLY).any() or (points > self.rounds).any():
            raise UserError(
                f"PongImageObs: rounds = {self.rounds}, and points are no whole ones of so many; give the world's rounds"
            )
        own, other = self._scores[points[:, 0]], self._scores[points[:, 1]]
        return np.concatenate([own[..., : WIDTH // 2], other[..., WIDTH // 2 :]], axis=-1)


class PongPreprocess(Entry):
    """Shrinks large pictures to small grey ones and stacks the last, (84, 84, frames) float32 in 0..1, the newest last.

    Pictures of three colours are made grey and shrunk by area, both rounded to 0..255, halves up; the first one of an episode is repeated for those
    before it. Small stacked pictures, as in `pong/2p-pictures`, are only divided by 255, which gives
    the same numbers.

    Args:
        index: of the entry, see `Entry`: None is a bare array, ``"pictures"`` that of `pong/2p-pictures`.
    """

    heeds_moving = True

    def __init__(
        self, inner: Interface | None = None, frames: int = 4, index: int | str | None = None
    ) -> None:
        super().__init__(inner, index)
        if frames < 1:
            raise UserError(f"PongPreprocess: frames = {frames}; show one at least")
        self.frames = int(frames)

    def _entry_space(self, box: spaces.Box) -> spaces.Box:
        small = (SIDE, SIDE, self.frames)
        self._is_stacked = box.shape == small
        is_large = len(box.shape) == 3 and box.shape[-1] == 3 and min(box.shape) > 0
        if box.dtype != np.uint8 or not (self._is_stacked or is_large):
            raise UserError(
                f"{self._called()}: {box} is neither a picture (height, width, 3) uint8 nor {small} of them; "
                "put it on PongImageObs, or give the world's frames"
            )
        if not self._is_stacked:
            self._shrink = Shrinking(box.shape[:2], SIDE)
            kept = spaces.Box(0, WHITE, small, np.uint8)
            self._kept = self.keep("frames", small, np.uint8, of_space(kept))
        return spaces.Box(0.0, 1.0, small, np.float32)

    def _begin(self, which: Array, obs: Nest) -> None:
        if not self._is_stacked:
            self._kept[which] = self._shrink(self._picture(obs)[which])[..., None]

    def _note_observation(self, obs: Nest) -> None:
        if self._is_stacked:
            return
        moving = self.ctx.moving
        self._kept[moving, ..., :-1] = self._kept[moving, ..., 1:]
        self._kept[moving, ..., -1] = self._shrink(self._picture(obs)[moving])

    def _entry(self, array: Array) -> Array:
        return (array if self._is_stacked else self._kept) / np.float32(WHITE)

    def _picture(self, obs: Nest) -> Array:
        picture: Array = obs if self.index is None else obs[self.index]
        return picture


class PongDiscreteAct(Interface):
    """Pong's six actions, unchanged (specification games 2.2): bats move up and down, so mirrored play changes none of them."""

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        if act_space != spaces.Discrete(ACTIONS):
            raise UserError(f"PongDiscreteAct: {act_space} are not Pong's actions, Discrete({ACTIONS})")
        return obs_space, act_space


class Shrinking:
    """Shrinks colour pictures to grey ones by area, in whole numbers, so that rounding is the same on all machines."""

    def __init__(self, shape: tuple[int, ...], side: int) -> None:
        down, along = (_shares(size, side) for size in shape)
        self._units = int(down[0].sum() * along[0].sum())  # of a small pixel
        exact = np.float32 if WHITE * self._units < 2**24 else np.float64  # holds every sum
        self._down, self._along, self._side = down.astype(exact), along.astype(exact), side

    def __call__(self, pictures: Array) -> Array:
        """(B, side, side) uint8 of (B, height, width, 3) uint8."""
        rows, height, width, _ = pictures.shape
        grey = np.floor((pictures.astype(np.float32) @ LUMA + 500) / 1000)
        parts = self._along.shape[1]
        narrow = grey.reshape(rows, height, width // parts, parts) @ self._along.T
        parts = self._down.shape[1]
        tall = self._down @ narrow.reshape(rows, height // parts, parts, self._side)
        sums = tall.reshape(rows, self._side, self._side).astype(np.int64)
        return ((2 * sums + self._units) // (2 * self._units)).astype(np.uint8)


def _shares(large: int, small: int) -> Array:
    """Weight of each large pixel in each small one, (small / g, large / g) whole numbers; a side has g such blocks."""
    blocks = gcd(large, small)
    length, unit = large // blocks, small // blocks  # of a small and a large pixel
    first, other = np.arange(unit)[:, None] * length, np.arange(length) * unit
    inside = np.minimum(first + length, other + unit) - np.maximum(first, other)
    return np.maximum(inside, 0)


def _pixel(numbers: Array, least: float, room: float) -> Array:
    """(B,) whole pixels of numbers from -1 to 1 over least .. least + room."""
    return np.floor(least + (numbers + 1.0) / 2.0 * room + NEARLY).astype(np.int64)


def _stretch(first: Array, size: int, room: int) -> Array:
    """(B, room) bool: the places first .. first + size of each row."""
    place = np.arange(room) - first[:, None]
    return (place >= 0) & (place < size)
