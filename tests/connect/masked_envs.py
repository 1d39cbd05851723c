"""An environment with masks of any form, and one of each older interface."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

SEEN = spaces.Box(0, 20, (1,), np.float32)


class Masked(ParallelEnv):
    """Two players, six steps.

    Args:
        acts: an action space.
        mask: a mask, or a function of the step that gives one; None: none.
        space: of the mask, which then stands in the observation, not in infos.
        key: what the mask is called.
    """

    metadata = {"name": "masked"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, acts, mask, space=None, key="action_mask"):
        self.possible_agents, self.acts = ["ann", "bob"], acts
        self.mask, self.space, self.key = mask, space, key

    def observation_space(self, agent):
        return SEEN if self.space is None else spaces.Dict({"seen": SEEN, self.key: self.space})

    def action_space(self, agent):
        return self.acts

    def reset(self, seed=None, options=None):
        self.t, self.agents = 0, list(self.possible_agents)
        return self._out(self.agents)

    def step(self, actions):
        self.t += 1
        told, over = self.agents, self.t == 6
        if over:
            self.agents = []
        ends = dict.fromkeys(told, over), dict.fromkeys(told, False)
        seen, infos = self._out(told)
        return seen, dict.fromkeys(told, 1.0), *ends, infos

    def _out(self, agents):
        mask = self.mask(self.t) if callable(self.mask) else self.mask
        clock = np.array([self.t], np.float32)
        if self.space is not None:
            return {agent: {"seen": clock, self.key: mask} for agent in agents}, {
                agent: {} for agent in agents
            }
        info = {} if mask is None else {self.key: mask}
        return dict.fromkeys(agents, clock), {agent: dict(info) for agent in agents}


class Older(ParallelEnv):
    """Three steps of two players, with one `fault` in what its calls take, or give."""

    metadata = {"name": "older"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, fault=""):
        self.fault, self.possible_agents = fault, ["ann", "bob"]
        if fault == "no seed":
            self.reset = self._start

    def observation_space(self, agent):
        return spaces.Discrete(9)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def _start(self):
        return self.reset_()

    def reset(self, seed=None, options=None):
        return self.reset_()

    def reset_(self):
        self.clock, self.agents = 0, list(self.possible_agents)
        seen = dict.fromkeys(self.agents, 0)
        return seen if self.fault == "observations alone" else (seen, {})

    def step(self, actions):
        told, self.clock = self.agents, self.clock + 1
        over = self.clock == 3
        seen, paid = dict.fromkeys(told, self.clock), dict.fromkeys(told, 1.0)
        ends = dict.fromkeys(told, over)
        if self.fault == "four":
            return seen, paid, ends, {}
        if self.fault == "lists":
            return list(seen.values()), list(paid.values()), list(ends.values()), [False] * 2, [{}, {}]
        if self.fault == "__all__ alone":
            return seen, paid, {"__all__": over}, {"__all__": False}, {}
        if self.fault == "__all__ more":
            return seen, paid, {"ann": False, "bob": False, "__all__": over}, {}, {}
        if self.fault == "__all__ beside":
            ends["__all__"] = over
        if self.fault == "None":
            seen["bob"] = None
        return seen, paid, ends, {}, {}


class OldGym(gymnasium.Env):
    observation_space, action_space = SEEN, spaces.Discrete(3)

    def __init__(self, fault=""):
        self.fault = fault

    def reset(self, *, seed=None, options=None):
        self.t = 0
        return np.zeros(1, np.float32) if self.fault == "reset" else (np.zeros(1, np.float32), {})

    def step(self, action):
        self.t += 1
        seen = np.full(1, self.t, np.float32)
        return (
            (seen, 1.0, self.t == 5, {})
            if self.fault == "step"
            else (seen, float(action), self.t == 5, False, {})
        )


class Maskable(OldGym):
    """As sb3-contrib asks for masks: each step allows one choice, its number modulo 3."""

    def action_masks(self):
        return np.arange(3) == self.t % 3
