"""The matrix games: what is shown when, and what playing at random or playing well is worth, in closed form."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import interplay
from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.registry import make_policy
from interplay.worlds.matrix.config import CLIMBING
from interplay.worlds.matrix.rules import (
    climbing_reward,
    credit_offset,
    credit_reward,
    recall_reward,
    rock_paper_scissors_reward,
)


def episodes(world_id, policy, count=2_000, **options):
    world = interplay.make_world(world_id, num_worlds=100, seed=1, **options)
    return play(world, policy, episodes=count, seed=5)


# -- recall -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0, 1, 10])
def test_a_cue_is_shown_once_and_asked_for_after_the_delay(delay):
    world = interplay.make_world("matrix/recall", num_worlds=3, delay=delay, agents=2)
    step = world.reset()
    cue = step.observation["cue"].argmax(axis=-1)
    assert (step.observation["cue"].sum(axis=-1) == 1).all()
    assert not step.observation["choose"].any()
    for _ in range(delay):
        step = world.step(cue)
        assert not step.reward.any(), "naming the cue too early is worth nothing"
        assert not step.observation["cue"].any()
        assert not step.observation["choose"].any()
    step = world.step(cue)
    assert not step.observation["cue"].any()
    assert (step.observation["choose"] == 1).all()
    assert np.isnan(world.metrics["right"]).all()
    named = cue.copy()
    named[0, 1] = (cue[0, 1] + 1) % 4
    step = world.step(named)
    assert step.reward.tolist() == [[1, 0], [1, 1], [1, 1]]
    assert world.metrics["right"].tolist() == [[1, 0], [1, 1], [1, 1]]
    assert step.terminated.all()
    assert step.over.all()


def test_in_recall_nothing_but_the_cue_tells_one_delay_from_another():
    world = interplay.make_world("matrix/recall", num_worlds=8, delay=4)
    world.reset()
    seen = [world.step(np.zeros((8, 1), int)).observation for _ in range(5)]
    between = [np.concatenate([one["cue"], one["choose"]], axis=-1) for one in seen[:4]]
    assert not np.concatenate(between).any()


def test_recall_pays_one_in_k_at_random_and_one_to_who_remembers():
    reward = [
        recall_reward(np.array([[cue]]), np.array([[a]]), np.array([True]))
        for cue in range(4)
        for a in range(4)
    ]
    assert np.mean(reward) == 1 / 4
    assert episodes("matrix/recall", make_policy("matrix/recall", "optimal"))["return"].min() == 1
    at_random = episodes("matrix/recall", RandomPolicy(), agents=3)["return"]
    assert at_random.mean() == pytest.approx(1 / 4, abs=0.03)


def test_cues_are_uniform_and_independent():
    world = interplay.make_world("matrix/recall", num_worlds=4_000, agents=2)
    world.reset()
    cue = world.state.cue
    counts = np.zeros((4, 4))
    np.add.at(counts, (cue[:, 0], cue[:, 1]), 1)
    assert counts / 4_000 == pytest.approx(1 / 16, abs=0.02)


# -- climbing -----------------------------------------------------------------------------------------


def test_the_matrix_is_the_published_one():
    pairs = np.array(list(product(range(3), range(3))))
    paid = climbing_reward(pairs)
    assert paid[:, 0].tolist() == [11, -30, 0, -30, 7, 6, 0, 0, 5]
    assert np.array_equal(paid[:, 0], paid[:, 1])


def test_climbing_at_random_pays_the_mean_of_the_matrix():
    assert np.mean(CLIMBING) == pytest.approx(-31 / 9)
    table = episodes("matrix/climbing", RandomPolicy())
    error = np.std(CLIMBING) / np.sqrt(2_000 * 10)
    assert table["payoff"].mean() == pytest.approx(-31 / 9, abs=4 * error)
    assert table["optimal"].mean() == pytest.approx(1 / 9, abs=0.02)


@pytest.mark.parametrize(("name", "payoff", "optimal"), [("optimal", 11, 1), ("cautious", 5, 0)])
def test_climbing_players(name, payoff, optimal):
    table = episodes("matrix/climbing", make_policy("matrix/climbing", name), count=100)
    assert (table["payoff"] == payoff).all()
    assert (table["optimal"] == optimal).all()
    assert (table["return"] == 10 * payoff).all()


def test_in_climbing_each_sees_what_both_chose():
    world = interplay.make_world("matrix/climbing", num_worlds=1)
    step = world.reset()
    assert step.observation["own"][0].tolist() == [[1, 0, 0, 0]] * 2
    step = world.step(np.array([[0, 2]]))
    assert step.observation["own"][0].tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert step.observation["other"][0].tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]]
    assert step.observation["round"][0].tolist() == [[np.float32(0.1)]] * 2


# -- credit -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("agents", "cues"), [(2, 2), (4, 2), (3, 3), (4, 4)])
def test_the_offset_has_mean_zero_for_all_and_for_each_ones_own_cue(agents, cues):
    every = np.array(list(product(range(cues), repeat=agents)))
    offset = credit_offset(every, cues, 3.0)
    assert offset.mean() == pytest.approx(0, abs=1e-12)
    assert offset.std() == pytest.approx(3.0)
    for agent in range(agents):
        for cue in range(cues):
            assert offset[every[:, agent] == cue].mean() == pytest.approx(0, abs=1e-12)


def test_credit_pays_the_share_of_right_names_and_the_offset():
    cue = np.array([[0, 1, 1, 0]])
    right = credit_reward(cue, cue, 2, 3.0)
    two = credit_reward(cue, np.array([[0, 1, 0, 1]]), 2, 3.0)
    assert np.ptp(right) == 0, "one reward for the team"
    assert (right - two)[0, 0] == pytest.approx(1 / 2)
    assert right[0, 0] == pytest.approx(1 + credit_offset(cue, 2, 3.0)[0])


@pytest.mark.parametrize(("name", "share", "optimal"), [("optimal", 1, 1), ("random", 1 / 2, 1 / 16)])
def test_credit_is_worth_what_is_learned(name, share, optimal):
    small = {"agents": 4, "cues": 2, "offset": 3.0}
    table = episodes("matrix/credit", make_policy("matrix/credit", name), count=4_000, **small)
    assert table["right"].mean() == pytest.approx(share, abs=0.02)
    assert table["optimal"].mean() == pytest.approx(optimal, abs=0.02)
    assert table["return"].mean() == pytest.approx(share, abs=4 * 3 / np.sqrt(4_000))
    assert table["return"].std() == pytest.approx(3.0, rel=0.1)


def test_each_round_of_credit_has_cues_of_its_own():
    world = interplay.make_world("matrix/credit", num_worlds=200, agents=4, cues=2, rounds=3)
    first = world.reset().observation["cue"].copy()
    second = world.step(np.zeros((200, 4), int)).observation["cue"]
    assert 0.4 < (first == second).all(axis=-1).mean() < 0.6


# -- rock, paper, scissors ----------------------------------------------------------------------------


def test_each_choice_beats_one_and_is_beaten_by_one():
    pairs = np.array(list(product(range(3), range(3))))
    paid = rock_paper_scissors_reward(pairs)
    assert (paid.sum(axis=1) == 0).all()
    beats = {(a, b) for (a, b), (first, _) in zip(pairs.tolist(), paid, strict=True) if first == 1}
    assert beats == {(1, 0), (2, 1), (0, 2)}  # paper rock, scissors paper, rock scissors
    assert np.array_equal(paid[:, ::-1], rock_paper_scissors_reward(pairs[:, ::-1]))


def test_against_chance_every_choice_wins_a_third_draws_a_third():
    table = episodes("matrix/rock-paper-scissors", RandomPolicy(), rounds=10)
    won = table["won"]
    assert abs(won.mean() - 1 / 3) < 4 * np.sqrt(2 / 9 / (2_000 * 10))
    world = interplay.make_world("matrix/rock-paper-scissors", num_worlds=4, rounds=3)
    world.reset()
    assert np.isnan(world.metrics["won"]).all()
    step = world.step(np.array([[0, 1], [0, 2], [2, 2], [1, 0]]))
    assert step.reward.tolist() == [[-1, 1], [1, -1], [0, 0], [1, -1]]
    assert world.metrics["won"].tolist() == [[0, 1], [1, 0], [0, 0], [1, 0]]
    assert all((leaf == 1).all() for leaf in step.observation.values()), "choices are not observed"


# -- all ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "world_id", ["matrix/recall", "matrix/climbing", "matrix/credit", "matrix/rock-paper-scissors"]
)
def test_a_world_that_is_over_waits_for_reset_while_others_play(world_id):
    options = {"delay": 1} if world_id == "matrix/recall" else {"rounds": 3}
    world = interplay.make_world(world_id, num_worlds=2, seed=2, **options)
    world.reset()
    action = np.zeros((2, len(world.agents)), int)
    world.step(action)
    world.reset(np.array([False, True]))
    for _ in range(2):
        step = world.step(action)
    assert step.over.tolist() == [True, False]
    before = world.save()
    step = world.step(action)
    after = world.save()
    assert step.over.tolist() == [True, True]
    assert not step.reward[0].any()
    for name in ("stream", "steps", "cue", "last", "hits", "joint", "returns"):
        assert np.array_equal(before[name][0], after[name][0]), name
