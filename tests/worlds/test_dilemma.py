"""The iterated prisoner's dilemma: payoffs, ends, what its players do, and what random play is worth in closed form."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import interplay
from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.registry import list_policies, make_policy

C, D = 0, 1
R, S, T, P = 3, 0, 5, 1
PLAYERS = ("cooperate", "defect", "tit_for_tat", "grim")


def game(one, two, rounds=6, **options):
    """Moves (rounds, 2) and rewards of one policy against another."""
    world = interplay.make_world("dilemma/fixed", rounds=rounds, **options)
    players = [make_policy("dilemma/fixed", name) if isinstance(name, str) else name for name in (one, two)]
    for player in players:
        player.start(world)
    step, moves, rewards = world.reset(), [], []
    while not step.over[0]:
        action = np.stack([player.act(step)[:, a] for a, player in enumerate(players)], axis=1)
        step = world.step(action)
        moves.append(action[0].tolist())
        rewards.append(step.reward[0].tolist())
    return moves, rewards, world


class Plays(RandomPolicy):
    """Plays these moves, then cooperates."""

    def __init__(self, *moves):
        self.moves = list(moves)

    def act(self, timestep):
        return np.full((1, 2), self.moves.pop(0) if self.moves else C)


@pytest.mark.parametrize(
    ("moves", "paid"), [((C, C), (R, R)), ((C, D), (S, T)), ((D, C), (T, S)), ((D, D), (P, P))]
)
def test_payoffs(moves, paid):
    world = interplay.make_world("dilemma/fixed")
    world.reset()
    assert tuple(world.step(np.array([moves])).reward[0]) == paid


def test_there_are_five_players():
    assert list_policies("dilemma/fixed") == ("cooperate", "defect", "grim", "random", "tit_for_tat")


def test_cooperation_among_the_kind_and_ruin_among_defectors():
    for one, two in product(PLAYERS, PLAYERS):
        _, rewards, world = game(one, two)
        if "defect" not in (one, two):
            assert rewards == [[R, R]] * 6, (one, two)
            assert world.metrics["cooperation"].tolist() == [[1, 1]]
    assert game("defect", "defect")[1] == [[P, P]] * 6
    assert game("cooperate", "defect")[1] == [[S, T]] * 6


@pytest.mark.parametrize("kind", ["tit_for_tat", "grim"])
def test_who_answers_is_betrayed_once(kind):
    _, rewards, world = game(kind, "defect")
    assert rewards == [[S, T], *[[P, P]] * 5]
    assert world.metrics["cooperation"].tolist() == [[1 / 6, 0]]


def test_tit_for_tat_forgives_and_grim_does_not():
    once = (C, D, C, C, C, C)
    assert [own for own, _ in game("tit_for_tat", Plays(*once))[0]] == [C, C, D, C, C, C]
    assert [own for own, _ in game("grim", Plays(*once))[0]] == [C, C, D, D, D, D]


def test_grim_forgets_when_a_game_begins():
    world = interplay.make_world("dilemma/fixed", num_worlds=2)
    grim = make_policy("dilemma/fixed", "grim")
    world.reset()
    grim.start(world)
    step = world.step(np.array([[C, D], [C, D]]))
    assert grim.act(step).tolist() == [[D, C]] * 2
    kept = grim.save()
    grim.forget(np.array([True, False]))
    world.reset(np.array([True, False]))
    step = world.step(np.array([[C, C], [C, C]]))
    assert grim.act(step).tolist() == [[C, C], [D, C]], "in the other game nothing is forgotten"
    other = make_policy("dilemma/fixed", "grim")
    other.start(world)
    other.load(kept)
    assert other.act(step).tolist() == [[D, C]] * 2


def test_each_sees_both_last_moves_and_the_share_of_rounds():
    world = interplay.make_world("dilemma/fixed", rounds=4)
    step = world.reset()
    assert step.observation["own"][0].tolist() == [[1, 0, 0]] * 2
    assert step.observation["round"][0].tolist() == [[0]] * 2
    step = world.step(np.array([[C, D]]))
    assert step.observation["own"][0].tolist() == [[0, 1, 0], [0, 0, 1]]
    assert step.observation["other"][0].tolist() == [[0, 0, 1], [0, 1, 0]]
    assert step.observation["round"][0].tolist() == [[0.25]] * 2
    assert world.global_state().tolist() == [[0, 1, 0, 0, 0, 1, 0.25]]


def test_a_game_of_fixed_length_terminates_with_it():
    world = interplay.make_world("dilemma/fixed", rounds=3)
    world.reset()
    over = [bool(world.step(np.zeros((1, 2), int)).over[0]) for _ in range(3)]
    assert over == [False, False, True]
    assert world.timestep.terminated.all()
    assert not world.timestep.truncated.any()
    assert world.metrics["rounds"].tolist() == [3]


def test_random_play_is_worth_the_mean_of_the_payoffs():
    table = play(interplay.make_world("dilemma/fixed", num_worlds=100), RandomPolicy(), episodes=400, seed=2)
    mean, deviation = (R + S + T + P) / 4, np.std([R, S, T, P])
    rounds = 400 * 50
    assert table["return"].mean(axis=0) / 50 == pytest.approx(mean, abs=4 * deviation / np.sqrt(rounds))
    assert table["cooperation"].mean(axis=0) == pytest.approx(1 / 2, abs=4 * 0.5 / np.sqrt(rounds))


def test_an_open_ended_game_lasts_one_over_its_chance_on_average():
    world = interplay.make_world("dilemma/open-ended", num_worlds=500, ending=0.1)
    table = play(world, make_policy("dilemma/open-ended", "cooperate"), episodes=2_000, seed=2)
    rounds = table["rounds"]  # geometric: mean 1 / p, deviation sqrt(1 - p) / p
    assert rounds.mean() == pytest.approx(10, abs=4 * np.sqrt(0.9) * 10 / np.sqrt(2_000))
    assert (rounds == 1).mean() == pytest.approx(0.1, abs=4 * 0.3 / np.sqrt(2_000))


def test_an_open_ended_game_is_cut_at_its_longest():
    world = interplay.make_world("dilemma/open-ended", num_worlds=1_000, ending=0.5, rounds=2)
    world.reset()
    action = np.zeros((1_000, 2), int)
    first = world.step(action).over.copy()
    step = world.step(action)
    assert step.over.all()
    both = step.terminated.any(axis=1) | step.truncated.any(axis=1)
    assert np.array_equal(both, ~first), "an end is told once"
    assert not (step.terminated & step.truncated).any()
    assert step.truncated[~first, 0].mean() == pytest.approx(0.5, abs=0.1)
