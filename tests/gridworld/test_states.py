"""State components: specification 2.7 (S1 to S7); the laws by chi-square at the 99.9 % point, with fixed seeds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from interplay.gridworld.grid import Grid
from interplay.gridworld.states import (
    AmmoState,
    HealthState,
    MazePlacementState,
    OrientationState,
    PositionState,
    TargetBarriersFreePlacementState,
)
from tests.gridworld.boards import CHI_999, chi_square, named, placed, seeded, soldier, thing

AROUND = TargetBarriersFreePlacementState


def at(agent):
    return tuple(agent.position.tolist())


def counts_of(state, agents, resets):
    """How often each combination of cells came about."""
    counts: dict[tuple, int] = {}
    for _ in range(resets):
        state.reset()
        key = tuple(at(agent) for agent in agents)
        counts[key] = counts.get(key, 0) + 1
    return counts


def test_s1_initial_positions_first_then_the_others_in_order():
    grid = Grid(1, 3)
    free, fixed = thing("free"), thing("fixed", at=(0, 1))
    state = placed(grid, free, fixed)
    for _ in range(50):
        state.reset()
        assert at(fixed) == (0, 1)
        assert at(free) != (0, 1)


def test_s1_an_agent_without_position_is_anywhere_equally_likely():
    agent = thing()
    counts = counts_of(placed(Grid(4, 5), agent, seed=1), [agent], 4000)
    assert len(counts) == 20
    assert chi_square(list(counts.values()), 200) < CHI_999[19]


def test_s1_several_agents_take_every_arrangement_equally_often():
    agents = [thing("x"), thing("y")]
    counts = counts_of(placed(Grid(2, 2), *agents, seed=2), agents, 2400)
    assert len(counts) == 12
    assert chi_square(list(counts.values()), 200) < CHI_999[11]


def test_s1_the_last_open_cells_are_equally_likely_in_a_crowded_grid():
    """S1: a grid so full that cells are drawn from a list."""
    walls = [thing(f"w{n}", 2, at=divmod(n, 12)) for n in range(144) if n not in (0, 78, 143)]
    agent = thing("x")
    counts = counts_of(placed(Grid(12, 12), agent, *walls, seed=3), [agent], 600)
    assert set(counts) == {((0, 0),), ((6, 6),), ((11, 11),)}
    assert chi_square(list(counts.values()), 200) < CHI_999[2]


def test_s1_overlapping_cells_count_as_open():
    one, other = thing("one", 1, at=(0, 0)), thing("other", 2)
    counts = counts_of(placed(Grid(1, 4, overlapping={1: 2}), one, other, seed=4), [other], 800)
    assert len(counts) == 4
    assert chi_square(list(counts.values()), 200) < CHI_999[3]


def test_s1_the_order_is_kept_or_shuffled_within_each_group():
    """S1: the first agent in a corridor of two cells, where the second fits only if the first may share."""
    grid = Grid(2, 2, overlapping={1: 1})
    agents = [thing(name, at=(0, 0)) for name in "abc"] + [thing("d", at=(0, 1))]
    state = PositionState(agents=named(*agents), grid=seeded(grid, 5))
    state.reset()
    assert list(grid[0, 0]) == ["a", "b", "c"]
    state.randomize_placement_order = True
    orders: dict[tuple, int] = {}
    for _ in range(1200):
        state.reset()
        order = tuple(grid[0, 0])
        orders[order] = orders.get(order, 0) + 1
    assert len(orders) == 6
    assert chi_square(list(orders.values()), 200) < 20.5  # 5 degrees of freedom
    # An agent with a position still comes before one without, wherever it stands in the dict.
    late = PositionState(
        agents=named(thing("free"), thing("fixed", at=(0, 0))),
        grid=seeded(Grid(1, 2), 1),
        randomize_placement_order=True,
    )
    for _ in range(50):
        late.reset()


def test_s2_only_agents_at_random_keep_apart():
    grid = Grid(1, 4, overlapping={1: 1})
    fixed = [thing(name, at=(0, 0)) for name in "ab"]
    free = [thing(name) for name in "cde"]
    state = PositionState(agents=named(*fixed, *free), grid=seeded(grid, 6), no_overlap_at_reset=True)
    for _ in range(20):
        state.reset()
        assert list(grid[0, 0]) == ["a", "b"]
        assert sorted(len(grid[0, col]) for col in (1, 2, 3)) == [1, 1, 1]


def test_s3_positions_available():
    grid = Grid(2, 3, overlapping={1: 2})
    agents = [thing("one", 1, at=(0, 1)), thing("two", 2, at=(1, 2)), thing("three", 3, at=(1, 0))]
    state = PositionState(agents=named(*agents), grid=grid)
    everything = list(range(6))
    assert state.ravelled_positions_available == {1: everything, 2: everything, 3: everything}
    state.reset()
    assert state.ravelled_positions_available == {1: [0, 2, 4, 5], 2: [0, 1, 2, 4], 3: [0, 2, 4]}
    state.no_overlap_at_reset = True
    assert state.ravelled_positions_available == {encoding: [0, 2, 4] for encoding in (1, 2, 3)}


def around(target, barriers=(), frees=(), size=(6, 8), seed=0, kind=AROUND, overlapping=None, **kwargs):
    """A placement around a target: barriers have encoding 2, free agents 3, the target 1."""
    agents = named(target, *barriers, *frees)
    return kind(
        agents=agents,
        grid=seeded(Grid(*size, overlapping=overlapping), seed),
        target_agent=target,
        barrier_encodings={2},
        free_encodings={1, 3},
        **kwargs,
    )


@pytest.mark.parametrize("kind", [AROUND, MazePlacementState])
def test_s4_arguments(kind):
    target = thing("t", 1)
    grid, agents = Grid(3, 3), named(target, thing("b", 2))
    for value in (None, "nobody", 3, thing("t", 1)):
        with pytest.raises(AssertionError, match="target_agent"):
            kind(agents=agents, grid=grid, target_agent=value)
    with pytest.raises(AssertionError, match="target_agent"):
        kind(agents=agents, grid=grid)
    for name in ("barrier_encodings", "free_encodings"):
        with pytest.raises(TypeError, match=name):
            kind(agents=agents, grid=grid, target_agent="t", **{name: [2]})
        with pytest.raises(AssertionError, match=name):
            kind(agents=agents, grid=grid, target_agent="t", **{name: {"2"}})
    for name in ("cluster_barriers", "scatter_free_agents"):
        with pytest.raises(AssertionError, match=name):
            kind(agents=agents, grid=grid, target_agent="t", **{name: 1})
    given = {2}
    state = kind(agents=agents, grid=grid, target_agent="t", barrier_encodings=given)
    assert state.target_agent is target
    assert (state.barrier_encodings, state.free_encodings) == ({2}, set())
    assert given == {2}
    with pytest.raises(AssertionError, match="t has encoding 1, which is neither a barrier nor free"):
        state.reset()
    state.free_encodings = 1
    state.reset()
    state.target_agent = agents["b"]
    assert state.target_agent is agents["b"]


def test_7_others_may_stand_anywhere():
    state = around(thing("t"), [thing("b", 2)], [thing("o", 9)], size=(2, 2), others="random")
    cells = {at(state.agents["o"]) for _ in range(60) if state.reset() is None}
    assert len(cells) == 4
    with pytest.raises(AssertionError, match="others"):
        around(thing("t"), others="anywhere")


@pytest.mark.parametrize("kind", [AROUND, MazePlacementState])
def test_s4_the_target_comes_first_and_clashes_fail(kind):
    target, other = thing("t", at=(1, 1)), thing("x", 3, at=(1, 1))
    with pytest.raises(AssertionError, match=r"x: initial_position \(1, 1\) is the target's"):
        around(target, [], [other], kind=kind).reset()
    around(thing("t", at=(1, 1)), [], [thing("x", 3, at=(1, 1))], kind=kind, overlapping={1: 3}).reset()
    with pytest.raises(AssertionError, match=r"t: initial_position \(6, 0\) is outside"):
        around(thing("t", at=(6, 0)), kind=kind).reset()


def test_s4_a_target_without_position_is_anywhere_equally_likely():
    target = thing("t")
    state = around(target, [thing("b", 2)], size=(2, 2), cluster_barriers=True, seed=1)
    counts = counts_of(state, [target], 800)
    assert chi_square(list(counts.values()), 200) < CHI_999[3]


def test_s5_barriers_cluster_and_free_agents_scatter_in_the_grid_of_the_specification():
    target = thing("t", at=(3, 2))
    barriers = [thing(f"b{n}", 2) for n in range(24)]
    frees = [thing(f"f{n}", 3) for n in range(3)]
    state = around(target, barriers, frees, cluster_barriers=True, scatter_free_agents=True)
    state.reset()
    assert all(max(abs(at(barrier)[0] - 3), abs(at(barrier)[1] - 2)) <= 2 for barrier in barriers)
    assert at(frees[0]) == (0, 7)
    distances = [(row - 3) ** 2 + (col - 2) ** 2 for row, col in map(at, barriers)]
    assert distances == sorted(distances)
    apart = [(row - 3) ** 2 + (col - 2) ** 2 for row, col in map(at, frees)]
    assert apart == sorted(apart, reverse=True)
    before = [at(agent) for agent in (*barriers, *frees)]
    state.reset()
    assert [at(agent) for agent in (*barriers, *frees)] == before  # ties are broken the same way


def test_s5_of_equally_near_and_equally_far_cells_the_first_in_reading_order_is_taken():
    barriers = [thing(f"b{n}", 2) for n in range(4)]
    frees = [thing(f"f{n}", 3) for n in range(4)]
    target = thing("t", at=(2, 2))
    state = around(target, barriers, frees, size=(5, 5), cluster_barriers=True, scatter_free_agents=True)
    state.reset()
    assert [at(barrier) for barrier in barriers] == [(1, 2), (2, 1), (2, 3), (3, 2)]
    assert [at(free) for free in frees] == [(0, 0), (0, 4), (4, 0), (4, 4)]


def test_s5_those_who_may_share_all_take_the_furthest_cell():
    frees = [thing(f"f{n}", 3) for n in range(5)]
    state = around(thing("t", at=(3, 2)), [], frees, scatter_free_agents=True, overlapping={3: 3})
    state.reset()
    assert {at(free) for free in frees} == {(0, 7)}
    state.no_overlap_at_reset = True
    state.reset()
    assert len({at(free) for free in frees}) == 5


def test_s5_without_flags_everybody_is_anywhere():
    barrier, free = thing("b", 2), thing("f", 3)
    counts = counts_of(around(thing("t", at=(0, 0)), [barrier], [free], size=(2, 2)), [barrier, free], 1200)
    assert len(counts) == 6
    assert chi_square(list(counts.values()), 200) < 20.5  # 5 degrees of freedom


def test_s6_barriers_stand_on_walls_and_free_agents_on_passages_of_a_new_maze():
    barriers = [thing(f"b{n}", 2) for n in range(70)]
    frees = [thing(f"f{n}", 3) for n in range(10)]
    target = thing("t", at=(4, 4))
    state = around(target, barriers, frees, size=(10, 12), kind=MazePlacementState, overlapping={2: 2})
    seen = set()
    for _ in range(20):
        state.reset()
        walls = {at(barrier) for barrier in barriers}
        passages = {at(free) for free in frees} | {at(target)}
        assert not walls & passages
        # No square of four cells is open in such a maze, so none can be held by free agents alone.
        for row, col in passages:
            assert not {(row, col), (row + 1, col), (row, col + 1), (row + 1, col + 1)} <= passages
        seen.add(frozenset(walls))
    assert len(seen) == 20


def test_s6_clustered_walls_leave_a_way_to_the_target():
    """S6, manual 3.2.1: the target stays connected with the scattered agents."""
    barriers = [thing(f"b{n}", 2) for n in range(20)]
    frees = [thing(f"f{n}", 3) for n in range(4)]
    target = thing("t")
    state = around(
        target,
        barriers,
        frees,
        size=(8, 8),
        kind=MazePlacementState,
        cluster_barriers=True,
        scatter_free_agents=True,
        seed=3,
    )
    for _ in range(30):
        state.reset()
        walls = {at(barrier) for barrier in barriers}
        reached, edge = {at(target)}, [at(target)]
        while edge:
            row, col = edge.pop()
            for cell in ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)):
                if min(cell) >= 0 and max(cell) < 8 and cell not in walls | reached:
                    reached.add(cell)
                    edge.append(cell)
        assert {at(free) for free in frees} <= reached


@pytest.mark.parametrize("others", [None, "random"])
def test_s3_s6_the_open_cells_of_a_maze(others):
    """S3, S6: a barrier's cells are walls, a free agent's passages; together all free cells."""
    bystander = [thing("o", 7)] if others else []
    target, barrier, free = thing("t", 1), thing("b", 2), thing("f", 3)
    state = around(target, [barrier], [free, *bystander], (8, 8), kind=MazePlacementState, others=others)
    for _ in range(5):
        state.reset()
        found = state.ravelled_positions_available
        walls, passages = set(found[2]), set(found[3])
        taken = {at(agent)[0] * 8 + at(agent)[1] for agent in state.agents.values()}
        assert not walls & passages
        assert walls | passages | taken == set(range(64))
        assert found[1] == found[3], "the target is free too"
        assert others is None or set(found[7]) == walls | passages
        assert state.ravelled_positions_available == found
        barrier_at, free_at = (at(agent)[0] * 8 + at(agent)[1] for agent in (barrier, free))
        state.grid.remove(barrier, at(barrier))
        state.grid.remove(free, at(free))
        found = state.ravelled_positions_available
        assert barrier_at in found[2]
        assert barrier_at not in found[3]
        assert free_at in found[3]
        assert free_at not in found[2]


def test_s6_mazes_are_the_releases_unless_told_otherwise():
    """Fewer walls than cells of the maze stay shut without the release's condition."""

    def walls(**kwargs):
        state = around(thing("t"), [thing("b", 2)], kind=MazePlacementState, size=(20, 20), **kwargs)
        state.reset()
        return len(state.ravelled_positions_available[2])

    assert walls() == walls(strict_maze=True) > walls(strict_maze=False)
    with pytest.raises(AssertionError, match="strict_maze 0 is no bool"):
        walls(strict_maze=0)


