"""Pong for two once more, slowly: one game in scalars, written from specification 2; hits are decided in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from interplay.kernels.philox import integer_below, uniform

BATS = {"left": (16, 20), "right": (140, 144)}  # left and right edge
FACE = {"left": 20, "right": 140}
OTHER = {"left": "right", "right": "left"}


class NaivePong:
    """One game.

    Args:
        seed: of its random stream, episode 0.
        s: the ball's speed.
        v: top speeds, left and right.
        rounds, round_steps, randomize, follow, quirks: as the world's options.
    """

    def __init__(
        self,
        seed: int,
        s: float = 4.0,
        v: tuple[float, float] = (16.0, 16.0),
        rounds: int = 20,
        round_steps: int = 1000,
        randomize: bool = False,
        follow: str = "none",
        quirks: bool = False,
    ) -> None:
        self.seed, self.draws = seed, 0
        self.s, self.rounds_in_all, self.round_steps = s, rounds, round_steps
        self.randomize, self.follow, self.quirks = randomize, follow, quirks
        self.y, self.speed, self.top = {}, {}, {}
        self.points = {"left": 0, "right": 0}
        self.rounds = 0
        for side, top in zip(BATS, v, strict=True):
            self.y[side], self.speed[side], self.top[side] = 106.0, 0.0, top
            if randomize:
                self.y[side] = 34.0 + self.unit() * 144.0
                self.top[side] = s * (1.0 + self.unit() * 4.0)
        self.serve(None)

    def unit(self) -> float:
        self.draws += 1
        return uniform(np.uint64(self.seed), np.uint64(0), np.uint64(self.draws - 1))

    def below(self, bound: int) -> int:
        self.draws += 1
        return int(integer_below(np.uint64(self.seed), np.uint64(0), np.uint64(self.draws - 1), bound))

    def serve(self, loser: str | None) -> None:
        self.x, self.ball_y, across, down = 79.0, 112.0, self.s, self.s
        if self.randomize:
            self.ball_y = 34.0 + self.unit() * 156.0
            down = self.s * self.below(3)
            across = 3 * self.s if self.unit() < 0.1 else self.s
        if loser is None:
            towards = ("left", "right")[self.below(2)]
        else:
            towards = OTHER[loser] if self.randomize and self.quirks else loser
        self.vx = -across if towards == "left" else across
        self.vy = -down if self.below(2) == 0 else down
        self.round_step = 0

    def step(self, actions: tuple[int, int]) -> tuple[float, float]:
        """One step; the rewards."""
        for side, action in zip(BATS, actions, strict=True):
            if side == self.follow:
                self.follow_ball(side)
            else:
                self.act(side, action)
        self.fly()
        self.round_step += 1
        rewards = {"left": 0.0, "right": 0.0}
        loser = "left" if self.x < 0 else "right" if self.x + 2 > 160 else None
        if loser is None and self.round_step <= self.round_steps:
            return 0.0, 0.0
        if loser is not None:
            self.points[OTHER[loser]] += 1
            rewards = {loser: -1.0, OTHER[loser]: 1.0}
        self.rounds += 1
        self.serve(loser)
        return rewards["left"], rewards["right"]

    @property
    def over(self) -> bool:
        return self.rounds == self.rounds_in_all

    def act(self, side: str, action: int) -> None:
        top, speed = self.top[side], self.speed[side]
        if action in (0, 1):
            loss = (0.1, 0.5)[action] * top
            slower = max(abs(speed) - loss, 0.0)
            speed = slower if speed > 0 else -slower
        else:
            push = {2: 0.25, 3: -0.25, 4: 0.1, 5: -0.1}[action] * top
            speed = min(max(speed + push, -top), top)
        self.y[side] += speed
        self.speed[side] = speed
        for border, beyond in ((34.0, self.y[side] < 34), (178.0, self.y[side] > 178)):
            if beyond:
                self.y[side], self.speed[side] = border, 0.0

    def follow_ball(self, side: str) -> None:
        centre, comes = self.y[side] + 8, (self.vx < 0) == (side == "left")
        goal = self.ball_y + 2 if comes else 114.0
        if centre < goal:
            self.speed[side] = 1.25 * self.s
        elif centre > goal or comes:
            self.speed[side] = -1.25 * self.s
        else:
            self.speed[side] = 0.0
        self.y[side] = min(max(self.y[side] + self.speed[side], 34.0), 178.0)

    def fly(self) -> None:
        x0, y0 = self.x, self.ball_y
        self.x += self.vx
        self.ball_y += self.vy
        for mirror, beyond in (
            (68, self.vy < 0 and self.ball_y <= 34),
            (380, self.vy > 0 and self.ball_y >= 190),
        ):
            if beyond:
                self.ball_y, y0, self.vy = mirror - self.ball_y, mirror - y0, -self.vy
                break
        side = "left" if self.vx < 0 else "right"
        top = self.y[side]
        left, right = BATS[side]
        if min(x0, self.x) > right + 1 or max(x0, self.x) + 2 < left - 1:
            return  # far from the bat; fractions take their time
        way = (x0, y0, self.x, self.ball_y)
        if crosses_upright(way, FACE[side], top, top + 16):
            offset = self.offset(side, x0, y0)
        elif self.vy > 0 and crosses_level(way, top, left, right):
            offset = -10.0
        elif self.vy < 0 and crosses_level(way, top + 16, left, right):
            offset = 10.0
        else:
            return
        still = self.speed["left" if self.quirks else side] == 0
        angle = offset / 8
        across = 3 * self.s if not still and abs(angle) >= 1 else self.s
        down = self.s if still else 2 * self.s
        level = -0.25 < angle <= 0.25 if self.quirks else abs(angle) <= 0.25
        self.vx = across if side == "left" else -across
        self.vy = 0.0 if level else down if angle > 0 else -down
        self.x = 20.0 if side == "left" else 138.0
        self.ball_y = top + 8 + offset - 2
        if not self.quirks:
            self.ball_y = min(max(self.ball_y, 34.0), 190.0)

    def offset(self, side: str, x0: float, y0: float) -> float:
        """The ball's centre less the bat's where they touch."""
        front = x0 if side == "left" or self.quirks else x0 + 2
        duration = (FACE[side] - front) / self.vx
        if self.quirks:
            return y0 - duration * self.vy + 2 - (self.y[side] + 8)
        offset = y0 + max(duration, 0.0) * self.vy + 2 - (self.y[side] + 8)
        return min(max(offset, -10.0), 10.0)


def corners(way: tuple[float, float, float, float]) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """From where to where each corner of the ball goes, exactly."""
    x0, y0, x1, y1 = map(Fraction, way)
    return [(x0 + dx, y0 + dy, x1 + dx, y1 + dy) for dx in (0, 2) for dy in (0, 4)]


def crosses_upright(way: tuple[float, float, float, float], x: int, top: float, end: float) -> bool:
    """Whether a corner's path meets the vertical edge at x."""
    for x0, y0, x1, y1 in corners(way):
        if min(x0, x1) <= x <= max(x0, x1):
            y = y0 + (x - x0) / (x1 - x0) * (y1 - y0)
            if Fraction(top) <= y <= Fraction(end):
                return True
    return False


def crosses_level(way: tuple[float, float, float, float], y: float, left: int, right: int) -> bool:
    """Whether a corner's path meets the horizontal edge at y."""
    for x0, y0, x1, y1 in corners(way):
        if min(y0, y1) <= Fraction(y) <= max(y0, y1):
            x = x0 + (Fraction(y) - y0) / (y1 - y0) * (x1 - x0)
            if left <= x <= right:
                return True
    return False


def shrunk(image: np.ndarray) -> np.ndarray:
    """A grey picture by area, halves rounded up: (210, 160, 3) uint8 -> (84, 84) uint8, in whole numbers throughout.

    Cut each large row in 2, put 5 together. A small column is 40 of 21 parts of a large one.
    """
    grey = image[..., 0].astype(np.int64)  # red, green and blue are alike
    rows = grey.repeat(2, axis=0).reshape(84, 5, 160).sum(axis=1)
    white = rows.repeat(21, axis=1).reshape(84, 84, 40).sum(axis=2)
    return ((2 * white + 200) // 400).astype(np.uint8)
