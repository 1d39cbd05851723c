"""Agents of grid worlds: specification 2.5, A4 and the faults F9, F12 and F15."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest

from interplay.gridworld.agents import (
    SHAPES,
    AmmoAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    OrientationAgent,
)
from interplay.gridworld.grid import Grid
from interplay.sim import is_agent
from tests.gridworld.boards import Walker, placed, soldier, thing, walker


def refuses(agent, name, values, words):
    """Each value fails in the constructor's way: in the setter, leaving the old one (C1)."""
    before = getattr(agent, name)
    for value in values:
        with pytest.raises(AssertionError, match=words) as caught:
            setattr(agent, name, value)
        assert agent.id in str(caught.value)
        assert "\n" not in str(caught.value) or isinstance(value, np.ndarray)
        assert np.array_equal(getattr(agent, name), before)


@pytest.mark.parametrize("value", [None, 0, -1, -3, True, 1.0, np.int64(1), "1", 4096])
def test_e1_encodings_are_positive_ints_f9_c4(value):
    with pytest.raises(AssertionError, match="agent x: encoding"):
        GridWorldAgent(id="x", encoding=value)
    refuses(thing(), "encoding", [value], "encoding")


def test_e1_blocking_is_a_bool():
    refuses(thing(), "blocking", [0, 1, None, np.bool_(True)], "blocking .* is no bool")
    assert thing(blocking=True).blocking is True
    assert thing().blocking is False


@pytest.mark.parametrize(
    "value", [np.array([2, 3]), np.array([2, 3], np.int32), np.array([2, 3], np.uint8), np.array([2.0, 3.0])]
)
def test_e2_initial_positions_of_any_whole_dtype_f15(value):
    agent = GridWorldAgent(id="x", encoding=1, initial_position=value)
    assert agent.initial_position.tolist() == [2, 3]
    placed(Grid(4, 4), agent)
    assert agent.position.tolist() == [2, 3]
    assert np.issubdtype(agent.position.dtype, np.integer)


NO_PAIRS = ([2, 3], (2, 3), np.array([2]), np.array([[2, 3]]), np.array(["2", "3"]), np.array([True, False]))
NO_CELLS = tuple(np.array([number, 0]) for number in (0.5, np.nan, np.inf, 2**31, -(2**31)))


@pytest.mark.parametrize("value", [*NO_PAIRS, *NO_CELLS])
def test_e2_other_initial_positions_fail(value):
    with pytest.raises(AssertionError, match="agent x: initial_position"):
        GridWorldAgent(id="x", encoding=1, initial_position=value)
    refuses(thing(at=(1, 1)), "initial_position", [value], "initial_position")


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (GridObservingAgent(id="x", encoding=1, view_range=1), "view_range"),
        (MovingAgent(id="x", encoding=1, move_range=1), "move_range"),
        (soldier("x"), "attack_range"),
    ],
)
def test_e3_ranges(agent, name):
    refuses(agent, name, [None, -1, True, 1.0, np.int64(1), "full", "1", np.array("FULL")], name)
    for value in (0, 3, "FULL"):
        setattr(agent, name, value)
        assert getattr(agent, name) == value


def test_e3_attacks():
    agent = soldier("x")
    assert agent.simultaneous_attacks == 1
    for name in ("attack_strength", "attack_accuracy"):
        refuses(agent, name, [None, -0.1, 1.1, "1", True, np.nan, np.complex128(0.5)], name)
        for value in (0, 1, 0.25, np.float32(0.25), Fraction(1, 4)):
            setattr(agent, name, value)
            assert getattr(agent, name) == float(value)
    refuses(agent, "simultaneous_attacks", [None, -1, True, 1.0, np.int64(1)], "simultaneous_attacks")
    agent.simultaneous_attacks = 0


def test_e4_looks():
    agent = thing()
    assert (agent.render_shape, agent.render_color, agent.render_size) == ("o", "gray", 200)
    assert set(SHAPES) == set("ov^<>12348spP*hH+xXDd")
    for shape in SHAPES:
        agent.render_shape = shape
    refuses(agent, "render_shape", [None, "", "oo", "q", 1], "render_shape")
    refuses(agent, "render_size", [0, -1, 1.0, True, np.int64(3), None], "render_size")


