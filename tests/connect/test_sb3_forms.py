"""Choices of every form as SB3 takes them: from 0, on one axis."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError

pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")

from stable_baselines3 import PPO

from interplay.connect.sb3 import SB3VecEnv

TABLE = spaces.MultiDiscrete([[2, 3], [2, 2]], start=[[1, 1], [-1, 0]])


class Forms(ParallelEnv):
    """Two players, of which bob leaves after two of three steps; what they do is written down."""

    metadata = {"name": "forms"}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, acts):
        self.possible_agents, self.acts, self.log = ["ann", "bob"], acts, []

    def observation_space(self, agent):
        flags = spaces.MultiBinary((2, 2))
        return spaces.Dict(
            dice=spaces.Discrete(3, start=4), table=TABLE, flags=flags, far=spaces.Box(0, 1, (), np.float32)
        )

    def action_space(self, agent):
        return self.acts

    def reset(self, seed=None, options=None):
        self.t, self.agents = 0, list(self.possible_agents)
        return self._see(self.agents), {}

    def step(self, actions):
        assert all(self.acts.contains(action) for action in actions.values())
        self.log.append(np.asarray(actions["ann"]).tolist())
        self.t += 1
        told = self.agents
        self.agents = [] if self.t == 3 else ["ann"] if self.t == 2 else told
        ends = {agent: agent not in self.agents for agent in told}
        return self._see(told), dict.fromkeys(told, 1.0), ends, {}, {}

    def _see(self, agents):
        seen = {"dice": 6, "table": np.array([[2, 3], [0, 1]]), "flags": np.eye(2, dtype=np.int8), "far": 0.5}
        return dict.fromkeys(agents, seen)


def made(acts):
    world = ParallelEnvWorld(lambda: Forms(acts), 2)
    return SB3VecEnv(world), world._pool.environment(0)


@pytest.mark.parametrize(
    ("acts", "offered", "given", "meant"),
    [
        (spaces.Discrete(3, start=2), spaces.Discrete(3), 2, 4),
        (spaces.MultiDiscrete([3, 2], start=[1, -1]), spaces.MultiDiscrete([3, 2]), [2, 0], [3, -1]),
        (TABLE, spaces.MultiDiscrete([2, 3, 2, 2]), [1, 2, 0, 1], [[2, 3], [-1, 1]]),
        (spaces.MultiBinary((2, 2)), spaces.MultiDiscrete([2] * 4), [1, 0, 0, 1], [[1, 0], [0, 1]]),
        (spaces.Box(-1, 2, (2,), np.int64), spaces.MultiDiscrete([4, 4]), [0, 3], [-1, 2]),
        (spaces.Box(0, 5000, (1,), np.int64), spaces.Discrete(5001), 4321, [4321]),
    ],
)
def test_actions_are_offered_from_0_on_one_axis_and_reach_the_world_as_meant(acts, offered, given, meant):
    env, inner = made(acts)
    env.reset()
    assert env.action_space == offered
    env.step(np.array([given] * 4))
    assert inner.log == [meant]


def test_observations_are_counted_from_0_on_one_axis():
    env, _ = made(spaces.Discrete(2))
    seen = env.reset()
    assert {name: seen[name][0].tolist() for name in ("dice", "table", "flags")} == {
        "dice": 2,
        "table": [1, 2, 1, 1],
        "flags": [1, 0, 0, 1],
    }
    for _ in range(3):
        seen, _, done, infos = env.step(np.zeros(4, int))
        for name, rows in seen.items():
            assert all(env.observation_space[name].contains(row) for row in rows), (
                "rows of absent agents, too"
            )
    assert done.all()
    assert infos[0]["terminal_observation"]["dice"] == 2


def test_ppo_trains_on_such_forms():
    env, _ = made(TABLE)
    model = PPO("MultiInputPolicy", env, n_steps=8, batch_size=16, n_epochs=1, device="cpu").learn(32)
    assert model.num_timesteps == 32


def test_whole_numbers_without_bounds_are_refused():
    endless = spaces.Box(0, 9, (1,), np.int64)
    endless.bounded_above[:] = False
    with pytest.raises(UserError, match="bounds"):
        made(endless)
