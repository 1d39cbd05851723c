"""RLlib's own check of environments, over every report of whole episodes, and mixed ends."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.utils.env import ParallelEnv

pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")

from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from bench.rllib_checks import check_report, episode
from interplay.connect.pettingzoo import WorldEnv
from interplay.connect.rllib import MultiAgentWrapper, WorldMultiAgentEnv, world_to_rllib
from interplay.core.errors import UserError
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from tests.connect.foreign_envs import Market
from tests.connect.relay import Relay
from tests.connect.toy_simulations import Strict, StrictInOrder
from tests.connect.toys import Line

LIVES = {"a": 2, "b": 5, "c": 3}


def relay(lives):
    return WorldMultiAgentEnv(WorldEnv(Relay(1, story=("oo*oooox", "-ooxoo*o", "--oxoo-o")), lives=lives))


ENVIRONMENTS = {
    "a world whose dead stay": lambda: WorldMultiAgentEnv(WorldEnv(Line(1))),
    "a world whose dead leave": lambda: WorldMultiAgentEnv(WorldEnv(Line(1, agents=5, leave=True))),
    "a registered world": lambda: world_to_rllib("simulation/multi-corridor-turns"),
    "a stranger's environment": lambda: WorldMultiAgentEnv(Market()),
    "a stranger's who says no goodbye": lambda: WorldMultiAgentEnv(Market(silent=True)),
    "lives": lambda: relay(9),
    "lives, cut": lambda: relay(3),
    "a simulation": lambda: MultiAgentWrapper(AllStepManager(Strict(LIVES))),
    "a simulation, cut": lambda: MultiAgentWrapper(AllStepManager(Strict(LIVES), time_limit=4)),
    "a simulation in turns": lambda: MultiAgentWrapper(TurnBasedManager(Strict(LIVES))),
    "a simulation in its own order": lambda: MultiAgentWrapper(
        DynamicOrderManager(StrictInOrder(LIVES, [["b"], ["a", "c"]]))
    ),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_everyone_of_a_report_is_in_agents(name):
    env = ENVIRONMENTS[name]()
    check_multiagent_environments(env)
    env.action_space.seed(0)
    left, reports = 0, 0

    def check(env, told):
        nonlocal left, reports
        check_report(env, told)
        ended = {agent for flags in told[2:4] for agent in flags if flags[agent]} - {"__all__"}
        left += bool(ended) and not (told[2]["__all__"] or told[3]["__all__"])
        reports += 1

    for seed in range(8):
        episode(env, seed, 100, check)
    assert reports > 8
    if name not in ("a world whose dead stay", "lives, cut", "a stranger's who says no goodbye"):
        assert left, "somebody left in the middle of an episode"


def test_whoever_ended_is_gone_in_the_next_report():
    env = MultiAgentWrapper(AllStepManager(Strict({"a": 1, "b": 3})))
    env.reset()
    env.step({"a": 0, "b": 0})
    assert env.agents == ["a", "b"]
    env.step({"b": 0})
    assert env.agents == ["b"]


class Half(ParallelEnv):
    """In the last step some agents terminate and the others are truncated; `ends` gives agents and steps."""

    metadata = {"name": "half"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, ends):
        self.ends = ends  # agent -> (step, "terminated" or "truncated")
        self.possible_agents = list(ends)

    def observation_space(self, agent):
        return spaces.Discrete(9)

    def action_space(self, agent):
        return spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.clock, self.agents = 0, list(self.possible_agents)
        return dict.fromkeys(self.agents, np.int64(0)), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.clock += 1
        told = list(self.agents)
        flags = [
            {agent: self.ends[agent] == (self.clock, how) for agent in told}
            for how in ("terminated", "truncated")
        ]
        self.agents = [agent for agent in told if self.ends[agent][0] > self.clock]
        seen = dict.fromkeys(told, np.int64(self.clock))
        return seen, dict.fromkeys(told, 1.0), *flags, {agent: {} for agent in told}


@pytest.mark.parametrize(
    ("ends", "how"),
    [
        ({"a": (2, "terminated"), "b": (2, "terminated")}, "terminated"),
        ({"a": (2, "truncated"), "b": (2, "truncated")}, "truncated"),
        ({"a": (2, "terminated"), "b": (2, "truncated")}, "truncated"),
        ({"a": (2, "truncated"), "b": (2, "terminated")}, "truncated"),
        ({"a": (1, "truncated"), "b": (2, "terminated")}, "terminated"),
        ({"a": (1, "terminated"), "b": (2, "truncated")}, "truncated"),
    ],
)
def test_mixed_ends(ends, how):
    """The episode was cut if anybody was cut in its last step: RLlib bootstraps then, and each agent's own flags stay true."""
    env = WorldMultiAgentEnv(Half(ends))
    env.reset()
    alive = list(ends)
    for step in (1, 2):
        _, _, terminateds, truncateds, _ = env.step(dict.fromkeys(alive, 0))
        for agent in alive:
            assert terminateds[agent] == (ends[agent] == (step, "terminated"))
            assert truncateds[agent] == (ends[agent] == (step, "truncated") and not truncateds["__all__"])
        over = step == 2
        assert (terminateds["__all__"], truncateds["__all__"]) == (
            over and how == "terminated",
            over and how == "truncated",
        )
        alive = [agent for agent in alive if ends[agent][0] > step]


def test_mixed_ends_of_a_simulation():
    """A time limit truncates unfinished agents; one that finishes in that very step is terminated."""
    env = MultiAgentWrapper(AllStepManager(Strict({"a": 2, "b": 9}), time_limit=2))
    env.reset()
    env.step({"a": 0, "b": 0})
    _, _, terminateds, truncateds, _ = env.step({"a": 0, "b": 0})
    assert terminateds == {"a": True, "b": False, "__all__": False}
    assert truncateds == {"__all__": True}  # no agent by itself


@pytest.mark.parametrize(
    ("make", "known"),
    [
        (lambda: WorldMultiAgentEnv(WorldEnv(Line(1))), "agent_0"),
        (
            lambda: MultiAgentWrapper(AllStepManager(Strict({"a": 3}, actions=spaces.Box(-1, 1, (2,), int)))),
            "a",
        ),
        (lambda: relay(3), "life_0"),
    ],
)
def test_what_strangers_do_wrong_is_one_line(make, known):
    env = make()
    env.reset(seed=1)
    for wrong, words in (
        (None, "actions None are no dict"),
        ({"nobody": 0}, "'nobody'"),
        ({known: "up"}, "is not in|integers"),
        ({known: np.full(7, 9)}, "is not in|shape"),
        ({known: [0.5, 0.5]}, "is not in|integers|expected"),
        ({known: -1}, "is not in|shape|outside"),
    ):
        with pytest.raises((UserError, AssertionError), match=words) as error:
            env.step(wrong)
        assert "\n" not in str(error.value)
