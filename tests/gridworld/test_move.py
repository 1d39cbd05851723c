"""Movers: anywhere within range, across, and drifting."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from interplay.gridworld.actors import ActionResult, CrossMoveActor, DriftMoveActor, MoveActor
from interplay.gridworld.agents import MovingAgent
from interplay.sim import Box
from tests.gridworld.fighters import Car, at, settle, someone

MOVERS = [MoveActor, CrossMoveActor, DriftMoveActor]


def walker(row: int, col: int, name: str = "a", **kwargs):
    return MovingAgent(id=name, encoding=1, initial_position=at(row, col), **{"move_range": 1, **kwargs})


def car(row: int, col: int, facing: int = 1, name: str = "a"):
    return Car(
        id=name,
        encoding=1,
        view_range=1,
        move_range=1,
        initial_position=at(row, col),
        initial_orientation=facing,
    )


def where(agent):
    return tuple(agent.position)


def go(actor, agent, action):
    return actor.process_action(agent, {"move": action})


@pytest.mark.parametrize("mover", MOVERS)
def test_keys_and_people_whom_a_mover_does_not_know(mover):
    """T1: the channel is "move"; for others the answer is None, which is no failure."""
    stone = someone("stone", 2, 3, 3)
    actor = mover(**settle([car(0, 0), stone]))
    assert actor.key == "move"
    assert actor.process_action(stone, {"move": 0}) is None
    assert actor.process_action(stone, {}) is None
    assert actor.as_result(None) == ActionResult(attempted=False, success=False)
    assert not actor._supported_agent(stone)


def test_drift_needs_an_orientation():
    """T1, T6: an agent that moves but faces no way is not supported."""
    agent = walker(0, 0)
    actor = DriftMoveActor(**settle([agent]))
    assert actor.process_action(agent, {"move": 3}) is None
    assert where(agent) == (0, 0)


def test_full_range_is_that_of_the_grid():
    """T2: "FULL" is max(rows, cols) - 1, written back when the actor is built."""
    agent = walker(1, 1, move_range="FULL")
    those = settle([agent], rows=3, cols=6)
    assert agent.move_range == "FULL"
    actor = MoveActor(**those)
    assert agent.move_range == 5
    assert agent.action_space["move"] == Box(-5, 5, (2,), int)
    assert go(actor, agent, np.array([1, 4])) is True
    assert where(agent) == (2, 5)


@pytest.mark.parametrize(("mover", "action"), [(MoveActor, [0, 1]), (CrossMoveActor, 3), (DriftMoveActor, 3)])
@pytest.mark.parametrize("column", [0, 3])
def test_actions_stay_as_they_are(mover, action, column):
    """T3, F10: no actor writes into the action, whether the way was free or not."""
    agent = car(0, column, facing=2)
    actor = mover(**settle([agent, someone("stone", 2, 0, 4)]))
    given = {"move": np.array(action) if isinstance(action, list) else action, "other": [1]}
    before = copy.deepcopy(given)
    actor.process_action(agent, given)
    assert given.keys() == before.keys()
    assert np.array_equal(given["move"], before["move"])
    assert type(given["move"]) is type(before["move"])


def test_the_channel_of_the_move_actor():
    """T4: an int box with bounds +-range, null two zeros."""
    agent = walker(0, 0, move_range=2)
    MoveActor(**settle([agent]))
    agent.finalize()
    assert agent.action_space["move"] == Box(-2, 2, (2,), int)
    assert np.array_equal(agent.null_action["move"], [0, 0])


def test_only_the_destination_counts():
    """T4: nothing on the way blocks; outside and taken cells do; staying always works."""
    agent = walker(2, 2, move_range=2)
    stones = [someone("beside", 2, 2, 3), someone("far", 2, 4, 4)]
    actor = MoveActor(**settle([*stones, agent]))
    assert go(actor, agent, np.array([0, 2])) is True
    assert where(agent) == (2, 4)
    assert go(actor, agent, np.array([2, 0])) is False
    assert go(actor, agent, np.array([0, 1])) is False
    assert go(actor, agent, np.array([-2, 1])) is False
    assert go(actor, agent, np.array([0, 0])) is True
    assert where(agent) == (2, 4)
    assert list(actor.grid[2, 4]) == ["a"]
    assert actor.grid[2, 2] == {}


def test_cells_are_shared_by_those_who_may():
    """T4, R3: with overlapping the taken cell is available."""
    agent = walker(0, 0)
    actor = MoveActor(
        **settle([agent, someone("grass", 2, 0, 1), someone("stone", 3, 1, 0)], overlapping={1: {2}})
    )
    assert go(actor, agent, np.array([0, 1])) is True
    assert list(actor.grid[0, 1]) == ["grass", "a"]
    assert go(actor, agent, np.array([1, -1])) is False


@pytest.mark.parametrize("action", [[2, 0], [0, -2], [0.0, 1.0], [1], [0, 0, 0], 1, None, "up", [2**32, 0]])
def test_moves_outside_the_space_fail(action):
    """T4, C1: points outside the box are refused, and no agent moves."""
    agent = walker(2, 2)
    actor = MoveActor(**settle([agent]))
    with pytest.raises(AssertionError, match="a: move action"):
        go(actor, agent, action)
    assert where(agent) == (2, 2)


@pytest.mark.parametrize("mover", [CrossMoveActor, DriftMoveActor])
def test_the_channel_of_codes(mover):
    """T5: Discrete(5), null 0, whatever the range."""
    agent = car(0, 0)
    agent.move_range = 3
    actor = mover(**settle([agent]))
    assert agent.action_space["move"].n == 5
    assert agent.null_action == {"move": 0}
    for wrong in (5, -1, 1.0, None, True, np.array([1, 0])):
        with pytest.raises(AssertionError, match="a: move action"):
            go(actor, agent, wrong)


def test_codes_of_cross():
    """T5: 0 stay, 1 left, 2 down, 3 right, 4 up (section 3, row 1)."""
    agent = walker(2, 2, move_range=3)
    actor = CrossMoveActor(**settle([agent]))
    ways = [(0, 0), (0, -1), (1, 0), (0, 1), (-1, 0)]
    assert [actor.grid_action(code) for code in range(5)] == ways
    for wrong in (5, -1, 1.5, None, True):
        with pytest.raises(AssertionError, match="0 stays, 1 left"):
            actor.grid_action(wrong)
    for code, (down, right) in enumerate(ways):
        row, col = where(agent)
        assert go(actor, agent, np.int64(code)) is True
        assert where(agent) == (row + down, col + right)


def test_cross_stops_at_edges_and_others():
    """T5: outside and taken are False."""
    agent = walker(0, 0)
    actor = CrossMoveActor(**settle([agent, someone("stone", 2, 1, 0)]))
    assert [go(actor, agent, code) for code in (1, 2, 4)] == [False, False, False]
    assert where(agent) == (0, 0)


def test_drift_turns_where_the_way_is_free():
    """T6: the step succeeds, orientation takes the code."""
    agent = car(2, 2, facing=1)
    actor = DriftMoveActor(**settle([agent]))
    assert go(actor, agent, 4) is True
    assert (where(agent), agent.orientation) == ((1, 2), 4)


def test_drift_goes_on_where_the_way_is_not_free():
    """T6: blocked, the agent drifts on and keeps its orientation."""
    agent = car(0, 2, facing=1)
    actor = DriftMoveActor(**settle([agent]))
    assert go(actor, agent, 4) is True
    assert (where(agent), agent.orientation) == ((0, 1), 1)
    assert go(actor, agent, 0) is True
    assert (where(agent), agent.orientation) == ((0, 0), 1)
    assert go(actor, agent, 0) is False
    assert go(actor, agent, 4) is False
    assert (where(agent), agent.orientation) == ((0, 0), 1)


def test_a_code_that_is_blocked_ahead_too():
    """T6: the result is that of the drift, also when the code is the way faced."""
    agent = car(2, 0, facing=1)
    actor = DriftMoveActor(**settle([agent, someone("stone", 2, 1, 0)]))
    assert go(actor, agent, 1) is False
    assert go(actor, agent, 4) is False
    assert go(actor, agent, 2) is True
    assert (where(agent), agent.orientation) == ((3, 0), 2)


@pytest.mark.parametrize("mover", MOVERS)
def test_random_walks_keep_people_and_cells_together(mover):
    """T4 to T6: every agent is in its own cell and in no other, and only allowed agents share cells."""
    rng = np.random.default_rng(3)
    cars = [
        car(int(place) // 4, int(place) % 4, 1, f"c{i}") for i, place in enumerate(rng.permutation(16)[:7])
    ]
    actor = mover(**settle(cars, rows=4, cols=4))
    for _ in range(150):
        agent = cars[rng.integers(7)]
        before, action = where(agent), agent.action_space["move"].sample()
        moved = go(actor, agent, action)
        assert moved or where(agent) == before
        found = {name: (r, c) for r in range(4) for c in range(4) for name in actor.grid[r, c]}
        assert found == {each.id: where(each) for each in cars}
        assert len(set(found.values())) == 7
