"""Policies of one agent at a time."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from interplay.train import EpsilonSoftPolicy, Policy, QTablePolicy, RandomPolicy

TWO, THREE = Discrete(2), Discrete(3)


def test_only_gymnasium_spaces_are_taken():
    """L1: a plain dict fails, in the constructor and in the setters."""
    with pytest.raises(AssertionError, match="observation_space"):
        RandomPolicy(TWO, {"here": TWO})
    policy = RandomPolicy(TWO, THREE)
    with pytest.raises(AssertionError, match="action_space"):
        policy.action_space = {"go": TWO}
    policy.action_space = THREE
    assert policy.action_space == THREE


def test_the_base_class_cannot_act():
    """L1"""
    with pytest.raises(TypeError):
        Policy(TWO, THREE)


def test_a_random_policy_refuses_what_cannot_be_observed():
    """L1"""
    policy = RandomPolicy(TWO, THREE)
    assert {policy.compute_action(2) for _ in range(50)} == {0, 1}
    with pytest.raises(AssertionError, match="observation 3"):
        policy.compute_action(3)
    policy.update(0, 1, 2.0)
    policy.reset()


def test_tables_need_discrete_spaces_and_their_shape():
    """L2"""
    with pytest.raises(AssertionError, match="Ravel"):
        QTablePolicy(Box(0, 1, (1,)), THREE)
    with pytest.raises(AssertionError, match="Ravel"):
        QTablePolicy(TWO, Box(0, 1, (1,)))
    policy = QTablePolicy(TWO, THREE)
    for wrong in (np.zeros((2, 3)), [[0, 0]] * 3, None):
        with pytest.raises(AssertionError, match="q_table"):
            policy.q_table = wrong
    policy.q_table = np.eye(3)[:, :2]
    assert [policy.compute_action(obs) for obs in range(3)] == [0, 1, 0]


def test_a_table_of_its_own_is_standard_normal():
    """L2"""
    table = QTablePolicy(Discrete(100), Discrete(100), seed=3).q_table
    assert abs(table.mean()) < 0.05
    assert abs(table.std() - 1) < 0.05


def test_update_sets_one_cell():
    """L2"""
    policy = QTablePolicy(TWO, THREE, q_table=np.zeros((3, 2)))
    policy.update(1, 1, 7)
    assert policy.q_table.tolist() == [[0, 0], [0, 7], [0, 0]]


def test_spaces_may_be_counted_from_anywhere():
    policy = QTablePolicy(Discrete(2, start=5), Discrete(2, start=-1), q_table=np.zeros((2, 2)))
    policy.update(-1, 6, 1.0)
    assert policy.compute_action(-1) == 6
    assert policy.compute_action(0) == 5


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "0.5", True, None])
def test_epsilon_is_a_share(wrong):
    """L2"""
    with pytest.raises(AssertionError, match="epsilon"):
        EpsilonSoftPolicy(TWO, THREE, epsilon=wrong)


def test_epsilon_soft_policies_do_what_they_say():
    """L2: probability is 1 - e + e/n and e/n, and the actions drawn follow it."""
    table = np.array([[9.0, 8.0, 7.0, 6.0], [0.0, 3.0, 1.0, 2.0]])
    spaces = Discrete(4, start=5), Discrete(2, start=-1)
    policy = EpsilonSoftPolicy(*spaces, q_table=table, epsilon=0.4, seed=1)
    chances = [policy.probability(0, action) for action in range(5, 9)]
    assert chances == pytest.approx([0.1, 0.7, 0.1, 0.1])
    drawn = np.bincount([policy.compute_action(0) for _ in range(20_000)], minlength=9) / 20_000
    assert np.abs(drawn - [0, 0, 0, 0, 0, *chances]).max() < 0.015
