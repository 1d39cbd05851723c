"""Observers: specification 2.9 (O1 to O6), T2, A10 and section 7; the examples of the manual's 3.2.6 to 3.2.8."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.gridworld import observers
from interplay.gridworld.agents import AmmoAgent, GridObservingAgent
from interplay.gridworld.grid import Grid
from interplay.gridworld.observers import (
    AbsoluteEncodingObserver,
    AbsolutePositionObserver,
    AmmoObserver,
    HealthObserver,
    OrientationObserver,
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
)
from interplay.sim.agents import ObservingAgent
from tests.gridworld.boards import CHI_999, chi_square, named, placed, soldier, thing, walker, walking
from tests.gridworld.test_sight import CENTRED, example, view

WINDOWS = [
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
    AbsoluteEncodingObserver,
]
OWN = [AbsolutePositionObserver, AmmoObserver, HealthObserver, OrientationObserver]


class Eye(ObservingAgent, AmmoAgent):
    """Observes, but sees no grid."""


def manual(view_range, overlapping=True):
    """The manual's six agents in their grid."""
    agents = example(view_range)
    grid = Grid(6, 6, overlapping={4: {5}, 5: {4}})
    placed(grid, *agents)
    return agents, grid


def test_o1_keys():
    grid = Grid(2, 2)
    keys = [kind(agents={}, grid=grid).key for kind in (*WINDOWS, AbsolutePositionObserver, AmmoObserver)]
    assert keys == [
        "position_centered_encoding",
        "stacked_position_centered_encoding",
        "absolute_encoding",
        "position",
        "ammo",
    ]


def test_3_2_6_the_manuals_absolute_example():
    agents, grid = manual(2)
    seen = view(AbsoluteEncodingObserver(agents=named(*agents), grid=grid), agents[0])
    assert seen[4, 4] in (4, 5)
    seen[4, 4] = 4
    assert seen.tolist() == [
        [0, 2, 0, 0, 0, -2],
        [3, 0, 0, 0, 0, -2],
        [0, 0, -1, 0, 0, -2],
        [0, 0, 0, 0, 0, -2],
        [0, 0, 0, 0, 4, -2],
        [-2, -2, -2, -2, -2, -2],
    ]


def test_3_2_7_the_manuals_centred_example():
    agents, grid = manual(3)
    observer = PositionCenteredEncodingObserver(agents=named(*agents), grid=grid)
    seen = view(observer, agents[0])
    assert seen[5, 5] in (4, 5)
    seen[5, 5] = 4
    assert seen.tolist() == CENTRED
    observer.observe_self = False
    assert view(observer, agents[0])[3, 3] == 0


def test_3_2_8_the_manuals_stacked_example():
    agents, grid = manual(3)
    seen = view(StackedPositionCenteredEncodingObserver(agents=named(*agents), grid=grid), agents[0])
    assert seen.shape == (7, 7, 6)
    centred = np.array(CENTRED)
    for layer, encoding in enumerate(range(1, 7)):
        expected = np.where(centred == -1, -1, centred == encoding)
        if encoding == 5:  # shares the cell of 4
            expected[5, 5] = 1
        assert np.array_equal(seen[:, :, layer], expected)
    agents[4].encoding = 4  # now two of encoding 4 share the cell
    seen = view(StackedPositionCenteredEncodingObserver(agents=named(*agents), grid=grid), agents[0])
    assert seen[5, 5].tolist() == [0, 0, 0, 2, 0, 0]


