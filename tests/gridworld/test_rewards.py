"""Reward components, on one world's objects and on whole boards."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.gridworld import SmartGridWorldSimulation
from interplay.gridworld.actors import ActionResult
from interplay.gridworld.rewards import (
    AttackReward,
    MoveReward,
    RewardBaseComponent,
    StepPenalty,
    TargetReward,
)
from tests.gridworld.fighters import Fighter, Soldier, at, declared, settle, someone


class Pair:
    """Two fighters and a stone beside them, with one reward component."""

    def __init__(self, reward, **kwargs):
        self.a, self.b = (
            Fighter(id=n, encoding=i + 1, initial_position=at(0, i)) for i, n in enumerate("ab")
        )
        self.stone = someone("stone", 3, 0, 2)
        self.reward = reward(**settle([self.a, self.b, self.stone]), **kwargs)

    def result(self, *args, key="move", agent=None):
        self.reward.collect(agent or self.a, key, ActionResult(*args))
        return self.earned

    @property
    def earned(self):
        """What each has earned since the last look."""
        column = self.reward.grid._rows.reward
        values = column.tolist()
        column[:] = 0
        return values


def test_step_penalty():
    """Section 7: every learning agent that sent an action pays."""
    pair = Pair(StepPenalty, amount=0.5)
    pair.reward.end_step([pair.a, pair.stone])
    assert pair.earned == [-0.5, 0, 0]
    pair.reward.end_step([])
    assert pair.earned == [0, 0, 0]
    assert Pair(StepPenalty).reward.amount == 0.01


def test_move_reward():
    """Section 7: failed and made; what was not attempted, and other channels, count for nothing."""
    pair = Pair(MoveReward, failed=-2, made=3)
    assert pair.result(True, False) == [-2, 0, 0]
    assert pair.result(True, True) == [3, 0, 0]
    assert pair.result(False, False) == [0, 0, 0]
    assert pair.result(True, False, key="attack") == [0, 0, 0]
    assert pair.result(True, False, agent=pair.stone) == [0, 0, 0]


def test_attack_reward():
    """Section 7: kills to both sides, once for each dead agent; a hit that does not kill is worth nothing."""
    pair = Pair(AttackReward, kill=5, killed=-3, failed=-1)
    assert pair.result(True, False, (), key="attack") == [-1, 0, 0]
    assert pair.result(False, False, (), key="attack") == [0, 0, 0]
    assert pair.result(True, True, (pair.b,), key="attack") == [0, 0, 0]
    pair.b.health = 0
    assert pair.result(True, True, (pair.b, pair.b), key="attack") == [5, -3, 0]
    pair.stone.health = 0
    assert pair.result(True, True, (pair.stone, pair.b), key="attack") == [10, -3, 0]


def test_target_reward():
    """Section 7 and section 3, row 24: exactly the amount on the target, or added to the rest."""
    for exactly, worth in ((True, 4), (False, 3.5)):
        pair = Pair(TargetReward, target_mapping={"a": "stone", "b": "stone"}, amount=4, exactly=exactly)
        pair.reward.grid.overlapping = {1: {3}}
        pair.reward.pay(pair.a, -0.5)
        pair.reward.end_step([pair.a, pair.b])
        assert pair.earned == [-0.5, 0, 0]
        assert pair.reward.grid.place(pair.a, (0, 2))
        pair.reward.pay(pair.a, -0.5)
        pair.reward.end_step([pair.a, pair.b])
        assert pair.earned == [worth, 0, 0]
        pair.reward.end_step([pair.b])
        assert pair.earned == [0, 0, 0]
    for wrong in (None, {"a": "z"}, {"z": "a"}):
        with pytest.raises(AssertionError, match="TargetReward: target_mapping"):
            Pair(TargetReward, target_mapping=wrong)


def test_only_some_are_paid():
    """Section 7: `only` by id, encoding or predicate; the unpaid still cause what others earn."""
    for only in (["b"], {2}, lambda agent: agent.id == "b"):
        pair = Pair(StepPenalty, only=only, amount=1)
        pair.reward.end_step([pair.a, pair.b])
        assert pair.earned == [0, -1, 0]
        pair = Pair(AttackReward, only=only)
        pair.b.health = 0
        assert pair.result(True, True, (pair.b,), key="attack") == [0, -1, 0]
        pair = Pair(TargetReward, only=only, target_mapping={"a": "a", "b": "b"})
        pair.reward.end_step([pair.a, pair.b])
        assert pair.earned == [0, 1, 0]


class Idle(RewardBaseComponent):
    """A user's own component, which has the simulation stepped agent by agent; it pays nothing."""

    def collect(self, agent, key, result):
        pass


