"""A PettingZoo environment that paints itself, and can be made to fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv


class Painter(ParallelEnv):
    """Two agents, ten steps; the picture is as red as the step is late.

    `fail` says what goes wrong in step `at`: ``"step"`` or ``"shape"``; ``"reset"`` fails at once, ``"paint"`` paints no picture.
    """

    metadata = {"name": "painter", "render_modes": ["human", "rgb_array"]}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, fail="", at=3, render_mode=None):
        self.possible_agents = ["left", "right"]
        self.fail, self.at, self.render_mode = fail, at, render_mode

    def observation_space(self, agent):
        return spaces.Box(-1, 1, (3,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.t, self.agents = 0, list(self.possible_agents)
        if self.fail == "reset":
            raise KeyError("nothing to reset")
        return self._see(), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.t += 1
        told, over = list(self.agents), self.t == 10
        rewards = {agent: self._earned(agent) for agent in told}
        seen = self._see()
        self.agents = [] if over else told
        no, infos = dict.fromkeys(told, False), {agent: {} for agent in told}
        return seen, rewards, dict.fromkeys(told, over), no, infos

    def _earned(self, agent):
        if self.fail == "step" and self.t == self.at and agent == "right":
            raise ZeroDivisionError("no\npaint")
        return 1.0

    def _see(self):
        size = 4 if self.fail == "shape" and self.t == self.at else 3
        return {agent: np.full(size, self.t / 10, np.float32) for agent in self.agents}

    def render(self):
        if self.render_mode != "rgb_array":
            return None
        picture = np.zeros((40, 60, 3), np.uint8)
        picture[:, :, 0] = 20 * self.t
        return picture[0] if self.fail == "paint" else picture


LINE = next(
    number
    for number, line in enumerate(Path(__file__).read_text().splitlines(), 1)
    if 'raise ZeroDivisionError("no' in line
)  # where it fails


def make_painter(render_mode=None, **own) -> ParallelEnv:
    """By a function, as PettingZoo's own environments are made."""
    return Painter(render_mode=render_mode, **own)