def test_s6_too_few_walls_is_a_runtime_error():
    barriers = [thing(f"b{n}", 2) for n in range(12)]
    with pytest.raises(RuntimeError, match="no cell is left for b"):
        around(thing("t"), barriers, size=(4, 4), kind=MazePlacementState).reset()


def test_s7_health():
    grid = Grid(2, 2)
    given, drawn = thing("given", initial_health=0.25), thing("drawn")
    state = HealthState(agents=named(given, drawn), grid=seeded(grid, 8))
    values = []
    for _ in range(1000):
        given.health = drawn.health = 0
        state.reset()
        assert given.health == 0.25
        assert given.active
        assert drawn.active
        values.append(drawn.health)
    counts, _ = np.histogram(values, 10, (0, 1))
    assert chi_square(counts, 100) < CHI_999[9]


def test_s7_orientation():
    given, drawn = soldier("given", initial_orientation=2), soldier("drawn")
    state = OrientationState(agents=named(given, drawn, thing()), grid=seeded(Grid(2, 2), 9))
    values = []
    for _ in range(800):
        given.orientation = 4
        state.reset()
        assert given.orientation == 2
        values.append(drawn.orientation)
    assert chi_square(np.bincount(values, minlength=5)[1:], 200) < CHI_999[3]


def test_s7_ammo():
    some, none = soldier("some", initial_ammo=3), soldier("none", initial_ammo=-2)
    state = AmmoState(agents=named(some, none, thing()), grid=Grid(2, 2))
    some.ammo, none.ammo = 0, 9
    state.reset()
    assert (some.ammo, none.ammo) == (3, 0)


