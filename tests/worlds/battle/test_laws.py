"""Laws of battles: mirrored play is mirrored, points are conserved, ends are reported (specification 4.3 to 4.5)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.scene import Canvas
from interplay.registry import make_world
from interplay.worlds.battle.config import VARIANTS
from interplay.worlds.battle.render import draw_bars
from interplay.worlds.battle.units import UNITS
from interplay.worlds.battle.world import BattleWorld
from tests.worlds.battle.pair import fight, settings_of
from tests.worlds.battle.scenes import ATTACK, attack_first, legal, scene, unit

EVEN = [name for name in VARIANTS if name != "10m_vs_11m"]


def swapped(values: np.ndarray) -> np.ndarray:
    """The other side's first."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, half:], values[:, :half]], axis=1)


# What is drawn in a decision is the same for both sides with `mirror` alone.
HIDDEN = {"look_directions": 5, "notice_chance": 0.5, "attack_anyone": True, "mirror": True}


@pytest.mark.parametrize(
    ("variant", "options"), [*((name, {"mirror": False}) for name in EVEN), ("3s5z", HIDDEN), ("mab", HIDDEN)]
)
def test_a_mirrored_battle_is_the_same_one_for_the_other_side(variant, options):
    """To the bit: places are measured from the middle, and each side's sums run own units first."""
    settings = settings_of(variant, width=20.0, height=20.0, randomize="all", **options)
    world, image = (BattleWorld(settings, 4, seed=2) for _ in range(2))
    world.reset()
    image.reset()
    rng = np.random.default_rng(5)
    units, other = world.state.unit, image.state.unit
    for name in units.dtype.names:
        other[name] = swapped(np.array(units[name])) * (-1 if name == "x" else 1)
    image.refresh()
    kept = [name for name in ("look", "seer", "known") if getattr(world.state, name).size]
    for _ in range(25):
        action = fight(world, rng)
        step, mirrored = world.step(action), image.step(swapped(action))
        for name in units.dtype.names:
            ours = np.array(units[name]) * (-1 if name == "x" else 1)
            assert np.array_equal(swapped(ours), other[name]), name
        for name in kept:
            assert np.array_equal(swapped(getattr(world.state, name)), getattr(image.state, name)), name
        assert np.array_equal(swapped(step.reward), mirrored.reward)
        seen = step.observation["units"], mirrored.observation["units"]
        assert np.array_equal(swapped(seen[0]), seen[1])
        assert np.array_equal(world.side_state(0), image.side_state(1))
        assert np.array_equal(world.metrics["outcome"], -image.metrics["outcome"], equal_nan=True)


@pytest.mark.parametrize("variant", EVEN)
def test_what_is_drawn_for_red_is_blues_mirrored(variant):
    world = BattleWorld(settings_of(variant, randomize="all"), 3, seed=4)
    world.reset()
    for name in world.state.unit.dtype.names:
        values = np.array(world.state.unit[name])
        assert np.array_equal(swapped(values), -values if name == "x" else values), name


@given(seed=st.integers(0, 2**32), name=st.sampled_from(sorted(VARIANTS)))
def test_numbers_stay_in_their_ranges_and_no_two_overlap_for_long(seed, name):
    world = BattleWorld(settings_of(name, width=18.0, height=18.0, randomize="all"), 1, seed=seed)
    world.reset()
    rng = np.random.default_rng(seed)
    for _ in range(12):
        before = world.state.unit[0].copy()
        world.step(fight(world, rng))
        BattleWorld(world.settings, 1).load(world.save())  # refuses what is outside
        after = world.state.unit[0]
        assert not (after["alive"] & ~before["alive"]).any()
        assert (np.abs(after["x"]) <= 9).all()
        if world.timestep.over[0]:
            break


