"""Rewards by tasks: conditions by hand, on the naive world and the real one, and what holds for all of them (specification 8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.registry import make_policy, make_world
from interplay.worlds.mmo.tasks import COUNTED, Lives, Task, living, parse_task, progress, share_among
from interplay.worlds.mmo.tiles import FOREST, WATER
from tests.worlds.mmo.scenes import EAST, MIDDLE, NOTHING, PASS, RANGE, WEST

ONLY = {"reward_alive": 0.0}
OLD = {"life": 50}


def earned(scene: Any, task: str, **options: Any) -> Any:
    return scene(**{**ONLY, "task": task, "order": "seniority", **options})


def test_to_survive_pays_a_share_each_tick_until_it_is_done(scene):
    s = earned(scene, "survive(4)")
    s.place()
    paid = []
    for _ in range(6):
        s.act()
        paid.append(s.reward(0))
    assert paid == [0.25, 0.25, 0.25, 0.25, 0.0, 0.0]


def test_food_and_water_are_paid_by_the_unit(scene):
    s = earned(scene, "eat(10) or drink(20)")
    s.place(food=20, water=20)
    s.paint(FOREST, (MIDDLE, MIDDLE))
    s.act()  # five of ten
    assert s.reward(0) == 0.5
    s.paint(WATER, (MIDDLE, MIDDLE + 1))
    s.act()  # five of twenty: the food is still what counts
    assert s.reward(0) == 0.0
    s.act()
    s.act()
    assert s.reward(0) == pytest.approx(0.25)  # fifteen of twenty


def test_blows_and_kills(scene):
    s = earned(scene, "harm(8) and defeat(1)")
    s.place(17, 17, **OLD)
    s.place(17, 18, health=4, food=10, **OLD)  # too hungry to regain
    s.act({0: (PASS, RANGE)})
    assert s.reward(0) == 0.0  # two of eight, but no deaths
    s.act({0: (PASS, RANGE)})
    assert s.agent(1) is None
    assert s.reward(0) == 0.5  # four of eight


def test_who_dies_keeps_what_it_counted_and_loses_what_it_held(scene):
    for task, paid in (("health(10)", -0.2), ("survive(10)", 0.0), ("not health(10)", 0.2)):
        s = earned(scene, task)
        s.place(17, 17, **OLD)
        s.place(17, 18, health=2, food=10, **OLD)
        s.act({0: (PASS, RANGE)})
        assert s.agent(1) is None
        assert s.reward(1) == pytest.approx(paid), task


def test_places(scene):
    for task, paid in (("stand(forest)", [1.0, -1.0]), ("centre()", [1 / 7.5, -1 / 7.5])):
        s = earned(scene, task)
        s.paint(FOREST, (MIDDLE, MIDDLE + 2))
        s.place(MIDDLE, MIDDLE + 3)  # at distance 3.5 of the centre
        s.act({0: (WEST, NOTHING)})
        first = s.reward(0)
        s.act({0: (EAST, NOTHING)})
        assert [first, s.reward(0)] == pytest.approx(paid), task


def test_what_is_seen(scene):
    s = earned(scene, "see(water)", vision=2)
    s.paint(WATER, (MIDDLE, MIDDLE + 3))
    s.place()
    s.act({0: (EAST, NOTHING)})
    assert s.reward(0) == 1.0
    s.act({0: (WEST, NOTHING)})
    assert s.reward(0) == -1.0


def test_others(scene):
    for task, paid in (("company(2)", [0.0, -0.5, 0.0]), ("apart(4)", [0.25, 0.25, 0.0])):
        s = earned(scene, task, vision=4)
        s.place(MIDDLE, MIDDLE)
        s.place(MIDDLE, MIDDLE + 4)  # of its kind, at the edge of view
        s.place(MIDDLE, MIDDLE + 2, population=1)
        first = []
        for moves in ({2: (EAST, NOTHING)}, {1: (EAST, NOTHING), 2: (EAST, NOTHING)}, {}):
            s.act(moves)
            first.append(s.reward(0))
        assert first == pytest.approx(paid), task


def test_the_newborn_owes_nothing_for_where_it_was_born_and_the_price_is_a_setting(scene):
    s = earned(scene, "food(32)", reward_task=8.0)
    s.place()
    s.act()
    assert s.reward(0) == -0.25  # one of 32 units


def test_a_population_s_share(scene):
    s = earned(scene, "eat(5)", team_spirit=0.5)
    s.paint(FOREST, (MIDDLE, MIDDLE))
    for col, population in ((MIDDLE, 0), (MIDDLE + 5, 0), (MIDDLE + 5, 1)):
        s.place(MIDDLE, col, population, food=20)
    s.act()
    assert [s.reward(slot) for slot in range(3)] == [0.75, 0.25, 0.0]


COUNTS = "survive(30) and (eat(15) or drink(20))"


# -- laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [COUNTS, "not apart(3) or food(32) and harm(5)"])
def test_a_life_s_rewards_sum_to_its_progress_at_the_end_less_that_at_its_birth(task: str) -> None:
    options = {
        "interior": 20,
        "slots": 16,
        "npop": 2,
        "cap_draw": "fixed",
        "respawn": "immediate",
        "max_ticks": 150,
    }
    world: Any = make_world("mmo/combat", num_worlds=4, seed=5, task=task, reward_alive=0.0, **options)
    player = make_policy("mmo/combat", "fighter")
    timestep = world.reset()
    player.start(world, seed=1)
    born, total, lives = of_living(world), np.zeros((4, 16)), 0
    for _ in range(150):
        acted = timestep.acting.copy()
        timestep = world.step(player.act(timestep))
        total += timestep.reward
        gone = timestep.terminated | timestep.truncated
        np.testing.assert_allclose(total[gone], (world.ended["task"] - born)[gone], atol=1e-5)
        if task == COUNTS:
            np.testing.assert_allclose(total[gone], by_counts(world.ended)[gone], atol=1e-5)
        lives += int(gone.sum())
        new = timestep.acting & (~acted | gone)
        born, total = np.where(new, of_living(world), born), np.where(new, 0.0, total)
    assert lives > 100
    assert bool(timestep.over.all())


def by_counts(ended: Any) -> np.ndarray:
    """The progress of `COUNTS`, from the world's records of ended lives."""
    survived, eaten, drunk = (
        np.minimum(ended[name] / most, 1) for name, most in (("life", 30), ("food", 15), ("water", 20))
    )
    return np.minimum(survived, np.maximum(eaten, drunk))


