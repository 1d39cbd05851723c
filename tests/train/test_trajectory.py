"""Lives that begin and end at any step: their returns are those of a slow loop, and every sample is used exactly once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.train.advantage import generalised_advantage
from interplay.train.algorithms import Algorithm, Segments
from interplay.train.observations import ObservationRows
from interplay.train.samples import PendingSamples, SampleLayout, TrajectoryBuffer, cut_sequences

SLOTS = (2, 3)


class Estimator(Algorithm):
    """What steps were worth, and nothing else."""

    def __init__(self, gamma: float, gae_lambda: float, by_decision: bool) -> None:
        self.gamma, self.gae_lambda, self.by_decision = gamma, gae_lambda, by_decision

    def loss(self, *_: Any) -> Any: ...


RETURNS = Estimator(gamma=0.9, gae_lambda=1.0, by_decision=False)


def estimate(buffer: TrajectoryBuffer, rule: Algorithm) -> list[np.ndarray]:
    along = (buffer.reward, buffer.value, buffer.acting, buffer.ended, buffer.bootstrap)
    return [
        np.asarray(part)
        for part in rule.estimate(Segments(*map(jnp.asarray, (*along, buffer.last_value)), None))
    ]


def random_steps(rng: np.random.Generator, steps: int) -> dict[str, np.ndarray]:
    shape = (steps, *SLOTS)
    ended = rng.random(shape) < 0.2
    return {
        "reward": rng.normal(size=shape).astype(np.float32),
        "value": rng.normal(size=shape).astype(np.float32),
        "acting": rng.random(shape) < 0.8,
        "ended": ended,
        "bootstrap": np.where(ended & (rng.random(shape) < 0.3), rng.normal(size=shape), 0).astype(
            np.float32
        ),
    }


def slow_return(steps: dict[str, np.ndarray], last: np.ndarray, t: int, slot: tuple[int, int]) -> float:
    """The discounted sum from step t until the life's end, by hand."""
    total, weight = 0.0, 1.0
    for u in range(t, len(steps["reward"])):
        total += weight * float(steps["reward"][u][slot])
        weight *= 0.9
        if steps["ended"][u][slot]:
            return total + weight * float(steps["bootstrap"][u][slot])
    return total + weight * float(last[slot])


def buffer_of(steps: dict[str, np.ndarray], last: np.ndarray, earlier: int = 0) -> TrajectoryBuffer:
    buffer = TrajectoryBuffer(earlier, len(steps["reward"]) - earlier, SLOTS)
    for name, array in steps.items():
        getattr(buffer, name)[:] = array
    buffer.last_value[:] = last
    return buffer


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_returns_over_lives_are_those_of_a_slow_loop(seed: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    steps, last = random_steps(rng, length), rng.normal(size=SLOTS).astype(np.float32)
    advantage, target = estimate(buffer_of(steps, last), RETURNS)
    for t, w, a in np.argwhere(steps["acting"]):
        expected = slow_return(steps, last, t, (w, a))
        assert float(target[t, w, a]) == pytest.approx(expected, abs=1e-4)
        assert float(advantage[t, w, a]) == pytest.approx(expected - steps["value"][t, w, a], abs=1e-4)


@pytest.mark.parametrize(("lam", "by_decision"), [(0.0, False), (0.7, False), (0.7, True), (1.0, False)])
def test_every_number_of_the_rule_is_read(lam: float, by_decision: bool) -> None:
    rng = np.random.default_rng(2)
    steps, last = random_steps(rng, 25), rng.normal(size=SLOTS).astype(np.float32)
    rule = Estimator(gamma=0.95, gae_lambda=lam, by_decision=by_decision)
    ours = estimate(buffer_of(steps, last, earlier=9), rule)
    columns = (jnp.asarray(steps[name]) for name in ("reward", "value", "acting", "ended", "bootstrap"))
    theirs = generalised_advantage(*columns, jnp.asarray(last), 0.95, lam, by_decision)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, other, atol=1e-5)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(0, 11), st.integers(1, 5))