def test_points_that_are_lost_were_dealt():
    """Marines do not recover: each shot takes six points, but for what is left over when its target dies."""
    world = scene("3 marine", "3 marine", [(-2, -2), (-2, 0), (-2, 2), (2, -2), (2, 0), (2, 2)])
    while not world.timestep.over[0]:
        before = world.state.unit[0].copy()
        world.step(attack_first(world))
        now = world.state.unit[0]
        shots = before["alive"] & (before["cooldown"] < 8)  # a period is longer than a decision
        lost = before["health"] - now["health"]
        died = before["alive"] & ~now["alive"]
        assert (lost >= 0).all()
        assert lost.sum() == 6 * shots.sum() or (died.any() and lost.sum() < 6 * shots.sum())
    assert world.metrics["outcome"].tolist() == [
        [0.0] * 6
    ]  # both sides shoot alike, so the last die together


def test_both_last_units_die_at_once_and_nobody_wins():
    for reward in ("result", "losses", "smac", "smac_sparse"):
        world = scene("1 marine", "1 marine", [(-1, 0), (1, 0)], reward=reward, negatives=reward == "smac")
        for slot in (0, 1):
            unit(world, slot)["health"] = 6.0
        world.refresh()
        step = world.step(legal(world, {0: ATTACK, 1: ATTACK}))
        assert step.over[0]
        assert step.terminated.all()
        assert world.metrics["outcome"].tolist() == [[0.0, 0.0]]
        assert step.reward[0, 0] == step.reward[0, 1]
        assert reward == "smac" or not step.reward.any()


def test_the_dead_are_paid_and_end_with_the_others():
    world = scene("2 marine", "1 marine", [(-2, 0), (-1, 0), (1, 0)])
    unit(world, 0)["health"], unit(world, 2)["health"] = 1.0, 60.0 - 40
    world.refresh()
    while not world.timestep.over[0]:
        step = world.step(legal(world, {0: ATTACK, 1: ATTACK, 2: ATTACK}))
        assert step.reward[0, 0] == step.reward[0, 1]
        assert step.acting[0, 0] == (unit(world, 0)["alive"] and not step.over[0])
        assert step.over[0] == step.terminated.all() == step.terminated.any()
    assert not unit(world, 0)["alive"]
    assert world.metrics["outcome"].tolist() == [[1.0, 1.0, -1.0]]
    assert step.reward[0, 0] > 200 * 20 / (10 + 200 + 45)


@pytest.mark.parametrize("timeout", [0.0, -1.0])
def test_time_runs_out_for_both(timeout):
    world = make_world("battle/5i", 2, limit=3, timeout=timeout)
    world.reset()
    for _ in range(3):
        step = world.step(np.where(world.timestep.acting, 1, 0))
    assert step.truncated.all()
    assert not step.terminated.any()
    assert (world.metrics["outcome"] == 0).all()
    assert (step.reward == timeout).all()


def test_empty_slots_take_no_part():
    world = make_world("battle/mab", 16, seed=3)
    step = world.reset()
    present = np.array(world.state.unit["present"])
    assert np.array_equal(present[:, :25], present[:, 25:])
    counts = present[:, :25].reshape(16, 5, 5).sum(axis=2)
    assert counts.min() >= 1
    assert set(counts.ravel()) == {1, 2, 3, 4, 5}
    rng, earned = np.random.default_rng(0), np.zeros(present.shape)
    ended = np.zeros(present.shape, bool)
    while not step.over.all():
        assert not (step.acting & ~present).any()
        step = world.step(fight(world, rng))  # type: ignore[arg-type]
        earned += np.abs(step.reward)
        ended |= step.terminated | step.truncated
    assert np.array_equal(ended, present)
    assert not earned[~present].any()
    assert not np.isnan(world.metrics["outcome"]).any()


def test_a_clean_win_pays_twenty():
    world = scene("3 marine", "1 marine", [(-1, 0), (-1, 1), (-1, -1), (1, 0)])
    total = 0.0
    while not world.timestep.over[0]:
        total += world.step(legal(world, {0: ATTACK, 1: ATTACK, 2: ATTACK})).reward[0, 0]
    assert total == pytest.approx(20.0)