def test_o2_o3_spaces_and_null_observations():
    agents = [soldier("a", 2, view_range=2), thing("x", 5), thing("y", 1)]
    grid = Grid(4, 7)
    state = placed(grid, *agents)
    for kind in (*WINDOWS, *OWN):
        kind(agents=named(*agents), grid=grid)
    agent = agents[0]
    agent.finalize()
    boxes = agent.observation_space
    windows = {
        "position_centered_encoding": ((5, 5), 5),
        "stacked_position_centered_encoding": ((5, 5, 5), 3),
        "absolute_encoding": ((4, 7), 5),
    }
    for key, (shape, high) in windows.items():
        box = boxes[key]
        assert isinstance(box, spaces.Box)
        assert box.shape == shape
        assert box.dtype == np.dtype(int)
        assert (box.low == -2).all()
        assert (box.high == high).all()
        assert agent.null_observation[key].shape == shape
        assert (agent.null_observation[key] == -2).all()
    assert boxes["position"].high.tolist() == [3, 6]
    assert boxes["position"].low.tolist() == [0, 0]
    assert agent.null_observation["position"].tolist() == [0, 0]
    assert boxes["ammo"].high.tolist() == [5]
    assert agent.null_observation["ammo"] == 0
    assert agent.null_observation in boxes
    parts = [kind(agents=named(*agents), grid=grid) for kind in (*WINDOWS, *OWN)]
    agent.orientation = 3
    for _ in range(20):
        state.reset()
        seen = {key: value for part in parts for key, value in part.get_obs(agent).items()}
        assert seen in boxes


@pytest.mark.parametrize("kind", [*WINDOWS, *OWN])
def test_o3_an_unsupported_agent_sees_nothing(kind):
    agent, other = thing("x"), soldier("a")
    grid = Grid(3, 3)
    placed(grid, agent, other)
    observer = kind(agents=named(agent, other), grid=grid)
    assert observer.get_obs(agent) == {}
    assert not hasattr(agent, "observation_space")
    restricted = kind(agents=named(agent, other), grid=grid, only={"x"})
    assert restricted.get_obs(other) == {}


def test_o4_the_observer_itself_is_minus_one_also_when_it_shares_its_cell():
    agent, other = walker("a", view_range=1), thing("x", 2, at=(1, 1))
    agent.initial_position = np.array([1, 1])
    grid = Grid(3, 4, overlapping={1: 2})
    placed(grid, agent, other)
    observer = AbsoluteEncodingObserver(agents=named(agent, other), grid=grid)
    for _ in range(20):
        assert view(observer, agent).tolist() == [[0, 0, 0, -2], [0, -1, 0, -2], [0, 0, 0, -2]]
        grid.board.stream[0, 2] += 1


def glimpses(kind, cell, twice, moments=3000, **kwargs):
    """What the observer at (0, 0) sees in a cell with encodings 2, 2 and 3, or in its own, over many moments."""
    agent = walker("a", 1, view_range=2, initial_position=np.array([0, 0]))
    others = [thing(name, encoding, at=cell) for name, encoding in zip("xyz", twice, strict=True)]
    grid = Grid(2, 2, overlapping={1: {1, 2, 3}, 2: {2, 3}, 3: {3}})
    placed(grid, agent, *others, seed=11)
    observer = kind(agents=named(agent, *others), grid=grid, **kwargs)
    middle = (0, 0) if kind is AbsoluteEncodingObserver else (2, 2)
    seen = []
    for _ in range(moments):
        grid.board.stream[0, 2] += 1
        seen.append(view(observer, agent)[middle[0] + cell[0], middle[1] + cell[1]])
    return np.bincount(seen, minlength=4)


@pytest.mark.parametrize("kind", [PositionCenteredEncodingObserver, AbsoluteEncodingObserver])
def test_o5_one_of_several_agents_is_shown_an_encoding_held_twice_twice_as_often(kind):
    counts = glimpses(kind, (1, 1), (2, 3, 2))
    assert counts[:2].tolist() == [0, 0]
    assert chi_square(counts[2:], [2000, 1000]) < CHI_999[1]


def test_o5_the_own_cell_with_and_without_oneself():
    counts = glimpses(PositionCenteredEncodingObserver, (0, 0), (2, 3, 3), 4000)
    assert chi_square(counts[1:], [1000, 1000, 2000]) < CHI_999[2]
    counts = glimpses(PositionCenteredEncodingObserver, (0, 0), (2, 3, 3), 3000, observe_self=False)
    assert counts[:2].tolist() == [0, 0]
    assert chi_square(counts[2:], [1000, 2000]) < CHI_999[1]


