"""The rows in which observations are kept: dtypes that hold the numbers of their spaces."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.train.observations import ObservationRows


@pytest.mark.parametrize(
    ("space", "dtype", "value"),
    [
        (spaces.Box(0, 2**31 - 1, (1,), np.int64), "int32", 2**31 - 1),
        (spaces.Box(0, 2**40, (1,), np.int64), "float32", 2**40),
        (spaces.Box(0, 2**32 - 1, (1,), np.uint64), "uint32", 2**32 - 1),
        (spaces.Box(-(2**40), 0, (1,), np.int64), "float32", -(2**40)),
        (spaces.Discrete(4), "int32", 3),
        (spaces.Discrete(4, start=2**35), "float32", 2**35),
    ],
)
def test_whole_numbers_are_kept_as_what_holds_them(space: spaces.Space, dtype: str, value: int) -> None:
    layout = ObservationRows(spaces.Dict(x=space))
    rows = layout.allocate(1)
    layout.write({"x": np.full((1, 1, *(space.shape or ())), value, space.dtype)}, None, rows)
    assert {name: array.tolist() for name, array in rows.items()} == {dtype: [[value]]}
