"""The grid: specification 2.6 (R1 to R4), C1 to C4 and F11; and membership of agents."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from interplay.gridworld.actors import MoveActor
from interplay.gridworld.grid import Grid
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.states import HealthState, PositionState
from tests.gridworld.boards import named, placed, thing, walker, walking


def test_r1_cells_read_none_then_dicts():
    grid, agent = Grid(2, 3), thing()
    assert grid[0, 0] is None
    grid.reset()
    assert grid[1, 2] == {}
    assert grid.place(agent, (1, 2)) is True
    assert grid[1, 2] == {"x": agent}
    assert grid[1, 2]["x"] is agent
    grid.reset()
    assert grid[1, 2] == {}
    with pytest.raises(IndexError):
        grid[2, 0]


def test_r1_occupants_are_listed_as_they_came():
    grid = Grid(2, 2, overlapping={1: 1})
    agents = [thing(name) for name in "cab"]
    for agent in agents:
        assert grid.place(agent, (0, 1))
    assert list(grid[0, 1]) == ["c", "a", "b"]
    grid.remove(agents[1], (0, 1))
    assert list(grid[0, 1]) == ["c", "b"]
    grid.place(agents[0], (1, 1))
    grid.place(agents[0], (0, 1))
    assert list(grid[0, 1]) == ["b", "c"]


def test_r2_overlapping_is_symmetric_and_the_callers_stays_f11_c3():
    given = {1: 2, 3: {3, 1}, 4: set()}
    before = copy.deepcopy(given)
    grid = Grid(2, 2, overlapping=given)
    assert given == before
    assert grid.overlapping == {1: {2, 3}, 2: {1}, 3: {1, 3}, 4: set()}
    assert Grid(2, 2).overlapping == {}
    grid.overlapping = {1: 1}  # the setter checks as the constructor does, and takes effect
    one, other = thing("one"), thing("other")
    assert grid.place(one, (0, 0))
    assert grid.place(other, (0, 0))


def test_c1_c2_wrong_overlapping():
    """C2: what is no dict of encodings, and what is neither an encoding nor a set; keys are checked first."""
    grid = Grid(2, 2, overlapping={1: 2})
    keys = ([1, 2], {1, 2}, {"1": 2}, {"1": [2]}, {True: 2}, {1.0: 2}, {0: 1})
    sets = ({1: {"2"}}, {1: {2.0}}, {1: {-2}}, {1: 10**6})
    containers = ({1: [2]}, {1: (2,)}, {1: 2.0}, {1: None}, {1: "2"}, {1: np.int64(2)})
    for error, value in [(AssertionError, value) for value in (*keys, *sets)] + [
        (TypeError, value) for value in containers
    ]:
        with pytest.raises(error, match="overlapping"):
            Grid(2, 2, overlapping=value)
        with pytest.raises(error, match="overlapping"):
            grid.overlapping = value
        assert grid.overlapping == {1: {2}, 2: {1}}


def test_r3_query_asks_every_occupants_encoding():
    grid = Grid(2, 2, overlapping={1: {2, 3}, 2: 3})
    two, three = thing("two", 2), thing("three", 3)
    assert grid.place(two, (0, 0))
    assert grid.place(three, (0, 0))
    assert grid.query(thing("one", 1), (0, 0))
    assert not grid.query(thing("other2", 2), (0, 0))  # 2 may share with 3, not with 2
    assert not grid.query(thing("four", 4), (0, 0))
    assert grid.query(thing("four", 4), np.array([0, 1]))


def test_r3_an_inactive_occupant_blocks_and_an_agent_is_its_own_occupant():
    grid, agent = Grid(2, 2), thing()
    grid.place(agent, (0, 0))
    agent.health = 0.0
    assert not grid.query(thing("y"), (0, 0))
    assert not grid.query(agent, (0, 0))
    assert grid.place(agent, (0, 0)) is False
    assert agent.position.tolist() == [0, 0]


def test_r3_asking_takes_nobody_in():
    grid, other, member, stranger = Grid(2, 2), Grid(2, 2), thing("y", 5000 - 1000), thing("z", 7)
    other.place(member, (1, 1))
    for agent in (member, stranger):
        assert grid.query(agent, (0, 0))
        with pytest.raises(KeyError):
            grid.remove(agent, (1, 1))
    assert grid.agents == ()
    assert other[1, 1] == {"y": member}


def test_r4_place_and_remove():
    grid, agent = Grid(3, 4), thing()
    grid.reset()
    with pytest.raises(KeyError, match="x is not at"):
        grid.remove(agent, (0, 0))
    assert grid.place(agent, (2, 3))
    assert agent.position.tolist() == [2, 3]
    assert grid.place(agent, (1, 1))  # it left its cell
    assert grid[2, 3] == {}
    with pytest.raises(KeyError):
        grid.remove(agent, (2, 3))
    grid.remove(agent, (1, 1))
    assert grid[1, 1] == {}
    assert agent.position.tolist() == [1, 1]  # where it was last
    with pytest.raises(KeyError):
        grid.remove(agent, (1, 1))


def test_agents_who_join_late_keep_everything_in_place():
    """R4: the arrays grow with the agents; encodings beyond the old matrix work."""
    grid = Grid(3, 3, overlapping={1: 1, 9: 1})
    agents = [thing(f"x{n}", at=(n % 3, 0)) for n in range(3)]
    placed(grid, *agents)
    late = thing("late", 9)
    assert grid.place(late, (0, 0))
    assert grid.place(thing("odd", 4000), (0, 0)) is False
    assert list(grid[0, 0]) == ["x0", "late"]
    for n, agent in enumerate(agents):
        assert agent.position.tolist() == [n, 0]
        agent.health = 0.25 * (n + 1)
    assert [agent.health for agent in agents] == [0.25, 0.5, 0.75]
    agents[0].encoding = 4095
    assert not grid.query(late, (0, 0))


def test_agents_of_a_grid_who_are_in_no_component_stay_off_it_at_reset():
    """S1: state components begin with their own agents."""
    grid, agent, guest = Grid(1, 2), thing(), thing("guest", initial_health=0.5)
    state = placed(grid, agent)
    health = HealthState(agents=named(agent), grid=grid)
    grid.place(guest, (0, 1) if grid[0, 0] else (0, 0))
    guest.health = 0.0
    state.reset()
    health.reset()
    assert [list(grid[0, col]) for col in (0, 1)].count([]) == 1
    assert guest.health == 0.0
    assert agent.active


def test_an_agent_goes_with_the_grid_that_took_it_last():
    """B4: agents are used themselves; a second grid takes them over, and the first raises an error."""
    agent = walker(initial_position=np.array([2, 2]))
    first, second = Grid(3, 3), Grid(2, 2)
    state = placed(first, agent)
    mover = MoveActor(agents=named(agent), grid=first)
    observer = PositionCenteredEncodingObserver(agents=named(agent), grid=first)
    assert second.place(agent, (0, 0))
    assert agent.position.tolist() == [0, 0]
    for call in (
        state.reset,
        lambda: mover.process_action(agent, {"move": np.array([0, 1])}),
        lambda: observer.get_obs(agent),
    ):
        with pytest.raises(AssertionError, match="agent a belongs to another grid"):
            call()
    assert second[0, 0] == {"a": agent}
    # Handed over anew, the first takes it back, into its old place in the arrays.
    state = placed(first, agent)
    assert first.agents == (agent,)
    assert agent.position.tolist() == [2, 2]
    assert mover.process_action(agent, {"move": np.array([0, -1])}) is True
    assert first[2, 1] == {"a": agent}
    assert first[2, 2] == {}


def test_a_position_that_the_next_grid_does_not_have_is_forgotten():
    agent = walker(initial_position=np.array([7, 7]))
    placed(Grid(8, 8), agent)
    small = Grid(2, 2)
    observer = PositionCenteredEncodingObserver(agents=named(agent), grid=small)
    assert agent.position is None
    agent.initial_position = None
    PositionState(agents=named(agent), grid=small).reset()
    assert observer.get_obs(agent)["position_centered_encoding"].shape == (3, 3)


def test_two_simulations_of_the_same_agents():
    """B4: the second simulation has the agents; the first refuses to go on."""
    agents = [walker("a"), walker("b")]
    first = walking(*agents)
    first.reset()
    second = walking(*agents)
    second.reset()
    with pytest.raises(AssertionError, match="belongs to another grid"):
        first.reset()
    with pytest.raises(AssertionError, match="belongs to another grid"):
        first.step({"a": {"move": np.array([0, 0])}})
    with pytest.raises(AssertionError, match="belongs to another grid"):
        first.get_obs("a")
    second.step({"a": {"move": np.array([0, 0])}})


def test_deep_copies_live_apart():
    """W1: a copy of a simulation has copies of the agents in a copy of the grid, and goes on as the original does."""
    sim = walking(walker("a", initial_position=np.array([1, 1])), walker("b", 2))
    sim.reseed(3)
    sim.reset()
    sim.step({"a": {"move": np.array([0, 1])}})
    twin = copy.deepcopy(sim)
    assert twin.agents == sim.agents
    assert twin.grid.agents == sim.grid.agents
    assert all(twin.agents[name] is not sim.agents[name] for name in "ab")
    assert twin.grid[1, 2]["a"] is twin.agents["a"]
    twin.step({"a": {"move": np.array([1, 0])}})
    twin.agents["b"].encoding = 9
    assert twin.agents["a"].position.tolist() == [2, 2]
    assert sim.agents["a"].position.tolist() == [1, 2]
    assert sim.agents["b"].encoding == 2
    assert twin.grid.place(thing("late", 11), (0, 0)) in (True, False)
    assert len(sim.grid.agents) == 2
    for copied in (sim, twin):
        copied.reseed(5)
        copied.agents["b"].encoding = 2
    sim.reset()
    grid = copy.deepcopy(sim.grid)
    assert [list(grid[r, c]) for r in range(4) for c in range(5)] == [
        list(sim.grid[r, c]) for r in range(4) for c in range(5)
    ]
    assert grid.agents[0] is not sim.agents["a"]
    with pytest.raises(TypeError, match=r"copy\.deepcopy"):
        copy.copy(grid)


def test_r1_rows_columns_and_windows_are_read_as_of_an_array():
    """The release keeps cells in an array of objects, so people write ``grid[0]`` and ``grid[0, :]``."""
    grid, agent, other = Grid(3, 4), thing("a"), thing("b")
    for subscript, shape in ((0, (4,)), ((0, slice(None)), (4,)), ((slice(None), 1), (3,))):
        assert grid[subscript].shape == shape
        assert set(grid[subscript].tolist()) == {None}, "before the first reset"
    grid.reset()
    grid.place(agent, (0, 1))
    grid.place(other, (2, 3))
    assert grid[0].tolist() == grid[0, :].tolist() == grid[-3].tolist() == [{}, {"a": agent}, {}, {}]
    assert grid[:, 1].tolist() == [{"a": agent}, {}, {}]
    assert grid[1:, 2:].tolist() == [[{}, {}], [{}, {"b": other}]]
    assert grid[2][3]["b"] is grid[2, 3]["b"] is grid[-1, -1]["b"] is other
    assert [(list(cell)) for cell in grid[np.array([0, 2]), np.array([1, 3])]] == [["a"], ["b"]]
    assert [len(row) for row in grid] == [4, 4, 4], "and it can be walked row by row"
    for wrong in (3, (3, 0), (0, 4), (0, 0, 0), "a"):
        with pytest.raises(IndexError):
            grid[wrong]
