"""Games in turns, as people write them: each books its rewards in another way."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv


class Rounds(AECEnv):
    """Three players say 0 to 4 in turn; at a round's end ann loses 1, bob earns what it said, cat a quarter.

    `book` says how rewards are booked. bob's life ends with the second round, and it is paid 1 in each round of four after it
    until the loop steps it with None: with ``"late"`` that is at the game's end.
    """

    metadata = {"name": "rounds"}  # noqa: RUF012 - as PettingZoo has it
    books = ("tidy", "cumulative", "standing", "replaced", "at reset", "late")
    wrong = {"never accumulated": 3, "accumulated twice": 3, "never cleared": 6}  # noqa: RUF012 - the first wrong step

    def __init__(self, book="tidy"):
        super().__init__()
        self.book, self.possible_agents, self.render_mode = book, ["ann", "bob", "cat"], None

    def observation_space(self, agent):
        return spaces.Box(0, 20, (1,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(5)

    def observe(self, agent):
        return np.array([self.turn], np.float32)

    def reset(self, seed=None, options=None):
        self.agents, self.turn, self.said = list(self.possible_agents), 0, {}
        self.agent_selection = "ann"
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 7.0 if self.book == "at reset" else 0.0)
        self.terminations, self.truncations = (
            dict.fromkeys(self.agents, False),
            dict.fromkeys(self.agents, False),
        )
        self.infos = {agent: {} for agent in self.agents}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if self.book not in ("never cleared", "replaced"):
            self._cumulative_rewards[agent] = 0.0
        self.said[agent] = action
        self.turn += 1
        ended = self.turn in (3, 6, 8, 10)
        paid = (
            {"ann": -1.0, "bob": float(self.said["bob"]), "cat": 0.25}
            if ended
            else dict.fromkeys(["ann", "bob", "cat"], 0.0)
        )
        self._book({name: much for name, much in paid.items() if name in self.agents}, ended)
        self._end()

    def _book(self, paid, ended):
        if self.book == "cumulative":
            for name, much in paid.items():
                self._cumulative_rewards[name] += much
        elif self.book == "standing":
            if ended:
                self.rewards = paid
                self._accumulate_rewards()
        elif self.book == "replaced":  # as PettingZoo's own parallel_to_aec
            self.rewards = paid
            if ended:
                self._cumulative_rewards = dict(paid)
            else:
                self._cumulative_rewards[self.agent_selection] = 0.0
        else:
            self.rewards = paid
            for _ in range({"never accumulated": 0, "accumulated twice": 2}.get(self.book, 1)):
                self._accumulate_rewards()

    def _end(self):
        if self.turn >= 6:
            self.terminations["bob"] = True
        if self.turn == 10:
            self.truncations = {name: name != "bob" for name in self.agents}
        alive = [name for name in self.agents if not self.terminations[name]]
        waits = self.book == "late" and self.turn < 10
        order = alive if waits else self.agents
        self.agent_selection = next((name for name in order if name > self.agent_selection), order[0])
        if self.book != "late" or self.turn == 10:
            self._deads_step_first()


def paid_by_last(env, number):
    """What PettingZoo's own loop pays each agent."""
    total = dict.fromkeys(env.possible_agents, 0.0)
    env.reset(seed=1)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        total[agent] += reward
        env.step(None if terminated or truncated else number)
    return total