def test_o5_without_oneself():
    one, other = walker("a", 4, initial_position=np.array([0, 0])), thing("x", 7)
    grid = Grid(1, 1, overlapping={4: 7})
    placed(grid, one)
    observer = PositionCenteredEncodingObserver(agents=named(one, other), grid=grid, observe_self=False)
    assert view(observer, one)[1, 1] == 0
    grid.place(other, (0, 0))
    assert view(observer, one)[1, 1] == 7
    grid.remove(one, (0, 0))
    assert view(observer, one)[1, 1] == 7
    for value in (0, 1, None):
        with pytest.raises(AssertionError, match="observe_self"):
            PositionCenteredEncodingObserver(agents={}, grid=grid, observe_self=value)


def test_o6_ammo_is_a_bare_int():
    for rounds, seen in [(3, 3), (0, 0), (-4, 0)]:
        agent = soldier("a", initial_ammo=rounds)
        observer = AmmoObserver(agents=named(agent), grid=Grid(2, 2))
        agent.finalize()
        value = observer.get_obs(agent)
        assert value == {"ammo": seen}
        assert type(value["ammo"]) is int
        assert value in agent.observation_space
        assert agent.observation_space["ammo"].high.tolist() == [max(rounds, 0)]


def test_own_values_need_no_view_range():
    agent = Eye(id="e", encoding=1, initial_ammo=2, initial_position=np.array([1, 0]))
    grid = Grid(2, 3)
    placed(grid, agent)
    parts = [kind(agents=named(agent), grid=grid) for kind in OWN]
    seen = {key: value for part in parts for key, value in part.get_obs(agent).items()}
    assert seen.keys() == {"position", "ammo", "health"}
    assert seen["position"].tolist() == [1, 0]
    agent.finalize()
    assert seen in agent.observation_space


def test_7_health_and_orientation():
    agent = soldier("a", initial_orientation=4)
    grid = Grid(2, 2)
    health, facing = (kind(agents=named(agent), grid=grid) for kind in (HealthObserver, OrientationObserver))
    agent.health = 0.25
    agent.finalize()
    seen = {**health.get_obs(agent), **facing.get_obs(agent)}
    assert seen in agent.observation_space
    assert seen["health"].dtype == np.float32
    assert (seen["health"].tolist(), seen["orientation"].tolist()) == ([0.25], [4])


@pytest.mark.parametrize("kind", WINDOWS)
def test_t2_full_ranges_become_numbers(kind):
    agent = GridObservingAgent(id="e", encoding=1, view_range="FULL")
    grid = Grid(3, 5)
    placed(grid, agent)
    observer = kind(agents=named(agent), grid=grid)
    assert agent.view_range == 4
    assert not (view(observer, agent) == -2).any()


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("value", [0, 1, 2, 3, 50, 10**9, "FULL"])
def test_a_range_that_changes_keeps_the_shape(kind, value):
    """The space was promised when the observer was built: what is beyond the new range is hidden, more is not shown."""
    agent, wall = (
        walker("a", view_range=2, initial_position=np.array([1, 1])),
        thing("w", 2, at=(1, 2), blocking=True),
    )
    grid = Grid(4, 6)
    placed(grid, agent, wall)
    observer = kind(agents=named(agent, wall), grid=grid)
    shape = view(observer, agent).shape
    agent.view_range = value
    seen = view(observer, agent)
    assert seen.shape == shape
    agent.finalize()
    assert seen in agent.observation_space[observer.key]
    reach = 99 if value == "FULL" else value
    middle = (1, 1) if kind is AbsoluteEncodingObserver else (2, 2)
    for row, col in np.ndindex(shape[:2]):
        too_far = max(abs(row - middle[0]), abs(col - middle[1])) > reach
        behind = reach > 0 and col - middle[1] >= 2 and abs(row - middle[0]) < col - middle[1]
        hidden = (seen[row, col] == -2).all()
        assert hidden == (too_far or behind), (row, col)


