"""PPO: its loss in numbers worked by hand, where its gradient vanishes, and when it has learnt enough."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.train.algorithms.ppo import Ppo, ppo_terms
from interplay.train.batches import Batch
from interplay.train.losses import Prediction, Terms, total
from interplay.train.settings import PpoGroup


def terms(ratio, advantage, acts=1.0, counts=1.0, value=0.0, target=0.0):
    one = jnp.ones(1)
    predicted = Prediction(None, jnp.log(jnp.asarray([ratio])), 2 * one, value * one)
    samples = Batch(None, None, 0 * one, advantage * one, target * one, acts * one, None)
    return ppo_terms(predicted, samples, counts * one, 0.2)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss"),
    [(1.0, 3.0, -3.0), (1.5, 1.0, -1.2), (0.5, 1.0, -0.5), (1.5, -1.0, 1.5), (0.5, -1.0, 0.8)],
)
def test_surrogate_by_hand(ratio: float, advantage: float, loss: float) -> None:
    assert float(terms(ratio, advantage).policy) == pytest.approx(loss)


@pytest.mark.parametrize(
    ("ratio", "advantage", "flat"),
    [(1.5, 1.0, True), (0.5, -1.0, True), (1.5, -1.0, False), (0.5, 1.0, False)],
)
def test_gradient_vanishes_exactly_where_the_clip_holds(ratio: float, advantage: float, flat: bool) -> None:
    slope = jax.grad(lambda r: terms(r, advantage).policy)(ratio)
    assert (float(slope) == 0.0) is flat


def test_kl_estimate_is_never_negative_and_zero_without_change() -> None:
    assert float(terms(1.0, 1.0).kl) == 0.0
    for ratio in (0.3, 0.9, 1.1, 3.0):
        assert float(terms(ratio, 1.0).kl) == pytest.approx(ratio - 1 - np.log(ratio), rel=1e-5)


def test_idle_rows_teach_the_value_only_and_padding_nothing() -> None:
    idle = terms(2.0, 5.0, acts=0.0, value=1.0, target=3.0)
    assert [float(x) for x in idle] == [0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    padding = terms(2.0, 5.0, acts=0.0, counts=0.0, value=1.0, target=3.0)
    assert [float(x) for x in padding] == [0.0] * 8


@pytest.mark.parametrize(
    ("ratio", "acts", "clipped"),
    [(1.0, 1.0, 0), (1.19, 1.0, 0), (1.21, 1.0, 1), (0.81, 1.0, 0), (0.79, 1.0, 1), (0.5, 0.0, 0)],
)
def test_rows_beyond_the_range_are_counted_on_both_sides(ratio: float, acts: float, clipped: int) -> None:
    for advantage in (1.0, -1.0):
        assert float(terms(ratio, advantage, acts=acts).clipped) == clipped


def test_total_weighs_the_terms() -> None:
    t = terms(1.0, 1.0, value=1.0, target=3.0)
    assert float(total(t, 0.5, 0.1)) == pytest.approx(-1.0 + 0.5 * 4.0 - 0.1 * 2.0)


@pytest.mark.parametrize(
    ("target_kl", "kl", "acting", "enough"),
    [(0.01, 0.14, 10.0, False), (0.01, 0.16, 10.0, True), (0.01, 0.01, 0.0, False), (None, 1e9, 1.0, False)],
)
def test_it_has_enough_beyond_one_and_a_half_times_the_target(
    target_kl: float | None, kl: float, acting: float, enough: bool
) -> None:
    """The estimate is a mean over acting rows, of which there may be none."""
    sums = Terms(*[0.0] * 8)._replace(kl=kl, acting=acting, rows=1000.0)
    assert Ppo(PpoGroup(target_kl=target_kl)).enough(sums) == enough
