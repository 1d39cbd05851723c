"""Arrays of a checkpoint that do not fit change nothing; those at the ends of their bounds fit."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train.restoring import restore

BOUNDS = {"index": (0, 3)}


def arrays(value: int) -> dict[str, np.ndarray]:
    return {"index": np.full(2, value), "reward": np.full(2, float(value))}


@pytest.mark.parametrize("value", [0, 3])
def test_the_ends_of_bounds_are_taken_back(value: int) -> None:
    mine = arrays(1)
    restore(mine, arrays(value), "run", BOUNDS)
    assert mine["index"].tolist() == mine["reward"].tolist() == [value, value]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"index": np.array([0, 4])}, "array index holds 4, within 0..3 was expected"),
        ({"index": np.array([-1, 0])}, "array index holds -1, within 0..3"),
        ({"reward": np.array([0.0, np.nan])}, "array reward holds NaN"),
        ({"reward": np.zeros(3)}, "this run needs float64"),
    ],
)
def test_what_is_refused_has_changed_nothing(wrong: dict[str, np.ndarray], words: str) -> None:
    mine = arrays(1)
    with pytest.raises(UserError, match=words):
        restore(mine, arrays(2) | wrong, "run", BOUNDS)
    assert mine["index"].tolist() == mine["reward"].tolist() == [1, 1]
