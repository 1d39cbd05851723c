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


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2), (5, 7), (20, 30)])
def test_u1_passages_are_connected_loop_free_and_cannot_grow(size, strict):
    for seed in range(15):
        maze = generate_maze(*size, seed=seed, strict=strict)
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
        # The release leaves some of them closed.
        if not strict:
            for cell in np.argwhere(maze == 1).tolist():
                assert len(open_neighbours(maze, *cell)) != 1  # none: it is closed in by walls


def probabilities(rows, cols, start, strict):
    """Maze as bytes -> its probability, by following every choice of the growth."""

    def neighbours(cell):
        row, col = cell
        return (row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)

    def inside(cell):
        return 0 <= cell[0] < rows and 0 <= cell[1] < cols

    def judged(cell, passages, visited):
        up, down, left, right = (
            near not in visited for near in neighbours(cell)
        )  # those beyond the edge too
        return sum(near in passages for near in neighbours(cell)) < 2 and (
            not strict or up != down or left != right
        )

    first = frozenset(filter(inside, neighbours(start)))
    ahead, found = {(frozenset({start}), first | {start}, first): 1.0}, {}
    while ahead:
        behind, ahead = ahead, {}
        for (passages, visited, waiting), chance in behind.items():
            if not waiting:
                maze = np.ones((rows, cols), int)
                maze[tuple(np.array(sorted(passages)).T)] = 0
                found[maze.tobytes()] = found.get(maze.tobytes(), 0.0) + chance
            for cell in waiting:
                then = passages, visited, waiting - {cell}
                if judged(cell, passages, visited):
                    fresh = frozenset(filter(inside, neighbours(cell))) - visited
                    then = passages | {cell}, visited | fresh, (waiting - {cell}) | fresh
                ahead[then] = ahead.get(then, 0.0) + chance / len(waiting)
    return found


@pytest.mark.parametrize("strict", [True, False])
def test_u1_mazes_are_as_likely_as_the_growth_makes_them(strict):
    """Release: a wall is opened if two opposite neighbours differ in being unvisited; without that as an option."""
    size = (3, 4)
    expected, number = probabilities(*size, (0, 0), strict), 4000
    assert sum(expected.values()) == pytest.approx(1)
    counts = {}
    for seed in range(number):
        maze = generate_maze(*size, start=np.array([0, 0]), seed=seed, strict=strict).tobytes()
        counts[maze] = counts.get(maze, 0) + 1
    assert counts.keys() <= expected.keys()
    for maze, chance in expected.items():
        spread = (number * chance * (1 - chance)) ** 0.5
        assert abs(counts.get(maze, 0) - number * chance) < 5 * spread + 1
    assert probabilities(*size, (0, 0), not strict) != expected


def test_u1_the_release_has_fewer_passages():
    """Measured with the release: 87.1 of 144 cells; without its condition 91.5."""
    for strict, passages in ((True, 87.1), (False, 91.5)):
        mazes = [generate_maze(8, 18, seed=seed, strict=strict) for seed in range(400)]
        assert abs(np.mean([(maze == 0).sum() for maze in mazes]) - passages) < 0.7
    assert np.array_equal(generate_maze(8, 18, seed=1), generate_maze(8, 18, seed=1, strict=True))


def test_u1_the_start_is_a_passage():
    for row in range(4):
        for col in range(5):
            for dtype in (int, np.int32, float):
                assert generate_maze(4, 5, start=np.array([row, col], dtype), seed=row)[row, col] == 0


def test_u1_seeds():
    assert np.array_equal(generate_maze(8, 8, seed=3), generate_maze(8, 8, seed=3))
    assert len({generate_maze(8, 8, seed=seed).tobytes() for seed in range(20)}) == 20
    assert len({generate_maze(8, 8).tobytes() for _ in range(5)}) == 5