def test_e5_health_is_clipped_and_decides_who_is_active_f9():
    agent = thing()
    assert agent.health == 1.0
    for value, expected in [
        (0.5, 0.5),
        (np.float32(0.25), 0.25),
        (np.int64(3), 1.0),
        (-1, 0.0),
        (Fraction(1, 2), 0.5),
        (-np.inf, 0.0),
    ]:
        agent.health = value
        assert agent.health == expected
        assert agent.active is (expected > 0)
    refuses(agent, "health", [None, "1", True, np.bool_(True), np.nan, np.complex128(1), [1]], "health")


def test_e5_initial_health():
    for value in (0, -0.1, 1.1, "1", True, np.nan, np.complex128(1)):
        with pytest.raises(AssertionError, match="agent x: initial_health"):
            thing(initial_health=value)
    assert thing(initial_health=0.5).initial_health == thing(initial_health=0.5).health == 0.5
    assert thing(initial_health=np.float64(0.5)).initial_health == 0.5
    assert thing().initial_health is None


def test_e6_ammo():
    for value in (None, 1.0, True, np.int64(3), "1"):
        with pytest.raises(AssertionError, match="agent x: initial_ammo"):
            AmmoAgent(id="x", encoding=1, initial_ammo=value)
    agent = AmmoAgent(id="x", encoding=1, initial_ammo=-3)
    assert (agent.initial_ammo, agent.ammo) == (-3, 0)
    agent.ammo = -2
    assert agent.ammo == 0


def test_e6_orientation():
    agent = OrientationAgent(id="x", encoding=1)
    assert agent.initial_orientation is None
    assert agent.orientation is None
    for name in ("initial_orientation", "orientation"):
        refuses(agent, name, [0, 5, -1, 1.0, True, "1"], name)
        for value in (1, 2, 3, 4):
            setattr(agent, name, value)
            assert getattr(agent, name) == value
    assert OrientationAgent(id="x", encoding=1, initial_orientation=3).orientation == 3


def test_a5_who_sees_and_moves_is_an_agent():
    assert is_agent(walker())
    assert not is_agent(thing())
    assert not is_agent(GridObservingAgent(id="x", encoding=1, view_range=1))


def test_a4_agents_are_equal_by_class_and_values_f12():
    one, other = soldier(initial_position=np.array([1, 1])), soldier(initial_position=np.array([1, 1]))
    assert (one == other) is True
    for name, value in [
        ("health", 0.5),
        ("encoding", 2),
        ("initial_position", np.array([1, 2])),
        ("ammo", 1),
        ("attack_strength", 0.5),
        ("render_shape", "s"),
        ("view_range", 3),
        ("orientation", 2),
        ("blocking", True),
    ]:
        changed = copy.deepcopy(other)
        setattr(changed, name, value)
        assert (one == changed) is False, name
    assert walker() != thing("a")


def test_copies_belong_to_no_grid():
    """W1, A4: a copy is equal to the original and lives on its own, also when the original stands in a cell."""
    agent, other = walker(initial_position=np.array([1, 1])), thing(at=(0, 0))
    grid = Grid(3, 3)
    placed(grid, agent, other)
    for col, twin in enumerate([copy.deepcopy(agent), copy.copy(agent)]):
        assert twin == agent
        assert type(twin) is Walker
        twin.encoding = 7
        twin.blocking = True
        twin.health = 0.0
        twin.position = np.array([2, 2])
        assert (agent.encoding, agent.blocking, agent.active) == (1, False, True)
        assert agent.position.tolist() == [1, 1]
        assert grid[1, 1] == {"a": agent}
        assert grid.place(twin, (0, col + 1))  # it can join another time


def test_a_standing_agents_position_cannot_be_written():
    """R4: cells and positions agree; only the grid moves an agent on it."""
    agent = thing(at=(1, 1))
    grid = Grid(3, 3)
    placed(grid, agent)
    refuses(agent, "position", [np.array([1, 2])], "move it with the grid's place")
    agent.position = np.array([1, 1])
    grid.remove(agent, (1, 1))
    refuses(agent, "position", [np.array([3, 0]), np.array([-1, 0]), [0, 0], None], "position")
    agent.position = np.array([0, 2])
    assert agent.position.tolist() == [0, 2]
    assert grid[0, 2] == {}
