"""Bodies by hand rule from tick to tick, births against what ghosts were shown, snapshots across numbers of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay import make_world
from interplay.worlds.mmo.state import BOTH, HUNGER, LAVA_CAUSE, THIRST
from interplay.worlds.mmo.tiles import FOREST, LAVA, STONE, WATER

DOWN, RIGHT = np.array([0, 0, 1, 0, -1]), np.array([0, 1, 0, -1, 0])
LONERS = {"slots": 1, "npop": 1, "respawn": "immediate", "spawn_where": "scatter", "interior": 16}
BUSY: dict[str, Any] = {
    "interior": 30,
    "slots": 64,
    "npop": 4,
    "cap_draw": "fixed",
    "prefill": 64,
    "respawn": "immediate",
}


def beside_water(tiles: np.ndarray, w: np.ndarray, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    found = np.zeros(len(row), bool)
    for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        found |= tiles[w, row + down, col + right] == WATER
    return found


@pytest.mark.parametrize(
    "numbers", [{}, {"eat": 6, "drain": 2, "starve": 3, "food": 12, "water": 11, "health": 7}]
)
def test_bodies_follow_the_rule_from_tick_to_tick(numbers):
    """Agents alone: food, water, health, age, place and cause of death of each tick, worked out from the one before."""
    world: Any = make_world("mmo/forage", 96, 3, **LONERS, **numbers)
    s, w, rng = world.settings, np.arange(96), np.random.default_rng(1)
    world.reset()
    seen = dict.fromkeys((HUNGER, THIRST, BOTH, LAVA_CAUSE), 0)
    for _ in range(600):
        agent, tiles = world.state.agent[:, 0].copy(), world.state.tiles.copy()
        row, col = agent["row"].astype(int), agent["col"].astype(int)
        move = rng.choice(5, 96, p=(0.4, 0.15, 0.15, 0.15, 0.15))
        step = world.step(np.stack([move, rng.integers(0, 3, 96)], axis=-1)[:, None])
        food = np.minimum(agent["food"] + s.eat * (tiles[w, row, col] == FOREST), s.food)
        water = np.minimum(agent["water"] + s.drink * beside_water(tiles, w, row, col), s.water)
        fed = (food > s.food / 2) & (water > s.water / 2)
        food, water = np.maximum(food - s.drain, 0), np.maximum(water - s.drain, 0)
        hungry, thirsty = food == 0, water == 0
        health = np.minimum(agent["health"] + fed, s.health) - s.starve * (hungry.astype(int) + thirsty)
        starved = (health <= 0) & (hungry | thirsty)
        to = tiles[w, row + DOWN[move], col + RIGHT[move]]
        goes = (to != WATER) & (to != STONE)
        dies = starved | (goes & (to == LAVA))
        cause = np.where(
            starved, np.where(hungry & thirsty, BOTH, np.where(hungry, HUNGER, THIRST)), LAVA_CAUSE
        )
        now = world.state.agent[:, 0]
        assert np.array_equal(step.terminated[:, 0], dies)
        assert np.array_equal(world.ended["cause"][dies, 0], cause[dies])
        assert np.array_equal(world.ended["life"][dies, 0], agent["life"][dies])
        after = {"food": food, "water": water, "health": health, "life": agent["life"] + 1}
        after |= {
            "row": row + DOWN[move] * goes,
            "col": col + RIGHT[move] * goes,
            "life_id": agent["life_id"],
        }
        for name, values in after.items():
            assert np.array_equal(now[name][~dies], values[~dies]), name
        for kind in seen:
            seen[kind] += int((cause[dies] == kind).sum())
    assert min(seen.values()) > 3, seen


def test_a_portion_feeds_one():
    """Of the agents on a forest tile exactly one eats; later ones in the tick stand on scrub."""
    world: Any = make_world("mmo/forage", 16, 5, **{**BUSY, "interior": 12, "regrow": 0.0})
    world.reset()
    rng, shared = np.random.default_rng(3), 0
    for _ in range(60):
        state = world.state
        agent, tiles = state.agent.copy(), state.tiles.copy()
        begun, used = state.agent["eaten"].copy(), state.room["depleted"].copy()
        on = tiles[np.arange(16)[:, None], agent["row"], agent["col"]] == FOREST
        stood = [np.unique(agent[["row", "col"]][w, on[w]], return_counts=True)[1] for w in range(16)]
        step = world.step(np.stack([rng.integers(0, 5, (16, 64)), np.zeros((16, 64), int)], axis=-1))
        eaten = np.where(step.terminated, state.tally["ended_food"], state.agent["eaten"]) - begun
        assert np.array_equal(state.room["depleted"] - used, [len(number) for number in stood])
        hungry = agent["food"] <= 32 - 5
        for w in range(16):
            assert set(eaten[w, ~on[w]]) <= {0}
            assert set(eaten[w, hungry[w]]) <= {0, 5}
            assert (eaten[w] > 0).sum() <= len(stood[w])
            shared += int((stood[w] > 1).sum())
    assert shared > 20


@pytest.mark.parametrize("options", [{}, {"occupancy": False, "rows": 5}, {"targeting": "learned"}])
def test_ghosts_see_what_newborns_see(options):
    world: Any = make_world("mmo/combat", 2, 7, **{**BUSY, "respawn": "none"}, **options)
    step, rng = world.reset(), np.random.default_rng(2)
    nvec = world.action_space.nvec
    for _ in range(12):
        step = world.step(rng.integers(0, nvec, (2, 64, len(nvec))))
    state = world.state
    slot = int(np.flatnonzero(~state.agent["alive"][1])[0])
    ground = np.argwhere(state.reachable[1])
    crowded = state.heads[1][ground[:, 0], ground[:, 1]] > 0
    places = np.concatenate([ground[crowded][:6], ground[~crowded][::40]])
    kept = world.save()
    for row, col in places:
        ghost = world.observe_ghosts(1, np.array([row]), np.array([col]), population=2)
        newborn = {
            "row": row,
            "col": col,
            "health": 10,
            "food": 32,
            "water": 32,
            "population": 2,
            "alive": True,
        }
        newborn |= {"life": 0, "damage": 0, "freeze": 0}
        for name, value in newborn.items():
            state.agent[name][1, slot] = value
        state.heads[1, row, col] += 1
        step = world.refresh()
        for name, field in step.observation.items():
            assert np.array_equal(ghost[name][0, 0], field[1, slot]), (name, row, col)
        assert np.array_equal(ghost["action_mask"][0, 0], step.action_mask["action"][1, slot])
        world.load(kept)
    assert step.observation["count"][1].max() > 3, "there was somebody to see"


def test_a_snapshot_continues_under_other_threads():
    made = [make_world("mmo/combat", 6, 9, threads, **BUSY) for threads in (1, 2, 4)]
    first, rng = made[0], np.random.default_rng(8)
    first.reset()
    chosen = rng.integers(0, (5, 3), (60, 6, 64, 2))
    for action in chosen[:20]:
        first.step(action)
    kept = first.save()
    hashes = []
    for world in made:
        world.reset()
        world.step(chosen[0])
        world.load(kept)
        for action in chosen[20:]:
            world.step(action)
        seen = np.concatenate([np.ravel(field) for field in world.timestep.observation.values()])
        hashes.append((world.hash().tolist(), seen.tobytes()))
        world.close()
    assert hashes[0] == hashes[1] == hashes[2]


@pytest.mark.parametrize(("where", "rate"), [("scatter", 1), ("ring", 3)])
def test_standing_population_is_births_times_life(where, rate):
    """Little's law, with combat. A life of n ticks stands at the ends of n + 1 ticks."""
    options = {"slots": 400, "npop": 1, "cap_draw": "fixed", "spawn_per_tick": rate, "spawn_where": where}
    world: Any = make_world("mmo/combat", 16, 6, interior=30, **options)
    world.reset()
    rng, lives, standing = np.random.default_rng(4), [], []
    for tick in range(900):
        step = world.step(np.stack([rng.choice(5, (16, 400)), rng.integers(0, 3, (16, 400))], axis=-1))
        if tick >= 150:
            standing.append(step.acting.sum(axis=1).mean())
            lives.extend((world.ended["life"][step.terminated] + 1).tolist())
    assert (world.state.room["births"] == 1 + 900 * rate).all(), "the cap never bound"
    assert np.mean(standing) == pytest.approx(rate * np.mean(lives), rel=0.03)