def of_living(world: Any) -> np.ndarray:
    s = world.settings
    return progress(s.read_task(), living(world.state, world._sight), s.side, s.border)


def test_a_loaded_world_pays_as_the_saved_one() -> None:
    world = make_world(
        "mmo/combat", num_worlds=2, task="survive(9) or drink(3)", interior=20, slots=16, npop=2
    )
    player = make_policy("mmo/combat", "random")
    timestep = world.reset()
    player.start(world, seed=1)
    for _ in range(5):
        timestep = world.step(player.act(timestep))
    kept, actions = world.save(), [player.act(timestep) for _ in range(8)]
    first = [world.step(action).reward.copy() for action in actions]
    world.load(kept)
    assert all(
        np.array_equal(world.step(action).reward, paid) for action, paid in zip(actions, first, strict=True)
    )
    assert np.any(first)


CONDITION = st.builds(lambda name, number: f"{name}({number})", st.sampled_from(COUNTED), st.integers(1, 9))
TEXT = st.recursive(
    CONDITION,
    lambda part: st.one_of(
        part.map("not ({})".format),
        st.tuples(part, st.sampled_from(["and", "or"]), part).map(
            lambda three: "({}) {} ({})".format(*three)
        ),
    ),
    max_leaves=6,
)


def of_counts(text: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    counted = {name: rng.integers(0, 12, (2, 5)) for name in COUNTED}
    return progress(parse_task(text, {}), Lives(counted, None, None), 80, 9)


@given(TEXT, TEXT, st.integers(0, 99))
def test_the_algebra_of_tasks(a: str, b: str, seed: int) -> None:
    pa, pb = of_counts(a, seed), of_counts(b, seed)
    assert ((pa >= 0) & (pa <= 1)).all()
    np.testing.assert_array_equal(of_counts(f"({a}) and ({a})", seed), pa)
    np.testing.assert_array_equal(of_counts(f"({a}) and ({b})", seed), of_counts(f"({b}) and ({a})", seed))
    np.testing.assert_allclose(of_counts(f"not not ({a})", seed), pa, atol=1e-12)
    both, neither = of_counts(f"not (({a}) and ({b}))", seed), of_counts(f"not ({a}) or not ({b})", seed)
    np.testing.assert_array_equal(both, neither)
    # done exactly where both are, and where either is
    np.testing.assert_array_equal(of_counts(f"({a}) and ({b})", seed) == 1, (pa == 1) & (pb == 1))
    np.testing.assert_array_equal(of_counts(f"({a}) or ({b})", seed) == 1, (pa == 1) | (pb == 1))


@given(st.integers(0, 10**6), st.floats(0, 1))
def test_sharing_neither_makes_nor_loses_reward(seed: int, spirit: float) -> None:
    rng = np.random.default_rng(seed)
    population, took_part = rng.integers(0, 3, (2, 8)), rng.random((2, 8)) < 0.7
    change = np.where(took_part, rng.normal(size=(2, 8)), 0.0)
    shared = share_among(change, population, took_part, spirit)
    assert not shared[~took_part].any()
    for kind in range(3):
        own = took_part & (population == kind)
        np.testing.assert_allclose((shared * own).sum(axis=1), (change * own).sum(axis=1), atol=1e-9)


def test_and_binds_before_or_and_brackets_before_both() -> None:
    a, b, c = (Task(name, number) for name, number in (("eat", 1), ("drink", 2), ("harm", 3)))
    assert parse_task("eat(1) or drink(2) and harm(3)", {}) == Task(
        "or", parts=(a, Task("and", parts=(b, c)))
    )
    assert parse_task("(eat(1) or drink(2)) and harm(3)", {}) == Task(
        "and", parts=(Task("or", parts=(a, b)), c)
    )


def test_lives_that_end_say_how_far_they_came() -> None:
    plain = make_world("mmo/combat", interior=20, slots=8)
    assert "task" not in plain.ended
    world = make_world("mmo/combat", interior=20, slots=8, task="survive(10)")
    world.reset()
    assert world.ended["task"].shape == (1, 8)
