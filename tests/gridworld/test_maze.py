"""Mazes: specification U1."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.gridworld.maze import generate_maze


def open_neighbours(maze, row, col):
    near = ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1))
    return [
        cell
        for cell in near
        if min(cell) >= 0 and cell[0] < maze.shape[0] and cell[1] < maze.shape[1] and not maze[cell]
    ]


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2), (5, 7), (20, 30)])
def test_u1_passages_are_connected_loop_free_and_cannot_grow(size):
    for seed in range(15):
        maze = generate_maze(*size, seed=seed)
        assert maze.shape == size
        assert set(np.unique(maze)) <= {0, 1}
        passages = [tuple(cell) for cell in np.argwhere(maze == 0).tolist()]
        reached, edge = {passages[0]}, [passages[0]]
        while edge:
            for cell in open_neighbours(maze, *edge.pop()):
                if cell not in reached:
                    reached.add(cell)
                    edge.append(cell)
        assert len(reached) == len(passages)
        # A connected graph without loops has one edge less than it has nodes: each cell was opened with one neighbour.
        assert sum(len(open_neighbours(maze, *cell)) for cell in passages) == 2 * (len(passages) - 1)
        # Every wall in reach would close a loop: growth went on while a cell had fewer than two open neighbours.
        for cell in np.argwhere(maze == 1).tolist():
            assert len(open_neighbours(maze, *cell)) != 1  # none: it is closed in by walls


def test_u1_the_start_is_a_passage():
    for row in range(4):
        for col in range(5):
            for dtype in (int, np.int32, float):
                assert generate_maze(4, 5, start=np.array([row, col], dtype), seed=row)[row, col] == 0


def test_u1_seeds():
    assert np.array_equal(generate_maze(8, 8, seed=3), generate_maze(8, 8, seed=3))
    assert len({generate_maze(8, 8, seed=seed).tobytes() for seed in range(20)}) == 20
    assert len({generate_maze(8, 8).tobytes() for _ in range(5)}) == 5


@pytest.mark.parametrize("value", [0, -1, 2.0, True, None, "3", np.int64(3)])
def test_u1_sizes(value):
    with pytest.raises(AssertionError, match="maze: rows"):
        generate_maze(value, 3)
    with pytest.raises(AssertionError, match="maze: cols"):
        generate_maze(3, value)


@pytest.mark.parametrize(
    "start",
    [
        (0, 0),
        [0, 0],
        0,
        np.array(0),
        np.array([0]),
        np.array([[0, 0]]),
        np.array(["a", "b"]),
        np.array([0.5, 0]),
    ],
)
def test_u1_a_start_is_an_array_of_two(start):
    with pytest.raises(AssertionError, match="maze: start"):
        generate_maze(3, 3, start=start)


@pytest.mark.parametrize("start", [(-1, 0), (0, -1), (3, 0), (0, 3), (2**40, 0)])
def test_u1_a_start_outside_is_an_index_error(start):
    with pytest.raises(IndexError, match="maze: start"):
        generate_maze(3, 3, start=np.array(start))
