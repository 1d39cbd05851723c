"""Ends, outcomes and rewards (specification 3.7; the faults D21 and D22 of interfaces 9)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.registry import make_world
from interplay.worlds.pommerman.world import PommermanWorld
from tests.worlds.pommerman.pair import as_action, draw
from tests.worlds.pommerman.scenes import lay, open_world, put_bomb, still

TEAMS = {"teams": True}
DUEL = {"size": 8, "players": 2, "rigid": 16, "wood": 16, "items": 10}


def after(who: list[int], limit: bool = False, **options: object) -> PommermanWorld:
    """A game in which these players have just died, in its first step, or in its last with `limit`."""
    world = open_world(**{**options, **({"limit": 1} if limit else {})})
    places = {0: (2, 2), 1: (2, 5), 2: (5, 2), 3: (5, 5)}
    lay(world, [], **{f"p{a}": places[a] for a in range(world.settings.players)})
    for owner, a in enumerate(who):
        put_bomb(world, *places[a], owner=owner % world.settings.players, life=1)
    world.step(still(world))
    return world


ENDS = [  # options, dying agents, at the limit, rewards, terminated, truncated, outcome
    ({}, [], False, [0, 0, 0, 0], "0000", "0000", None),
    ({}, [1], False, [0, -1, 0, 0], "0100", "0000", None),
    ({}, [0, 1, 3], False, [-1, -1, 1, -1], "1111", "0000", [-1, -1, 1, -1]),
    ({}, [0, 1, 2, 3], False, [-1, -1, -1, -1], "1111", "0000", [0, 0, 0, 0]),
    ({}, [], True, [-1, -1, -1, -1], "0000", "1111", [0, 0, 0, 0]),
    ({}, [1], True, [-1, -1, -1, -1], "0100", "1011", [0, 0, 0, 0]),
    ({}, [0, 1, 3], True, [-1, -1, 1, -1], "1111", "0000", [-1, -1, 1, -1]),
    (TEAMS, [1], False, [0, 0, 0, 0], "0000", "0000", None),
    (TEAMS, [0, 1], False, [0, 0, 0, 0], "0000", "0000", None),
    (TEAMS, [1, 3], False, [1, -1, 1, -1], "1111", "0000", [1, -1, 1, -1]),
    (TEAMS, [0, 1, 2], False, [-1, 1, -1, 1], "1111", "0000", [-1, 1, -1, 1]),
    (TEAMS, [0, 1, 2, 3], False, [-1, -1, -1, -1], "1111", "0000", [0, 0, 0, 0]),
    (TEAMS, [1], True, [-1, -1, -1, -1], "0000", "1111", [0, 0, 0, 0]),
    (DUEL, [0], False, [-1, 1], "11", "00", [-1, 1]),
    (DUEL, [0, 1], False, [0, 0], "11", "00", [0, 0]),
    (DUEL, [], True, [-1, -1], "00", "11", [0, 0]),
]


@pytest.mark.parametrize(("options", "who", "limit", "rewards", "terminated", "truncated", "outcome"), ENDS)
def test_classic_rewards(options, who, limit, rewards, terminated, truncated, outcome):
    world = after(who, limit, **options)
    step = world.timestep
    assert step.reward[0].tolist() == rewards
    assert "".join(map(str, step.terminated[0].astype(int))) == terminated
    assert "".join(map(str, step.truncated[0].astype(int))) == truncated
    assert step.over[0] == (outcome is not None)
    told = world.metrics["outcome"][0]
    assert np.isnan(told).all() if outcome is None else told.tolist() == outcome


@pytest.mark.parametrize(("options", "who", "limit", "rewards", "terminated", "truncated", "outcome"), ENDS)
def test_zero_sum_rewards_sum_to_zero_and_ties_are_zero(
    options, who, limit, rewards, terminated, truncated, outcome
):
    world = after(who, limit, **options, reward="zero_sum")
    reward = world.timestep.reward[0]
    assert abs(reward.sum()) < 1e-6
    assert np.array_equal(np.sign(reward), [0] * len(reward) if outcome is None else outcome)
    assert reward.max() in (0, 1)


def test_with_quirks_the_dead_pay_in_every_step():
    world = after([1], classic_quirks=True)
    for _ in range(3):
        assert world.timestep.reward[0].tolist() == [0, -1, 0, 0]
        world.step(still(world))
    assert not world.timestep.terminated.any()


def test_death_is_paid_once():
    world = after([1])
    for _ in range(3):
        step = world.step(still(world))
        assert not step.reward.any()
        assert not step.terminated.any()
        assert step.acting[0].tolist() == [True, False, True, True]


def test_a_dead_member_is_paid_when_its_team_wins():
    world = after([0], **TEAMS)
    assert world.timestep.acting[0].tolist() == [False, True, True, True]
    put_bomb(world, 2, 5, owner=1, life=2)
    put_bomb(world, 5, 5, owner=3, life=2)
    world.step(still(world))
    step = world.step(still(world))
    assert step.reward[0].tolist() == [1, -1, 1, -1]
    assert step.terminated.all()


def test_weights_pay_losses_kills_and_items_by_side():
    weights = (1.0, 0.2, 0.3, 0.5, 0.7, 0.9)
    world = open_world(teams=True, reward_weights=weights)
    lay(world, ["0brk"], p1=(2, 2), p2=(8, 8), p3=(8, 2))
    put_bomb(world, 2, 2, owner=1, life=2)
    rewards = [world.step(still(world, p0=4)).reward[0].copy() for _ in range(3)]
    gained = [(0.9, 0), (0.5, 1), (0.7, 0)]  # what the first gains, and whether the second dies
    for reward, (gain, dies) in zip(rewards, gained, strict=True):
        mine, theirs = gain + 0.3 * dies, -0.2 * dies
        assert np.allclose(reward, [mine, theirs, mine, theirs], atol=1e-6)
    assert world.metrics["fallen"][0].tolist() == [0, 1, 0, 1]
    assert world.metrics["felled"][0].tolist() == [1, 0, 1, 0]
    assert [world.metrics[name][0, 0] for name in ("extra_bombs", "ranges", "kicks")] == [1, 1, 1]


@pytest.mark.parametrize("variant", ["ffa", "team-fog", "1v1"])
@pytest.mark.parametrize("reward", ["classic", "zero_sum"])
def test_outcomes_of_three_episodes_in_a_row(variant, reward):
    """D21: there in every final step, cut or not, NaN in all others, and of this episode alone. D22: cut games are ties."""
    world = make_world(f"pommerman/{variant}", 64, seed=6, limit=25, reward=reward)
    world.reset()
    rng, seen, ties = np.random.default_rng(0), np.zeros(64, int), 0
    while seen.min() < 3:
        step = world.step(as_action(draw(rng, world.settings, 64), world.settings))
        outcome, over = world.metrics["outcome"], step.over.copy()
        assert np.isnan(outcome[~over]).all()
        assert np.isin(outcome[over], [-1, 0, 1]).all()
        cut = step.truncated.any(axis=1)
        assert not outcome[cut].any()
        ties += int(cut.sum())
        if variant != "ffa":  # members and sides mirror each other
            assert np.array_equal(outcome[over][:, 0], -outcome[over][:, 1])
        alive = world.metrics["alive"]
        assert (alive.sum(axis=1)[over & (outcome == 1).any(axis=1)] > 0).all()
        seen += over
        if over.any():
            world.reset(over)
            assert np.isnan(world.metrics["outcome"][over]).all()
    assert ties > 10


@pytest.mark.parametrize("variant", ["ffa", "team", "1v1"])
def test_zero_sum_returns_of_played_games_sum_to_zero(variant):
    world = make_world(f"pommerman/{variant}", 64, seed=6, reward="zero_sum")
    world.reset()
    rng, games = np.random.default_rng(0), 0
    for _ in range(150):
        over = world.step(draw(rng, world.settings, 64)[..., 0]).over.copy()
        returns = world.metrics["episode_return"][over]
        assert np.allclose(returns.sum(axis=1), 0, atol=1e-6)
        assert np.isin(np.round(returns * 3), [-3, -1, 0, 3]).all()
        games += int(over.sum())
        if over.any():
            world.reset(over)
    assert games > 200
