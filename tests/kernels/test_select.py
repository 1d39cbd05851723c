"""Order statistics: what a sorted list has at the rank, and the two sides in place."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.kernels.select import select

VALUES = st.lists(st.floats(-3, 3) | st.integers(0, 3).map(float), min_size=1, max_size=60)


@settings(deadline=None)  # the first example compiles
@given(VALUES, st.data())
def test_select_finds_what_a_sorted_list_has_there(given_values, data):
    values = np.array([9.0, *given_values, -9.0])
    low, high = 1, len(values) - 1
    rank = data.draw(st.integers(low, high - 1))
    found = select(values, low, high, rank)
    ascending = sorted(given_values)
    assert found == values[rank] == ascending[rank - low]
    assert (values[low:rank] <= found).all()
    assert (values[rank:high] >= found).all()
    assert sorted(values[low:high]) == ascending
    assert (values[0], values[-1]) == (9.0, -9.0)  # nothing outside was touched


def test_select_stays_linear_in_orders_that_ruin_simple_pivots():
    n = 100_001
    for values in (np.arange(n, dtype=float), np.arange(n, 0, -1.0), np.zeros(n), np.arange(n) % 2.0):
        wanted = np.sort(values)[n // 3]
        assert select(values, 0, n, n // 3) == wanted