@pytest.mark.parametrize(
    "only",
    [{"one"}, ["one"], {1}, lambda agent: agent.id == "one"],
    ids=["id", "list", "encoding", "function"],
)
def test_7_only_some_are_begun_with(only):
    one = soldier("one", 1, initial_health=0.5, initial_orientation=1)
    two = soldier("two", 2, initial_health=0.5, initial_orientation=1)
    grid = Grid(2, 2)
    for kind in (HealthState, AmmoState, OrientationState):
        for agent in (one, two):
            agent.health, agent.ammo, agent.orientation = 0.125, 1, 3
        kind(agents=named(one, two), grid=grid, only=only).reset()
        assert (two.health, two.ammo, two.orientation) == (0.125, 1, 3)
        assert (one.health, one.ammo, one.orientation) != (0.125, 1, 3)


def test_one_seed_one_beginning():
    """Section 7: placement, mazes, health and orientation follow from the seed, and nothing else is drawn from."""
    np.random.seed(1)  # noqa: NPY002 - to see that it is left alone
    before = np.random.get_state()[1].tolist()  # noqa: NPY002

    def begin(seed):
        agents = [soldier(f"s{n}", 3) for n in range(5)]
        target = thing("t")
        state = around(
            target, [thing(f"b{n}", 2) for n in range(9)], agents, kind=MazePlacementState, seed=seed
        )
        more = [kind(agents=state.agents, grid=state.grid) for kind in (HealthState, OrientationState)]
        for part in (state, *more, state):
            part.reset()
        return [(at(agent), agent.health) for agent in state.agents.values()] + [
            agent.orientation for agent in agents
        ]

    assert begin(1) == begin(1)
    assert all(one != other for one, other in pairwise([begin(1), begin(2), begin(3)]))
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
