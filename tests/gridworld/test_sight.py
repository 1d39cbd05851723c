"""What blockers hide: specification O7, O8 and section 7 (412); against the slow twin in tests/naive/gridworld_sight.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.gridworld.agents import GridObservingAgent
from interplay.gridworld.grid import Grid
from interplay.gridworld.observers import (
    AbsoluteEncodingObserver,
    PositionCenteredEncodingObserver,
    StackedPositionCenteredEncodingObserver,
)
from interplay.gridworld.sight import create_grid_and_mask
from tests.gridworld.boards import named, placed, thing, walker
from tests.naive import gridworld_sight as naive


def eye(at, reach, **kwargs):
    return GridObservingAgent(id="eye", encoding=1, initial_position=np.array(at), view_range=reach, **kwargs)


def view(observer, agent):
    (value,) = observer.get_obs(agent).values()
    return value


@pytest.mark.parametrize("blocker", [(r, c) for r in range(-4, 5) for c in range(-4, 5)])
def test_o7_one_blocker_hides_what_the_twin_says(blocker):
    reach, size = 5, (11, 11)
    agent = eye((5, 5), reach)
    wall = thing("wall", 2, at=(5 + blocker[0], 5 + blocker[1]), blocking=True)
    grid = Grid(*size, overlapping={1: 2})
    placed(grid, agent, wall)
    shown = {(5, 5): 1, (5 + blocker[0], 5 + blocker[1]): 2}
    expected = naive.window((5, 5), reach, size, shown, {(5 + blocker[0], 5 + blocker[1])})
    seen = view(PositionCenteredEncodingObserver(agents=named(agent, wall), grid=grid), agent)
    if blocker == (0, 0):
        assert not (seen == -2).any()
    else:
        assert seen.tolist() == expected
        assert (seen == -2).any() == (max(map(abs, blocker)) < reach)
    _, mask = create_grid_and_mask(agent, grid, reach)
    assert np.array_equal(mask == 0, seen == -2)


def test_o7_worked_by_hand():
    """Rays that touch a centre do not hide it; right behind a blocker in the row the shadow widens."""
    agent, wall = eye((3, 0), 6), thing("wall", 2, at=(3, 1), blocking=True)
    grid = Grid(7, 7)
    placed(grid, agent, wall)
    seen = view(PositionCenteredEncodingObserver(agents=named(agent, wall), grid=grid), agent)
    # The rays through (3 - 0.5, 0.5) and (3 + 0.5, 0.5) have slope 1: the diagonal is in sight, all within it is hidden.
    for right in range(2, 7):
        hidden = [down for down in range(-6, 7) if seen[6 + down, 6 + right] == -2]
        assert hidden == list(range(-right + 1, right))
    assert seen[6, 7] == 2


def test_3_2_9_a_blocker_among_two_in_a_cell_hides_the_corner_behind_it():
    """Manual 3.2.9: agent4 of the example blocks: the three cells in the corner beyond it are masked, the others are not."""
    agents = example(3, overlapping_blocker=True)
    grid = Grid(6, 6, overlapping={4: {5}, 5: {4}})
    placed(grid, *agents)
    seen = view(PositionCenteredEncodingObserver(agents=named(*agents), grid=grid), agents[0])
    expected = np.array(CENTRED)
    expected[5, 6] = expected[6, 5] = expected[6, 6] = -2
    assert seen[5, 5] in (4, 5)
    expected[5, 5] = seen[5, 5]
    assert seen.tolist() == expected.tolist()


def example(view_range, overlapping_blocker=False):
    """The six agents of the manual's 3.2.6."""
    return [
        GridObservingAgent(id="agent0", encoding=1, initial_position=np.array([2, 2]), view_range=view_range),
        thing("agent1", 2, at=(0, 1)),
        thing("agent2", 3, at=(1, 0)),
        thing("agent3", 4, at=(4, 4)),
        thing("agent4", 5, at=(4, 4), blocking=overlapping_blocker),
        thing("agent5", 6, at=(5, 5)),
    ]


