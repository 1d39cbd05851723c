"""PettingZoo environments as strangers write them: nested spaces, early leavers, masks, and some that fail."""

from __future__ import annotations

import functools
import os

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

from interplay.connect.pettingzoo import WorldEnv
from tests.connect.toys import Hunt, Line


@functools.cache
def one_market():
    """The same environment at each call."""
    return Market()


class Market(ParallelEnv):
    """Two sellers and a buyer, 12 days.

    seller_1 leaves on a day of its own, with a flag or (`silent`) without; a latecomer joins on day 3; the buyer's
    observation is nested. `fail` names what goes wrong on day 5: ``"raise"``, ``"exit"`` or ``"shape"``.
    """

    metadata = {"name": "market"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, silent=False, mask="", fail="", fail_seed=-1):
        self.silent, self.mask, self.fail, self.fail_seed = silent, mask, fail, fail_seed
        self.possible_agents = ["seller_0", "buyer_0", "seller_1", "seller_2"]
        price = spaces.Dict({"price": spaces.Box(0, 10, (), np.float64)})
        if mask == "observation":
            price = spaces.Dict({**price.spaces, "action_mask": spaces.Box(0, 1, (3,), np.int8)})
        buyer = spaces.Dict(
            {
                "offers": spaces.Tuple([spaces.Box(0, 10, (3,), np.float32), spaces.Discrete(13)]),
                "mood": spaces.MultiBinary(2),
            }
        )
        wish = spaces.Dict(
            {"spend": spaces.Box(-1, 1, (2,), np.float32), "from": spaces.Dict({"who": spaces.Discrete(3)})}
        )
        self.observation_spaces = {a: buyer if a == "buyer_0" else price for a in self.possible_agents}
        self.action_spaces = {a: wish if a == "buyer_0" else spaces.Discrete(3) for a in self.possible_agents}

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.day, self.prices = 0, self.rng.uniform(0, 10, 3)
        self.leaves = int(self.rng.integers(4, 9))
        self.agents = ["seller_0", "buyer_0", "seller_1"]
        return self._see(self.agents), self._infos(self.agents)

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.day += 1
        if self.day == 5 and self.fail and self.fail_seed in (-1, self.seed):
            if self.fail == "exit":
                os._exit(7)
            if self.fail == "raise":
                raise ZeroDivisionError("no\nmoney")
        spend = actions["buyer_0"]["spend"]
        assert spend.dtype == np.float32
        who = actions["buyer_0"]["from"]["who"]
        for i, name in enumerate(("seller_0", "seller_1", "seller_2")):
            self.prices[i] = np.clip(self.prices[i] + actions.get(name, 1) - 1 + self.rng.normal(), 0, 10)
        told = list(self.agents)
        rewards = {a: float(self.prices[int(who)]) if a == "buyer_0" else float(spend[0]) for a in told}
        terminations, truncations = dict.fromkeys(told, False), dict.fromkeys(told, self.day == 12)
        if self.day == 3:
            self.agents.append("seller_2")
        if self.day == self.leaves:
            self.agents.remove("seller_1")
            if self.silent:
                for named in (rewards, terminations, truncations):
                    del named["seller_1"]
                told.remove("seller_1")
            else:
                terminations["seller_1"] = True
        told += [a for a in self.agents if a not in told]
        if self.day == 12:
            self.agents = []
        return self._see(told), rewards, terminations, truncations, self._infos(told)

    def _see(self, agents):
        seen = {}
        for agent in agents:
            if agent == "buyer_0":
                offers = self.prices.astype(np.float32)
                seen[agent] = {"offers": (offers, self.day), "mood": np.array([self.day % 2, 1], np.int8)}
            else:
                price = self.prices[int(agent[-1])]
                seen[agent] = {"price": np.zeros(2) if self.fail == "shape" and self.day == 5 else price}
                if self.mask == "observation":
                    seen[agent]["action_mask"] = self._legal(agent)
        return seen

    def _legal(self, agent):
        price = self.prices[int(agent[-1])]
        return np.array([price > 2, True, price < 8], np.int8)

    def _infos(self, agents):
        return {
            a: {"action_mask": self._legal(a)} if self.mask == "info" and a != "buyer_0" else {}
            for a in agents
        }

    def close(self):
        self.agents = []


class Touring(ParallelEnv):
    """Another cast of its three players in every episode of two steps; `show_all` shows the absent ones, too."""

    metadata = {"name": "touring"}  # noqa: RUF012 - as PettingZoo has it
    casts = (["ann", "bob"], ["cat"], ["bob", "cat"])

    def __init__(self, casts=casts, show_all=False):
        self.possible_agents = ["ann", "bob", "cat"]
        self.plan, self.show_all, self.episode = casts, show_all, -1

    def observation_space(self, agent):
        return spaces.Discrete(9)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.episode += 1
        self.clock, self.agents = 0, list(self.plan[self.episode % len(self.plan)])
        return self._see(self.agents), {agent: {} for agent in self._shown(self.agents)}

    def step(self, actions):
        assert list(actions) == self.agents
        self.clock += 1
        told, over = list(self.agents), self.clock == 2
        if over:
            self.agents = []
        ends = [dict.fromkeys(told, False), dict.fromkeys(told, over)]
        return self._see(told), dict.fromkeys(told, 1.0), *ends, {agent: {} for agent in self._shown(told)}

    def _shown(self, agents):
        return self.possible_agents if self.show_all else agents

    def _see(self, agents):
        return dict.fromkeys(self._shown(agents), self.clock)


def line(**options) -> WorldEnv:
    """Our own world, as a stranger's environment."""
    return WorldEnv(Line(1, **options))


def hunt():
    return WorldEnv(Hunt(1))


def nothing():
    return object()


class Graphs(Market):
    def __init__(self):
        super().__init__()
        self.observation_spaces["buyer_0"] = spaces.Text(10)


def broken():
    raise RuntimeError("no licence\nfound")


class Leaving(ParallelEnv):
    """Two players; ann ends in her first step, and stays listed or not. Bob stays for three steps."""

    metadata = {"name": "leaving"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, terminated=False, truncated=False, listed=True, log=""):
        self.possible_agents = ["ann", "bob"]
        self.ends, self.listed, self.log = (terminated, truncated), listed, log

    def observation_space(self, agent):
        return spaces.Discrete(9)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.clock, self.agents = 0, ["ann", "bob"]
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions):
        told, self.clock = list(self.agents), self.clock + 1
        ends = [{agent: agent == "ann" and end for agent in told} for end in self.ends]
        self.agents = [agent for agent in told if agent == "bob" or self.listed]
        if self.clock == 3:
            ends[0]["bob"], self.agents = True, []
        infos = {agent: {} for agent in told}
        return dict.fromkeys(told, self.clock), dict.fromkeys(told, 1.0), *ends, infos

    def close(self):
        with open(self.log, "a") as file:
            file.write("closed\n")
