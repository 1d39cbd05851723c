"""Direction fields as pictures."""

from __future__ import annotations

import numpy as np
import pytest

from studies.field_picture import plot_field

WALLS = np.zeros((4, 6), bool)
WALLS[1, 2] = True


def picture(path) -> np.ndarray:
    image = pytest.importorskip("matplotlib.image", reason="needs the extra plot")
    return image.imread(path)


def field(down: float, right: float) -> np.ndarray:
    moves = np.full((4, 6, 2), [down, right], float)
    moves[1, 2] = np.nan
    return moves


def test_another_move_is_another_picture_and_the_same_is_the_same(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    ways = {"right": (0.0, 1.0), "down": (1.0, 0.0), "still": (0.0, 0.0), "again": (0.0, 1.0)}
    paths = {
        name: plot_field(field(*way), WALLS, tmp_path / f"{name}.png", {"start": (0, 0)})
        for name, way in ways.items()
    }
    right = paths["right"].read_bytes()
    assert right == paths["again"].read_bytes()
    assert right not in (paths["down"].read_bytes(), paths["still"].read_bytes())
    assert picture(paths["right"]).shape == picture(paths["down"]).shape


@pytest.mark.parametrize(
    ("way", "axis", "sign"), [((0, 1), 1, 1), ((0, -1), 1, -1), ((1, 0), 0, 1), ((-1, 0), 0, -1)]
)
def test_arrows_point_where_moves_go(tmp_path, way, axis, sign):
    """The head of an arrow is wider than its shaft, so its ink is heavier on the side to which it points."""
    pytest.importorskip("matplotlib", reason="needs the extra plot")
    moves, walls = np.full((6, 6, 2), np.nan), np.zeros((6, 6), bool)
    empty = picture(plot_field(moves, walls, tmp_path / "empty.png"))
    moves[3, 3] = way
    drawn = picture(plot_field(moves, walls, tmp_path / "one.png"))
    where = np.nonzero(np.abs(drawn - empty).max(axis=2) > 0.3)[axis]
    middle = (where.min() + where.max()) / 2
    assert sign * (where.mean() - middle) > 1.0
