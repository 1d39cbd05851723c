"""A PettingZoo environment in which an agent leaves and comes back."""

from __future__ import annotations

from gymnasium import spaces
from pettingzoo import ParallelEnv


class Returning(ParallelEnv):
    """bob dies in every third step and is back in the next one; after eight steps a limit cuts both."""

    metadata = {"name": "returning"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self):
        self.possible_agents = ["ann", "bob"]

    def observation_space(self, agent):
        return spaces.Discrete(9)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.clock, self.agents = 0, ["ann", "bob"]
        return dict.fromkeys(self.agents, 0), {}

    def step(self, actions):
        told, self.clock = self.agents, self.clock + 1
        over = self.clock == 8
        dead = not over and self.clock % 3 == 0
        self.agents = [] if over else ["ann"] if dead else ["ann", "bob"]
        ends = {agent: agent == "bob" and dead for agent in told}, dict.fromkeys(told, over)
        seen = dict.fromkeys(dict.fromkeys([*told, *self.agents]), self.clock)
        return seen, dict.fromkeys(told, 1.0), *ends, {}