def test_every_sample_is_ready_exactly_once_with_the_whole_life_s_return(
    seed: int, earlier: int, rollout: int
) -> None:
    rng = np.random.default_rng(seed)
    updates = 8
    steps = random_steps(rng, updates * rollout)
    buffer = TrajectoryBuffer(earlier, rollout, SLOTS)
    waiting: set[tuple[int, int, int]] = set()
    used: Counter[tuple[int, int, int]] = Counter()
    for update in range(updates):
        now = slice(update * rollout, (update + 1) * rollout)
        for name, array in steps.items():
            getattr(buffer, name)[earlier:] = array[now]
        waiting |= {(update * rollout + t, w, a) for t, w, a in np.argwhere(steps["acting"][now]).tolist()}
        last = rng.normal(size=SLOTS).astype(np.float32)
        buffer.last_value[:] = last
        ready, (_, target) = buffer.ready(), estimate(buffer, RETURNS)
        past = {name: array[: now.stop] for name, array in steps.items()}
        for t, w, a in sorted(waiting):
            at = t - update * rollout + earlier
            assert at >= 0  # nothing leaves the buffer unused
            if not ready[at, w, a]:
                continue
            used[t, w, a] += 1
            over = past["ended"][t:, w, a].any()
            assert over or at < rollout  # only the oldest are cut
            assert float(target[at, w, a]) == pytest.approx(slow_return(past, last, t, (w, a)), abs=1e-4)
        waiting -= set(used)
        buffer.advance()
    assert set(used.values()) <= {1}
    assert all(t >= updates * rollout - earlier for t, _, _ in waiting)


def test_samples_that_wait_move_with_their_trajectories() -> None:
    """Of five samples three wait; the trajectories moved back by 3 steps."""
    layout = SampleLayout(ObservationRows(spaces.Dict(x=spaces.Box(0, 9, (1,), np.float32))), 1, memory=1)
    pending = PendingSamples(layout, 8)
    teaches = np.array([[True, False, True]])
    for step, slots in ((3, [2, 0]), (5, [1]), (9, [2, 1])):
        seen, count = layout.allocate(len(slots)), len(slots)
        seen.rows["float32"][:, 0] = seen.memory[:, 0] = 10 * step + np.array(slots)
        outputs = np.arange(3 * count, dtype=np.float32).reshape(count, 3) + 100 * step
        pending.append(seen, outputs, step, np.array(slots), np.array(slots, np.uint8) + 4, teaches)
    pending.keep(np.array([True, False, True, False, True]), 3)
    assert (pending.count, pending.kept) == (3, 3)
    assert pending.step[:3].tolist() == [0, 2, 6]
    assert pending.slot[:3].tolist() == [2, 1, 1]
    assert pending.population[:3].tolist() == [6, 5, 5]
    assert pending.acts[:3].tolist() == [True, False, False]
    assert pending.seen.rows["float32"][:3, 0].tolist() == pending.seen.memory[:3, 0].tolist() == [32, 51, 91]
    assert pending.action[:3, 0].tolist() == [300, 500, 903]
    assert pending.log_prob[:3].tolist() == [301, 501, 904]


def test_windows_of_sequences_begin_at_the_last_rollout() -> None:
    """Windows of 4 steps from step 6: 2 to 5, 6 to 9; a slot without some of the steps, one that changes its population."""
    step, slot = np.array([1, 2, 4, 5, 6, 7, 9, 5, 6, 8]), np.array([0] * 7 + [1] * 3)
    population = np.array([0] * 7 + [0, 0, 1], np.uint8)
    units = cut_sequences(step, slot, population, 4, 6)
    assert sorted(unit[unit >= 0].tolist() for unit in units) == [[0], [1, 2, 3], [4, 5, 6], [7], [8], [9]]


def test_a_buffer_that_was_saved_goes_on() -> None:
    rng = np.random.default_rng(0)
    buffer, twin = TrajectoryBuffer(6, 4, SLOTS), TrajectoryBuffer(6, 4, SLOTS)
    for name, array in random_steps(rng, 10).items():
        getattr(buffer, name)[:] = array
    buffer.advance()
    twin.load(buffer.save())
    assert twin.reward.any()
    buffer.last_value[:] = twin.last_value[:] = 1.0
    for mine, other in zip(estimate(buffer, RETURNS), estimate(twin, RETURNS), strict=True):
        assert np.array_equal(mine, other)
    assert np.array_equal(buffer.ready(), twin.ready())
