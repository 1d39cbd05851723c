"""Lambda returns against a slow twin that adds up what a stretch says."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from interplay.train.factored.utilities import lambda_returns


def slow_return(reward, discount, decides, value, at: int, td_lambda: float) -> float:
    """The mixture of the n-step returns from a frame on: (1 - lambda) lambda^(n - 1) of each, what is left of the longest."""
    if not decides[at]:
        return float(value[at])
    total, share, earned, factor, t = 0.0, 1.0, 0.0, 1.0, at
    while True:
        earned, factor = earned + factor * reward[t], factor * discount[t]
        t += 1
        longest = not decides[t] or factor == 0.0
        own = share if longest else share * (1.0 - td_lambda)
        total += own * (earned + factor * value[t])
        share *= td_lambda
        if longest:
            return total


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([0.0, 0.3, 0.6, 1.0]))
def test_returns_are_mixtures_of_all_lengths(seed: int, frames: int, td_lambda: float):
    rng = np.random.default_rng(seed)
    reward, value = rng.normal(size=(2, 3, frames)).astype(np.float32)
    discount = np.where(rng.random((3, frames)) < 0.2, 0.0, rng.uniform(0.5, 1, (3, frames))).astype(
        np.float32
    )
    decides = rng.random((3, frames)) < 0.8
    decides[:, -1] = False
    found = np.asarray(lambda_returns(reward, discount, decides, value, td_lambda))
    for row in range(3):
        own = (reward[row], discount[row], decides[row], value[row])
        expected = [slow_return(*own, at, td_lambda) for at in range(frames)]
        np.testing.assert_allclose(found[row], expected, rtol=1e-5, atol=1e-5)
