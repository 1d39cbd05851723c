"""RLlib's environments in turns: observations of the agent that acts alone, or None of the others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from gymnasium import spaces

from interplay.connect import to_aec, to_parallel
from interplay.connect.resolved import resolve_world
from interplay.core.policy import RandomPolicy
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import DynamicOrderManager

pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")

from ray.rllib.env.multi_agent_env import MultiAgentEnv

from interplay.connect.rllib import MultiAgentWrapper, multi_agent_to_simulation


class Turns(MultiAgentEnv):
    """Six turns of two players; each turn allows one choice, its number modulo 3. Both are paid in every turn."""

    def __init__(self, others="absent", where="observation"):
        super().__init__()
        self.others, self.where = others, where
        self.possible_agents = self.agents = ["x", "o"]
        board = {"board": spaces.Box(0, 20, (2,), np.float32)}
        if where == "observation":
            board["action_mask"] = spaces.Box(0, 1, (3,), np.int8)
        self.observation_spaces = dict.fromkeys(self.agents, spaces.Dict(board))
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(3))

    def reset(self, *, seed=None, options=None):
        self.turn = 0
        return self._out()

    def step(self, action_dict):
        assert action_dict == {self.agents[self.turn % 2]: self.turn % 3}
        self.turn += 1
        seen, infos = self._out()
        over = self.turn == 6
        return seen, {"x": 1.0, "o": -1.0}, {"__all__": over}, {"__all__": False}, infos

    def _out(self):
        acts, waits = self.agents[self.turn % 2], self.agents[1 - self.turn % 2]
        mask = (np.arange(3) == self.turn % 3).astype(np.int8)
        seen = {acts: {"board": np.array([self.turn, 1], np.float32)}}
        if self.where == "observation":
            seen[acts]["action_mask"] = mask
        if self.others == "None":
            seen[waits] = None
        return seen, {acts: {"action_mask": mask}} if self.where == "info" else {}


def managed(**options):
    return SimulationWorld(lambda: DynamicOrderManager(multi_agent_to_simulation(Turns(**options))), 1)


def handed(**options):
    return resolve_world(lambda: Turns(**options)).make(num_worlds=1)


@pytest.mark.parametrize("where", ["observation", "info"])
@pytest.mark.parametrize("others", ["absent", "None"])
@pytest.mark.parametrize("make", [managed, handed])
def test_one_acts_at_a_time_by_its_mask(make, others, where):
    world, player = make(others=others, where=where), RandomPolicy()
    step = world.reset()
    player.start(world, seed=0)
    for turn in range(6):
        assert step.acting[0].tolist() == [turn % 2 == 0, turn % 2 == 1]
        assert step.observation["board"][0, turn % 2].tolist() == [turn, 1]
        step = world.step(player.act(step))
    assert step.over.all()
    assert world.metrics["episode_return"].tolist() == [[6.0, -6.0]]


class Cut(MultiAgentEnv):
    """Two agents that act together for five steps; `x` is truncated alone in the second, the rest ends as `flags` say."""

    def __init__(self, terminated=False, truncated=True):
        super().__init__()
        self.possible_agents = self.agents = ["x", "o"]
        self.flags = {"__all__": terminated}, {"__all__": truncated}
        self.observation_spaces = dict.fromkeys(self.agents, spaces.Box(0, 9, (1,), np.float32))
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(2))

    def reset(self, *, seed=None, options=None):
        self.turn = 0
        return dict.fromkeys(self.agents, np.zeros(1, np.float32)), {}

    def step(self, action_dict):
        self.turn += 1
        seen = {name: np.full(1, self.turn, np.float32) for name in action_dict}
        ended, cut = self.flags if self.turn == 5 else ({"__all__": False}, {"__all__": False})
        return seen, dict.fromkeys(action_dict, 1.0), dict(ended), {**cut, "x": self.turn == 2}, {}


@pytest.mark.parametrize("adapter", [None, to_aec, to_parallel, MultiAgentWrapper])
@pytest.mark.parametrize(
    ("flags", "ends"),
    [((False, True), "truncated"), ((True, False), "terminated"), ((True, True), "terminated")],
)
def test_truncations_of_rllib_stay_truncations(flags, ends, adapter):
    def make():
        env = Cut(*flags)
        return adapter(DynamicOrderManager(multi_agent_to_simulation(env))) if adapter else env

    world = resolve_world(make).make(num_worlds=1, seed=0, first_world=0)
    step, found = world.reset(), []
    while not step.over.all():
        step = world.step(np.zeros((1, 2), np.int64))
        found.append((step.terminated[0].tolist(), step.truncated[0].tolist()))
    last = ([False, True], [False, False])
    ended = [step for step in found if step != ([False, False], [False, False])]
    assert ended == [([False, False], [True, False]), last if ends == "terminated" else last[::-1]]
    # An `AECEnv` steps one agent after the other: two turns in each of the first two steps, then `o` alone.
    assert len(found) == (2 * 2 + 3 if adapter is to_aec else 5)


def test_an_agent_that_is_cut_alone_is_named_and_the_rest_is_cut_together():
    env = MultiAgentWrapper(DynamicOrderManager(multi_agent_to_simulation(Cut())))
    env.reset(seed=1)
    steps = [env.step(dict.fromkeys(names, 0))[2:4] for names in ("xo", "xo", "o", "o", "o")]
    assert steps[1] == ({"x": False, "o": False, "__all__": False}, {"x": True, "__all__": False})
    assert steps[2] == ({"o": False, "__all__": False}, {"__all__": False})
    assert steps[4] == ({"o": False, "__all__": False}, {"__all__": True})


class Telling(Turns):
    """Declares a number of its infos: the turn, for the acting agent."""

    metadata: ClassVar = {"metrics": {"turn": "last"}}

    def _out(self):
        seen, infos = super()._out()
        return seen, {
            self.agents[self.turn % 2]: {**infos.get(self.agents[self.turn % 2], {}), "turn": self.turn}
        }


def test_numbers_that_an_environment_names_beforehand_are_its_metrics():
    world = SimulationWorld(lambda: DynamicOrderManager(multi_agent_to_simulation(Telling())), 1)
    assert not world.later_metrics
    policy, timestep = RandomPolicy(), world.reset(seeds=1)
    policy.start(world, 1)
    turns = [world.metrics["turn"][0].tolist()]
    while not timestep.over.all():
        timestep = world.step(policy.act(timestep))
        turns.append(world.metrics["turn"][0].tolist())
    x, o = np.array(turns[1:]).T
    assert x[1] == x[2] == 2
    assert x[3:].tolist() == [4, 4, 6]
    assert o[2:].tolist() == [3, 3, 5, 5]
