"""Pong against its slow twin: the same games bit for bit, the same pictures from whole ones made small."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core import seeding
from interplay.registry import make_policy
from interplay.worlds.pong.render import picture
from tests.naive.pong import NaivePong, shrunk

SETTINGS = [
    {},
    {"classic_quirks": True},
    {"randomize": True},
    {"randomize": True, "classic_quirks": True, "follow": "left"},
    {"ball_speed": 1.7, "bat_speeds": (5.0, 9.3), "follow": "right", "round_steps": 60, "rounds": 7},
]
GAMES, STEPS = 8, 2_500  # of each setting: 100,000 steps in all


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_games_are_those_of_the_slow_twin(options):
    """Half of the actions follow the ball, so that bats and balls meet at many angles."""
    world = interplay.make_world("pong/2p", num_worlds=GAMES, **options)
    seeds = seeding.world_seeds(3, GAMES)
    timestep = world.reset(seeds=seeds)
    player = make_policy("pong/2p", "follow")
    player.start(world)
    twins = [naive(seed, options) for seed in seeds]
    rng = seeding.generator(4)
    hits = 0
    for step in range(STEPS):
        chance = rng.integers(0, 6, (GAMES, 2))
        action = np.where(rng.random((GAMES, 2)) < 0.5, chance, player.act(timestep))
        rewards = []
        for twin, pair in zip(twins, action.tolist(), strict=True):
            before = twin.vx
            rewards.append(twin.step(tuple(pair)))
            hits += before * twin.vx < 0 and twin.round_step > 0
        timestep = world.step(action)
        assert timestep.reward.tolist() == [list(pair) for pair in rewards], step
        assert timestep.over.tolist() == [twin.over for twin in twins], step
        assert placed(world) == [told(twin) for twin in twins], step
        if timestep.over.any():
            which = timestep.over.copy()
            seeds = seeds + which.astype(np.uint64) * np.uint64(1000)
            timestep = world.reset(which, seeds=seeds)
            for w in np.flatnonzero(which):
                twins[w] = naive(seeds[w], options)
    assert hits > 100  # or nothing was tried


def naive(seed, options):
    given = dict(options)
    names = {"ball_speed": "s", "bat_speeds": "v", "classic_quirks": "quirks"}
    return NaivePong(int(seed), **{names.get(key, key): value for key, value in given.items()})


def placed(world):
    """All numbers of each game, exactly."""
    ball, bat = world.state.ball, world.state.bat
    return [
        (
            *(ball[name][w].item() for name in ("x", "y", "vx", "vy", "rounds", "round_step")),
            *(bat[name][w].tolist() for name in ("y", "speed", "top_speed", "points")),
        )
        for w in range(world.num_worlds)
    ]


def told(twin):
    both = [list(kept.values()) for kept in (twin.y, twin.speed, twin.top, twin.points)]
    return (twin.x, twin.ball_y, twin.vx, twin.vy, twin.rounds, twin.round_step, *both)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"classic_quirks": True, "randomize": True, "rounds": 11, "frames": 3},
        {"ball_speed": 2.3, "rounds": 3, "frames": 1},
    ],
    ids=str,
)
def test_pictures_are_whole_ones_made_small(options):
    """The stack shows the last steps of this episode, painted bit by bit, as whole pictures made grey and small show them."""
    games, depth = 3, options.get("frames", 4)
    world = interplay.make_world("pong/2p-pictures", num_worlds=games, seed=5, **options)
    timestep = world.reset()
    stacks = whole(world)[..., None].repeat(depth, axis=-1)
    rng = seeding.generator(6)
    ends = 0
    push = rng.integers(0, 6, (games, 2))
    for step in range(600):
        assert np.array_equal(timestep.observation["pictures"], stacks), step
        push = np.where(rng.random(push.shape) < 0.2, rng.integers(0, 6, push.shape), push)
        timestep = world.step(push)
        going = timestep.observation["pictures"]
        stacks = np.concatenate([stacks[..., 1:], whole(world)[..., None]], axis=-1)
        assert np.array_equal(going, stacks), step
        over = timestep.over.copy()
        if over.any():
            ends += 1
            timestep = world.reset(over)
            stacks[over] = whole(world)[over][..., None]
    assert ends


def test_pictures_show_a_ball_anywhere():
    """Over a bat, beside it, across the border as the published code's may be: painted over what was there before."""
    games = 64
    world = interplay.make_world("pong/2p-pictures", num_worlds=games, classic_quirks=True, frames=2)
    world.reset()
    rng, ball, bat = seeding.generator(7), world.state.ball, world.state.bat
    covered = beyond = 0
    for _ in range(8):
        near_bats = np.where(
            rng.random(games) < 0.5, rng.uniform(10, 24, games), rng.uniform(134, 148, games)
        )
        ball["x"] = np.where(rng.random(games) < 0.7, near_bats, rng.uniform(10, 148, games))
        bat["y"] = rng.uniform(34, 178, (games, 2))
        ball["y"] = np.where(
            rng.random(games) < 0.7, bat["y"][:, 0] + rng.uniform(-4, 16, games), rng.uniform(20, 204, games)
        )
        ball["vx"], ball["vy"] = rng.choice([-4, 4], games), rng.choice([-8, 0, 8], games)
        timestep = world.step(rng.integers(0, 6, (games, 2)))
        assert np.array_equal(timestep.observation["pictures"][..., -1], whole(world))
        x, y, top = ball["x"], ball["y"], bat["y"][:, 0]
        covered += ((x > 14) & (x < 20) & (y > top - 4) & (y < top + 16)).sum()
        beyond += ((y < 34) | (y > 190)).sum()
    assert covered > 10
    assert beyond > 5


def whole(world):
    """What both players see of each world now, (W, 2, 84, 84)."""
    return np.array(
        [[shrunk(picture(world.state, w, seat)) for seat in (0, 1)] for w in range(world.num_worlds)]
    )


def test_the_twin_makes_pictures_small_as_defined():
    """A white half beside a black one, an even grey, and a single white pixel, worked by hand."""
    image = np.zeros((210, 160, 3), np.uint8)
    assert not shrunk(image).any()
    image[:, :80] = 255
    small = shrunk(image)
    assert (small[:, :42] == 255).all()
    assert not small[:, 42:].any()
    image[:] = 0
    image[0, 0] = 255
    small = shrunk(image)
    assert small[0, 0] == round(255 * 21 * 2 / 200)  # 1 of 2.5 rows, 21 of 40 parts of a column
    assert np.count_nonzero(small) == 1
