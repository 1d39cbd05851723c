"""The state that an environment offers is its world's: in turns, nested, and refused where it is none."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.train.views import WorldView

PLACE = spaces.Box(0, 9, (2, 2), np.int16)
NESTED = spaces.Dict(kind=spaces.Discrete(3), place=spaces.Box(0, 9, (2,), np.float64))


class Counter(ParallelEnv):
    """Two agents see nothing of the count that the state shows."""

    def __init__(self, space=PLACE, show=lambda t: np.full((2, 2), t)):
        self.metadata = {"name": "counter"}
        self.possible_agents, self.state_space, self.show = ["a", "b"], space, show

    def observation_space(self, agent):
        return spaces.Box(0, 1, (1,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def state(self):
        return self.show(self.t)

    def reset(self, seed=None, options=None):
        self.t, self.agents = 0, list(self.possible_agents)
        return dict.fromkeys(self.agents, np.zeros(1, np.float32)), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.t += 1
        names = self.agents
        self.agents = [] if self.t == 3 else names
        ended = dict.fromkeys(names, self.t == 3)
        seen, off = dict.fromkeys(names, np.zeros(1, np.float32)), dict.fromkeys(names, False)
        return seen, dict.fromkeys(names, 0.0), ended, off, {agent: {} for agent in names}


class InTurns(AECEnv):
    def __init__(self):
        super().__init__()
        self.metadata = {"name": "in_turns"}
        self.possible_agents, self.state_space = ["a", "b"], spaces.Box(0, 9, (1,), np.float32)

    def observation_space(self, agent):
        return spaces.Box(0, 1, (1,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def observe(self, agent):
        return np.zeros(1, np.float32)

    def state(self):
        return np.array([self.turn], np.float32)

    def reset(self, seed=None, options=None):
        self.turn, self.agents, self.agent_selection = 0, ["a", "b"], "a"
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}

    def step(self, action):
        self.turn += 1
        self.agent_selection = "b" if self.agent_selection == "a" else "a"


def stepped(make, steps):
    world = ParallelEnvWorld(make, num_worlds=2)
    world.reset()
    for _ in range(steps):
        world.step(np.zeros((2, 2), np.int64))
    return world


def test_a_state_is_a_row_of_its_numbers():
    world = stepped(Counter, 2)
    assert world.state_space == spaces.Box(0, 9, (4,), np.float32)
    assert world.global_state().tolist() == [[2.0] * 4] * 2
    assert world.global_state().dtype == np.float32
    view = WorldView(world)
    assert view.of(world, world.timestep.acting)[1].tolist() == [[2, 2, 2, 2, 1, 0], [2, 2, 2, 2, 0, 1]]
    world.step(np.zeros((2, 2), np.int64))
    assert world.timestep.over.all()
    assert world.global_state()[0, 0] == 3  # of the last state, before the reset
    world.reset(np.array([True, False]))
    assert world.global_state()[:, 0].tolist() == [0, 3]


def test_a_nested_state_is_flat_with_choices_one_hot():
    world = stepped(lambda: Counter(NESTED, lambda t: {"kind": 1, "place": np.array([t, 5.0])}), 1)
    assert world.global_state()[0].tolist() == [0, 1, 0, 1, 5]
    assert world.state_space.contains(world.global_state()[0])


def test_a_state_in_turns_is_read():
    assert stepped(InTurns, 3).global_state().tolist() == [[3.0], [3.0]]


class Unwritten(Counter):
    state = ParallelEnv.state  # PettingZoo's own, which is none


def test_without_a_written_state_there_is_none():
    assert stepped(Unwritten, 0).state_space is None
