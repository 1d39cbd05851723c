"""What holds in any persistent world: conservation, Little's law, symmetry (specification 18)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.tiles import FOREST, LAVA, SCRUB, STONE, WATER
from interplay.worlds.mmo.world import MmoWorld

DOWN, RIGHT = np.array([0, 0, 1, 0, -1]), np.array([0, 1, 0, -1, 0])  # pass, east, south, west, north
BUSY: dict[str, Any] = {"interior": 20, "slots": 64, "npop": 4, "prefill": 32, "spawn_per_tick": 2}


def busy(num_worlds: int = 8, **options: Any) -> MmoWorld:
    world = MmoWorld(MmoSettings(**{**BUSY, **options}), num_worlds, seed=6)
    world.reset()
    return world


def random_actions(
    world: MmoWorld, rng: np.random.Generator, moves: tuple[float, ...] = (0.2,) * 5
) -> np.ndarray:
    shape = (world.num_worlds, world.settings.slots)
    return np.stack([rng.choice(5, shape, p=moves), rng.integers(0, 3, shape)], axis=-1)


def counted_heads(world: MmoWorld) -> np.ndarray:
    heads = np.zeros(world.state.heads.shape, np.int64)
    agent = world.state.agent
    w, i = np.nonzero(agent["alive"])
    np.add.at(heads, (w, agent["row"][w, i], agent["col"][w, i]), 1)
    return heads


@pytest.mark.parametrize("resolution", ["sequential", "simultaneous"])
def test_nobody_is_lost_or_doubled(resolution):
    world = busy(resolution=resolution, lava="next_update")
    state, rng = world.state, np.random.default_rng(1)
    forest = (state.tiles == FOREST).sum(axis=(1, 2))
    ended: list[set[int]] = [set() for _ in range(world.num_worlds)]
    for _ in range(300):
        step = world.step(random_actions(world, rng))
        for w, slot in np.argwhere(step.terminated):
            life = int(world.ended["id"][w, slot])
            assert life not in ended[w], "one end"
            ended[w].add(life)
        alive = state.agent["alive"]
        assert np.array_equal(step.acting, alive)
        assert np.array_equal(state.room["living"], alive.sum(axis=1))
        assert np.array_equal(state.room["births"] - state.room["deaths"], alive.sum(axis=1))
        for w in range(world.num_worlds):
            now = set(state.agent["life_id"][w, alive[w]].tolist())
            assert len(now) == alive[w].sum()
            assert now | ended[w] == set(range(state.room["births"][w]))
        assert np.array_equal(state.heads, counted_heads(world))
        of = [(alive & (world.population == p)).sum(axis=1) for p in range(4)]
        assert np.array_equal(state.standing, np.stack(of, axis=1))
        assert (state.standing <= state.quota).all()
        assert (state.room["living"] <= state.room["cap"]).all()
        assert np.array_equal(state.room["depleted"], (state.tiles == SCRUB).sum(axis=(1, 2)))
        assert np.array_equal(((state.tiles == FOREST) | (state.tiles == SCRUB)).sum(axis=(1, 2)), forest)
    assert sum(map(len, ended)) > 1_000
    assert np.array_equal(state.causes.sum(axis=1), state.room["deaths"])


def test_more_heads_on_a_tile_than_a_byte_counts():
    world = busy(
        1, interior=24, slots=400, prefill=400, cap_draw="fixed", combat=False, respawn="none", npop=1
    )
    world.state.tiles[0, 12:17, 12:17] = SCRUB
    world.state.agent["row"], world.state.agent["col"] = 14, 14
    world.state.heads[:] = 0
    world.state.heads[0, 14, 14] = 255
    world.refresh()
    rng = np.random.default_rng(2)
    most = []
    for _ in range(12):
        world.step(random_actions(world, rng, (0.9, 0.025, 0.025, 0.025, 0.025)))
        heads = counted_heads(world)
        most.append(int(heads.max()))
        assert np.array_equal(world.state.heads, np.minimum(heads, 255))
        here = world.state.agent["row"][0], world.state.agent["col"][0]
        seen = world.timestep.observation["occupancy"][0, :, 7, 7]
        alive = world.timestep.acting[0]
        assert np.array_equal(seen[alive], np.minimum(heads[0][here], 255)[alive])
    assert most[0] > 300 > 255 > most[-1]


def test_a_legal_move_is_made_and_an_illegal_one_is_not():
    """Without combat nothing comes between an agent and its move but its own death."""
    world = busy(combat=False)
    rng, agent = np.random.default_rng(3), world.state.agent
    made = 0
    for _ in range(200):
        before, was = agent.copy(), world.timestep.acting.copy()
        legal = world.timestep.action_mask["action"].copy()
        action = random_actions(world, rng)
        step = world.step(action)
        w, i = np.nonzero(was & ~step.terminated)
        move = action[w, i, 0]
        goes = legal[w, i, move]
        assert np.array_equal(agent["row"][w, i], before["row"][w, i] + DOWN[move] * goes)
        assert np.array_equal(agent["col"][w, i], before["col"][w, i] + RIGHT[move] * goes)
        assert not np.isin(world.state.tiles[w, agent["row"][w, i], agent["col"][w, i]], (WATER, STONE)).any()
        made += int(goes.sum())
    assert made > 10_000


def test_littles_law():
    """Below the cap: standing = births per tick x mean life. A life of n ticks survived is counted n + 1 times."""
    world = MmoWorld(
        MmoSettings(interior=20, slots=200, npop=1, cap_draw="fixed", combat=False), num_worlds=16, seed=8
    )
    world.reset()
    rng, lives, standing = np.random.default_rng(4), [], []
    for t in range(1_200):
        step = world.step(random_actions(world, rng, (0.6, 0.1, 0.1, 0.1, 0.1)))
        if t >= 300:
            standing.append(step.acting.sum(axis=1).mean())
            lives.extend((world.ended["life"][step.terminated] + 1).tolist())
    assert world.state.room["births"].min() == 1_201, "the cap never bound"
    assert np.mean(standing) == pytest.approx(np.mean(lives), rel=0.03)


def mean_life(tiles: np.ndarray, moves: tuple[float, ...], seed: int) -> tuple[float, float]:
    """Of agents that move with those odds on that map: mean and its standard error."""
    world = MmoWorld(
        MmoSettings(interior=20, slots=40, npop=1, cap_draw="fixed", combat=False), num_worlds=16, seed=seed
    )
    world.reset()
    world.state.tiles[:] = tiles
    world.refresh()
    rng, lives = np.random.default_rng(seed), []
    for _ in range(400):
        step = world.step(random_actions(world, rng, moves))
        lives.extend(world.ended["life"][step.terminated].tolist())
    return float(np.mean(lives)), float(np.std(lives) / np.sqrt(len(lives)))


def test_turning_the_map_and_the_moves_changes_no_life():
    """By 90 degrees, counter-clockwise: east becomes north, north west, west south, south east."""
    world = busy(1, combat=False)
    tiles = world.state.tiles[0].copy()
    tiles[:, 22:] = LAVA  # so that it matters where east is; a column of the ring is lost
    tiles[tiles == FOREST] = SCRUB  # the stated map does not grow back
    moves = (0.2, 0.4, 0.15, 0.1, 0.15)
    turned = (0.2, 0.15, 0.1, 0.15, 0.4)
    here, error = mean_life(tiles, moves, seed=10)
    there, error_there = mean_life(np.rot90(tiles), turned, seed=11)
    apart = 4 * np.hypot(error, error_there)
    assert abs(here - there) < apart
    assert abs(here - mean_life(np.rot90(tiles), moves, seed=12)[0]) > apart, (
        "the map alone makes a difference"
    )


def test_populations_that_do_the_same_live_as_long():
    world = busy(16, slots=64, npop=4)
    rng, lives = np.random.default_rng(5), [[] for _ in range(4)]
    for _ in range(600):
        step = world.step(random_actions(world, rng))
        for p, life in zip(
            world.ended["population"][step.terminated], world.ended["life"][step.terminated], strict=True
        ):
            lives[p].append(int(life))
    means = np.array([np.mean(each) for each in lives])
    errors = np.array([np.std(each) / np.sqrt(len(each)) for each in lives])
    assert min(map(len, lives)) > 1_000
    assert np.abs(means - means.mean()).max() < 4 * errors.max()