def test_encodings_that_came_later_have_no_layer():
    """O2: the layers are those of the observer's agents; a later one is not shown, and nothing else is touched."""
    agent, other = walker("a", 1, initial_position=np.array([0, 0])), thing("x", 2, at=(0, 1))
    grid = Grid(2, 2)
    placed(grid, agent, other)
    observer = StackedPositionCenteredEncodingObserver(agents=named(agent, other), grid=grid)
    before = view(observer, agent)
    grid.place(thing("late", 4000), (1, 1))
    assert np.array_equal(view(observer, agent), before)
    other.encoding = 3
    after = view(observer, agent)
    assert after.shape == before.shape
    assert after[1, 2].tolist() == [0, 0]


@pytest.mark.parametrize("kind", WINDOWS)
def test_before_the_first_reset_and_after_death_nothing_breaks(kind):
    agent = walker("a", view_range=1)
    grid = Grid(3, 3)
    observer = kind(agents=named(agent), grid=grid)
    assert view(observer, agent).shape == observer.channel(agent)[0].shape
    placed(grid, agent)
    grid.remove(agent, agent.position)
    agent.health = 0
    assert view(observer, agent).shape == observer.channel(agent)[0].shape


def test_a10_observers_may_join_a_finished_agent_and_replace_a_channel():
    agent = walker(
        "a", view_range=1, observation_space={"mine": spaces.Discrete(3)}, null_observation={"mine": 1}
    )
    agent.finalize()
    PositionCenteredEncodingObserver(agents=named(agent), grid=Grid(2, 2))
    AbsoluteEncodingObserver(agents=named(agent), grid=Grid(2, 2))
    assert isinstance(agent.observation_space, spaces.Dict)
    assert set(agent.observation_space) == {"mine", "position_centered_encoding", "absolute_encoding"}
    agent.view_range = 3
    AbsoluteEncodingObserver(agents=named(agent), grid=Grid(5, 7))
    PositionCenteredEncodingObserver(agents=named(agent), grid=Grid(2, 2))
    assert agent.observation_space["absolute_encoding"].shape == (5, 7)
    assert agent.observation_space["position_centered_encoding"].shape == (7, 7)
    assert agent.null_observation["absolute_encoding"].shape == (5, 7)
    assert agent.null_observation["mine"] == 1
    assert agent.null_observation in agent.observation_space
    odd = walker("odd", observation_space=spaces.Discrete(3))
    with pytest.raises(AssertionError, match=r"agent odd: observation_space .* has no channels"):
        AbsolutePositionObserver(agents=named(odd), grid=Grid(2, 2))


@pytest.mark.parametrize("observer", [*WINDOWS, AbsolutePositionObserver])
def test_7_looking_has_no_side_effects(observer):
    """Section 7: getters change nothing, and what is seen by chance is the same however often one looks."""
    agents = [walker(name, 1 + n % 3, view_range=2) for n, name in enumerate("abcdef")]
    sim = walking(
        *agents, rows=2, cols=3, observers=[observer], overlapping={1: {1, 2, 3}, 2: {2, 3}, 3: {3}}
    )
    sim.reseed(1)
    sim.reset()
    board = [array.tobytes() for array in sim.grid.board]
    first = {name: view(sim.observers[0], sim.agents[name]).tolist() for name in sim.agents}
    for name in reversed(list(sim.agents)):
        assert view(sim.observers[0], sim.agents[name]).tolist() == first[name]
        sim.get_done(name), sim.get_all_done(), sim.get_info(name), sim.get_action_mask(name)
        sim.get_reward(name)
    together, *_ = sim.report(list(sim.agents))
    assert {name: next(iter(seen.values())).tolist() for name, seen in together.items()} == first
    assert [array.tobytes() for array in sim.grid.board] == board


def test_what_is_returned_is_the_callers_own():
    agent = walker("a", initial_position=np.array([0, 1]))
    grid = Grid(2, 2)
    placed(grid, agent)
    for kind in (*WINDOWS, AbsolutePositionObserver):
        observer = kind(agents=named(agent), grid=grid)
        before = view(observer, agent).tolist()
        view(observer, agent)[...] = 9
        assert view(observer, agent).tolist() == before


def test_every_observer_is_registered():
    """Y1."""
    from interplay.gridworld import registry

    for kind in (*WINDOWS, *OWN):
        assert registry["observer"][kind.__name__] is getattr(observers, kind.__name__)