CENTRED = [
    [-1, -1, -1, -1, -1, -1, -1],
    [-1, 0, 2, 0, 0, 0, 0],
    [-1, 3, 0, 0, 0, 0, 0],
    [-1, 0, 0, 1, 0, 0, 0],
    [-1, 0, 0, 0, 0, 0, 0],
    [-1, 0, 0, 0, 0, 4, 0],
    [-1, 0, 0, 0, 0, 0, 6],
]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_o7_boards_of_blockers(data):
    """Random boards: the three observers and the mask agree with the twin; inactive blockers hide nothing."""
    rows, cols = data.draw(st.integers(1, 9), "rows"), data.draw(st.integers(1, 9), "cols")
    cells = [(row, col) for row in range(rows) for col in range(cols)]
    at = data.draw(st.sampled_from(cells), "at")
    reach = data.draw(st.integers(0, 6), "reach")
    free = [cell for cell in cells if cell != at]
    others = data.draw(st.lists(st.sampled_from(free), unique=True, max_size=12), "others") if free else []
    kinds = [data.draw(st.sampled_from(["plain", "blocking", "inactive"])) for _ in others]
    agent = eye(at, reach)
    things = [
        thing(f"x{n}", 2 + n % 3, at=cell, blocking=kind != "plain")
        for n, (cell, kind) in enumerate(zip(others, kinds, strict=True))
    ]
    grid = Grid(rows, cols)
    agents = named(agent, *things)
    placed(grid, agent, *things)
    for one, kind in zip(things, kinds, strict=True):
        if kind == "inactive":
            one.active = False
    shown = {at: 1} | {tuple(one.position.tolist()): one.encoding for one in things}
    walls = {cell for cell, kind in zip(others, kinds, strict=True) if kind == "blocking"}
    expected = np.array(naive.window(at, reach, (rows, cols), shown, walls))

    centred = view(PositionCenteredEncodingObserver(agents=agents, grid=grid), agent)
    assert np.array_equal(centred, expected)

    stacked = view(StackedPositionCenteredEncodingObserver(agents=agents, grid=grid), agent)
    for layer in range(stacked.shape[2]):
        assert np.array_equal(stacked[:, :, layer], np.where(expected < 0, expected, expected == layer + 1))

    absolute = view(AbsoluteEncodingObserver(agents=agents, grid=grid), agent)
    for row, col in cells:
        down, right = row - at[0] + reach, col - at[1] + reach
        near = min(down, right) >= 0 and max(down, right) <= 2 * reach
        here = expected[down, right] if near else -2
        assert absolute[row, col] == (-1 if (row, col) == at else here)

    local, mask = create_grid_and_mask(agent, grid, reach, agents)
    assert mask.dtype.kind == "i"
    for down in range(2 * reach + 1):
        for right in range(2 * reach + 1):
            row, col = at[0] - reach + down, at[1] - reach + right
            inside = 0 <= row < rows and 0 <= col < cols
            assert mask[down, right] == (expected[down, right] != -2)
            assert local[down, right] == (grid[row, col] if inside else None)


def test_o7_a_blocker_in_the_own_cell_or_out_of_range_hides_nothing():
    agent, here, far = (
        eye((2, 2), 2),
        thing("here", 2, at=(2, 2), blocking=True),
        thing("far", 3, at=(2, 5), blocking=True),
    )
    grid = Grid(5, 8, overlapping={1: 2})
    placed(grid, agent, here, far)
    observer = PositionCenteredEncodingObserver(agents=named(agent, here, far), grid=grid)
    assert not (view(observer, agent) == -2).any()
    agent = eye((2, 2), 2, blocking=True)  # it does not hide the world from itself
    grid = Grid(5, 5)
    placed(grid, agent)
    assert not (view(PositionCenteredEncodingObserver(agents=named(agent), grid=grid), agent) == -2).any()


def test_o7_blockers_change_while_they_stand():
    """O7: sight follows `blocking` and `active` at once; an inactive blocker still shows (issue 412)."""
    agent, wall = eye((0, 0), 3), thing("wall", 2, at=(0, 1))
    grid = Grid(1, 4)
    placed(grid, agent, wall)
    observer = PositionCenteredEncodingObserver(agents=named(agent, wall), grid=grid)

    def along():
        return view(observer, agent)[3, 3:].tolist()

    assert along() == [1, 2, 0, 0]
    wall.blocking = True
    assert along() == [1, 2, -2, -2]
    wall.active = False
    assert along() == [1, 2, 0, 0]
    wall.active = True
    assert along() == [1, 2, -2, -2]
    wall.encoding = 9
    assert along() == [1, 9, -2, -2]
    wall.health = 0
    assert along() == [1, 9, 0, 0]
    wall.health = 1
    grid.remove(wall, (0, 1))
    assert along() == [1, 0, 0, 0]


def test_o7_one_of_several_in_a_cell_blocks():
    agent, plain, wall = (
        eye((0, 0), 3),
        thing("plain", 2, at=(0, 1)),
        thing("wall", 2, at=(0, 1), blocking=True),
    )
    grid = Grid(1, 4, overlapping={2: 2})
    placed(grid, agent, plain, wall)
    observer = PositionCenteredEncodingObserver(agents=named(agent, plain, wall), grid=grid)
    assert view(observer, agent)[3, 3:].tolist() == [1, 2, -2, -2]
    grid.remove(wall, (0, 1))
    assert view(observer, agent)[3, 3:].tolist() == [1, 2, 0, 0]


def test_o8_the_local_grid():
    agent, other = walker("a", initial_position=np.array([0, 1])), thing("x", at=(1, 1))
    grid = Grid(2, 2)
    placed(grid, agent, other)
    cells, mask = create_grid_and_mask(agent, grid, 1, named(agent, other))
    assert cells.shape == mask.shape == (3, 3)
    assert cells[1, 1] == {"a": agent}
    assert cells[2, 1] == {"x": other}
    assert cells[1, 0] == cells[2, 0] == {}
    assert all(cells[0, col] is None for col in range(3))
    assert all(cells[row, 2] is None for row in range(3))
    assert mask.tolist() == [[1] * 3] * 3
    cells, mask = create_grid_and_mask(agent, grid, 0)
    assert cells.shape == (1, 1)