@pytest.mark.parametrize(("name", "divisor"), [("5i", 87.5), ("3i2z", 72.5), ("mab", 127.5)])
def test_divisors(name, divisor):
    """Specification 5.4; a kill by itself pays ten over it."""
    settings = settings_of(name, drawn=False, reward="smac", randomize="nothing")
    points = sum(10 + UNITS[kind].health + UNITS[kind].shield for kind in settings.sides[0])
    assert (points + 200) / 20 == divisor


SIZES = [("5i", 60, 100, 11), ("3i2z", 80, 120, 11), ("2s3z", 80, 120, 11), ("mab", 500, 1200, 31)]


@pytest.mark.parametrize(("name", "seen", "state", "actions"), SIZES)
def test_sizes(name, seen, state, actions):
    """The table of specification 5.3."""
    world = make_world(f"battle/{name}")
    assert world.observation_space["units"].shape == (seen,)
    assert world.state_space.shape == (state,)
    assert world.action_space.n == actions


def test_sides_of_unlike_size():
    world = make_world("battle/10m_vs_11m")
    world.reset()
    assert world.observation_space["units"].shape == (105,)
    assert world.action_space.n == 17
    assert not world.timestep.action_mask["action"][0, 10:, 16].any()  # blue has ten enemies


def test_true_timing():
    """Periods are not rounded to ticks: a Marine's 13.776 make 59 shots in 800, where 14 would make 58."""
    world = scene("1 marine", "1 immortal", [(0, 0), (2, 0)], width=32.0)
    shots, cooldown = 0, 0.0
    for _ in range(100):
        unit(world, 1)["health"], unit(world, 1)["shield"] = 200.0, 100.0
        world.step(legal(world, {0: ATTACK}))
        shots += unit(world, 0)["cooldown"] > cooldown - 8
        cooldown = unit(world, 0)["cooldown"]
    assert shots == int(np.ceil(800 / (0.861 * 16)))


@pytest.mark.parametrize("red", ["64 marine", "30 zergling, 10 roach", "64 mutalisk"])
def test_no_two_begin_in_one_place_on_the_ground(red):
    """Also where the columns of a formation do not fit behind one another; fliers may."""
    width = 12.0 if "roach" in red else 32.0
    world = make_world("battle/3m", red=red, width=width, height=width)
    world.reset()
    body, unit = world.body, world.state.unit[0]
    across, up = (np.subtract.outer(unit[name], unit[name]) for name in ("x", "y"))
    way = np.hypot(across, up) + np.where(np.eye(len(body), dtype=bool) | body["flies"], np.inf, 0.0)
    assert way.min() > 0.2
    assert (np.abs(unit["x"]) <= width / 2).all()


def test_the_state_is_that_of_a_side():
    world = make_world("battle/3m")
    with pytest.raises(RuntimeError, match="reset"):
        world.global_state()
    world.reset()
    with pytest.raises(UserError, match="side = 2"):
        world.side_state(2)


def test_an_illegal_action_is_refused_and_nothing_happens():
    world = make_world("battle/3m", 2)
    world.reset()
    before = world.hash()
    with pytest.raises(UserError, match="red_1 of world 1 chose action 6"):
        world.step(np.array([[1] * 6, [1, 6, 1, 1, 1, 1]]))
    assert np.array_equal(world.hash(), before)


def test_a_shield_is_drawn_and_named_where_one_unit_of_several_has_one():
    world = scene("1 zealot, 1 marine", "2 marine", [(-3, 2), (-3, -2), (3, 2), (3, -2)])
    unit(world, 0)["shield"] = 20.0
    canvas = Canvas(bounds=(0, 0, 32, 32))
    draw_bars(canvas, world.state, world.body, 0)
    layer = canvas.scene().layer("shield")
    assert layer.options["legend"] == "shield"
    assert layer.columns["half_x"][0] == pytest.approx(0.5 * 20 / 50)  # of a zealot's radius
    assert layer.columns["absent"].tolist() == [False, True, True, True]
