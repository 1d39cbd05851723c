"""Facts of a world in words: the bounds of its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.view.facts import _range


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-np.inf, np.inf, "without bounds"),
        (-3.0, np.inf, "at least -3"),
        (-np.inf, 0.5, "at most 0.5"),
        (-3.0, 0.5, "-3 to 0.5"),
        ([-3.0, 1.0], [0.5, 2.5], "-3 to 2.5, each entry with bounds of its own"),
    ],
)
def test_bounds_of_numbers(low, high, words):
    low, high = (np.broadcast_to(np.array(bound, np.float32), (2,)) for bound in (low, high))
    assert _range(spaces.Box(low, high)) == words
