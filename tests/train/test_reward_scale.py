"""Rewards in learning: factors by name, and the running deviation of discounted returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

import interplay
from interplay.core.errors import UserError
from interplay.core.world import Kind
from interplay.train.reward_scale import LEAST, DiscountedReturns, ReturnDeviation, reward_factors
from interplay.train.samples import TrajectoryBuffer
from tests.train.runs import log_of, short_run, worker_of
from tests.train.toy_worlds import Corridor


def filled(rng: np.random.Generator, steps: int, shape: tuple[int, int]) -> TrajectoryBuffer:
    buffer = TrajectoryBuffer(2, steps, shape)  # what lies before the last rollout was counted before
    whole = (2 + steps, *shape)
    buffer.reward[:] = rng.normal(3.0, [1.0, 1000.0, 5.0], whole)
    buffer.acting[:] = rng.random(whole) < 0.7
    buffer.ended[:] = rng.random(whole) < 0.1
    return buffer


def returns_by_hand(
    buffers: list[TrajectoryBuffer], learnt: np.ndarray, slot: int, gamma: float, by_decision: bool
) -> np.ndarray:
    """The discounted returns of a slot in the steps that count, over all worlds."""
    found = []
    for world in range(buffers[0].reward.shape[1]):
        rewards: list[float] = []  # of the life so far, each discounted to the present step
        for buffer in buffers:
            for t in range(2, 2 + buffer.steps):
                rewards.append(float(buffer.reward[t, world, slot]))
                if learnt[t, world, slot]:
                    found.append(sum(rewards))
                if buffer.acting[t, world, slot] or not by_decision:
                    rewards = [gamma * reward for reward in rewards]
                if buffer.ended[t, world, slot]:
                    rewards = []
    return np.array(found)


@pytest.mark.parametrize("by_decision", [False, True])
@pytest.mark.parametrize("by", ["kind", "agent"])
def test_the_running_deviation_is_that_of_all_returns(by: Any, by_decision: bool) -> None:
    rng, gamma = np.random.default_rng(5), 0.9
    buffers = [filled(rng, steps=40, shape=(6, 3)) for _ in range(3)]
    box = spaces.Dict(seen=spaces.Box(0, 1, (1,), np.float32))
    kinds = [Kind("a", (0, 2), box, box), Kind("b", (1,), box, box)]
    running = ReturnDeviation(by, kinds, ["x", "y", "z"])
    carried, learnt = DiscountedReturns((6, 3), gamma, by_decision), rng.random((42, 6, 3)) < 0.5
    for buffer in buffers:
        running.add(carried.sums(buffer, learnt))
    each = [returns_by_hand(buffers, learnt, slot, gamma, by_decision) for slot in range(3)]
    groups = [np.concatenate([each[0], each[2]]), each[1]] if by == "kind" else each
    assert running.divisors == pytest.approx([max(g.std(), LEAST * abs(g.mean())) for g in groups], rel=1e-4)
    of_agents = running.divisors[[0, 1, 0]] if by == "kind" else running.divisors
    assert running.of_agents().tolist() == of_agents.tolist()


def test_returns_that_never_vary_are_divided_by_a_tenth_and_nothing_by_one() -> None:
    running = ReturnDeviation("agent", [], ["paid", "fined", "unpaid", "absent"])
    five, minus = [4.0, 20.0, 100.0], [4.0, -20.0, 100.0]  # 5, 5, 5, 5
    running.add(np.array([five, minus, [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert running.divisors.tolist() == [0.5, 0.5, 1.0, 1.0]


class Signs(ParallelEnv):
    """The boss repeats a sign and the clerk reverses it; the boss's rewards are a thousand times larger."""

    metadata = {"name": "signs", "metrics": {"right": "mean"}}  # noqa: RUF012
    possible_agents = ["boss", "clerk"]  # noqa: RUF012

    def observation_space(self, agent: str) -> spaces.Space:
        return spaces.Box(-1, 1, (2,), np.float32)

    def action_space(self, agent: str) -> spaces.Space:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.rng, self.t, self.agents = np.random.default_rng(seed), 0, list(self.possible_agents)
        return self._draw(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self.t += 1
        right = {
            "boss": self.signs[0] == 2 * actions["boss"] - 1,
            "clerk": self.signs[1] == 1 - 2 * actions["clerk"],
        }
        rewards = {"boss": 1000.0 * right["boss"], "clerk": 1.0 * right["clerk"]}
        infos = {agent: {"right": float(right[agent])} for agent in right}
        over, going = dict.fromkeys(right, self.t == 8), dict.fromkeys(right, False)
        self.agents = [] if self.t == 8 else self.agents
        return self._draw(), rewards, going, over, infos

    def _draw(self) -> dict[str, np.ndarray]:
        self.signs = self.rng.choice([-1, 1], 2)
        pairs = zip(self.possible_agents, self.signs, (1, -1), strict=True)
        return {agent: np.array([sign, me], np.float32) for agent, sign, me in pairs}


class OnePaid(Corridor):
    """Rewards of the first walker alone."""

    def _step(self, action: Any) -> Any:
        super()._step(action)
        self.state.reward[:, 1] = 0.0
        return self._read()


def test_returns_of_opponents_do_not_count() -> None:
    """Without a discount a return is a reward, so the learner's divided rewards have deviation 1."""
    settings = short_run(
        "tests.train.test_reward_scale:OnePaid",
        sides={"by": "seat"},
        opponents={"walker_1": "random"},
        ppo={"normalise_reward": "kind", "gamma": 0.0},
    )
    worker = worker_of(settings, OnePaid)
    worker.play()
    own = [shard.collector.buffer for shard in worker.shards]
    rewards = np.concatenate([buffer.reward[:, :, 0][buffer.acting[:, :, 0]] for buffer in own])
    assert rewards.std() == pytest.approx(1.0, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ppo", "learns"),
    [
        ({}, False),
        ({"normalise_reward": "agent"}, True),
        ({"reward_scale": {"boss": 0.001}}, True),
    ],
)
def test_small_rewards_beside_large_ones(tmp_path: Path, ppo: dict[str, Any], learns: bool) -> None:
    run = interplay.train(
        Signs,
        tmp_path / "run",
        steps=10**9,
        workers=1,
        num_worlds=8,
        network={"kind": "mlp", "hidden": [32]},
        ppo={"rollout": 64, "learning_rate": 3e-3, "minibatch": 128} | ppo,
        train={"quiet": True, "writers": [], "max_updates": 25},
        record={"every": 0},
    )
    right = run.evaluate(episodes=50, greedy=True)["right"].mean(axis=0)
    assert right[0] > 0.95  # the boss
    assert (right[1] > 0.95) == learns
    paid = [line["episode_return"] for line in log_of(tmp_path / "run") if "episode_return" in line]
    assert max(paid) > 1000.0  # metrics keep the environment's rewards


def test_patterns_that_fit_nobody_are_refused() -> None:
    assert reward_factors(0.5, ["a", "b"]).tolist() == [0.5, 0.5]
    with pytest.raises(UserError):
        reward_factors({"bos": 0.1}, ["boss", "clerk"])