REWARDS = [
    ("AttackReward", {"kill": 2.5, "killed": -0.7, "failed": -0.3}),
    ("MoveReward", {"made": 0.01, "failed": -0.2}),
    ("MoveReward", {"made": 7.0, "key": "elsewhere"}),
    ("AttackReward", {"only": [1], "failed": 0.25}),
    ("StepPenalty", {"only": ["agent0", "agent3"], "amount": 0.125}),
    (
        "TargetReward",
        {"target_mapping": {"agent3": "agent0", "agent1": "agent4"}, "exactly": False, "only": [1]},
    ),
    ("TargetReward", {"target_mapping": {"agent0": "agent3"}, "amount": 2}),
    ("StepPenalty", {}),
]


def test_objects_and_boards_pay_the_same():
    """Section 7: `collect` and `end_step` pay what `collect_all` and `end_all` pay."""
    actors = ["MoveActor", ("BinaryAttackActor", {"stacked_attacks": True})]
    board, objects = declared(actors, rewards=REWARDS), declared(actors, rewards=[*REWARDS, Idle])
    assert board._is_batched
    assert not objects._is_batched
    rng, total = np.random.default_rng(0), 0.0
    for episode in range(12):
        for sim in (board, objects):
            sim.reseed(episode)
            sim.reset()
        for _ in range(15):
            actions = {
                name: a.action_space.sample() for name, a in board.agents.items() if isinstance(a, Soldier)
            }
            left = {
                name: actions[name] for name in rng.permutation(list(actions)) if board.agents[name].active
            }
            board.step(left)
            objects.step(left)
            assert dict(board.rewards) == pytest.approx(dict(objects.rewards), abs=1e-12)
            total += sum(abs(value) for value in board.rewards.values())
    assert total > 50


def test_rewards_stay_until_they_are_handed_out():
    """Section 7 (269), Y2: reading `rewards` flushes nothing, `get_reward` alone does; learning agents only."""
    sim = declared(rewards=["StepPenalty"])
    sim.reset()
    ids = [f"agent{i}" for i in range(6)]
    assert list(sim.rewards) == ids
    assert dict(sim.rewards) == dict.fromkeys(ids, 0.0)
    for _ in range(2):
        sim.step({"agent0": {"move": np.zeros(2, int), "attack": 0}})
    assert sim.rewards["agent0"] == sim.rewards["agent0"] == -0.02
    assert sim.get_reward("agent0") == -0.02
    assert sim.get_reward("agent0") == 0.0
    assert type(sim.get_reward("agent0")) is float  # C5
    sim.step({"agent1": {"move": np.zeros(2, int), "attack": 0}})
    sim.reset()
    assert set(sim.rewards.values()) == {0.0}
    with pytest.raises(KeyError):
        sim.rewards["wall"]


def test_an_agent_killed_in_the_step_pays_for_the_action_it_sent():
    """9.2: it neither attacks nor moves, but pays the entropy."""
    a, b = (
        Fighter(id=n, encoding=i + 1, initial_position=at(0, i), attack_strength=1)
        for i, n in enumerate("ab")
    )
    sim = SmartGridWorldSimulation.build_sim(
        2,
        3,
        agents={"a": a, "b": b},
        attack_mapping={1: 2, 2: 1},
        states=["PositionState", ("HealthState", {})],
        actors=["BinaryAttackActor", "MoveActor"],
        observers=["AbsolutePositionObserver"],
        rewards=["AttackReward", "MoveReward", "StepPenalty"],
    )
    sim.reset()
    right = np.array([0, 1])
    sim.step({"a": {"attack": 1, "move": right}, "b": {"attack": 1, "move": right}})
    assert (a.active, b.active) == (True, False)
    assert a.position.tolist() == [0, 1]
    assert b.position.tolist() == [0, 1]  # where it died
    assert dict(sim.rewards) == pytest.approx({"a": 0.99, "b": -1.01})
