"""Arrays of a checkpoint fit or are refused by name, and nothing is changed then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.memory import recall, remember
from interplay.train.observations import ObservationRows
from interplay.train.run.restoring import check_weights, restore
from interplay.train.samples import PendingSamples, SampleLayout, TrajectoryBuffer

COUNTS = np.arange(4)


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ({}, "array counts is missing"),
        ({"counts": COUNTS[:3]}, r"array counts is int64\(3,\), this run needs int64\(4,\)"),
        ({"counts": COUNTS.astype(np.int32)}, "array counts is int32"),
        ({"counts": np.array(3)}, r"array counts is int64\(\)"),
        ({"counts": COUNTS - 1}, r"array counts holds -1, outside 0\.\.9"),
        ({"counts": COUNTS * 4}, r"array counts holds 12, outside 0\.\.9"),
        ({"counts": COUNTS, "means": np.array([0.0, np.nan])}, "array means holds NaN or infinity"),
    ],
)
def test_what_does_not_fit_is_named(saved: dict[str, np.ndarray], said: str) -> None:
    mine = {"counts": np.full(4, 7), "means": np.zeros(2)}
    with pytest.raises(UserError, match=f"^shard 3: {said}"):
        restore(mine, {"means": np.ones(2), **saved}, "shard 3", {"counts": (0, 9)})
    assert mine["counts"].tolist() == [7] * 4
    assert mine["means"].tolist() == [0, 0]


def test_what_fits_is_copied_in_place() -> None:
    array = np.zeros(4, np.int64)
    restore({"counts": array}, {"counts": COUNTS, "more": np.ones(1)}, "shard 3", {"counts": (0, 3)})
    assert array.tolist() == COUNTS.tolist()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_are_finite(value: float) -> None:
    tensors = {"a/w": np.ones(3, np.float32), "a/b": np.array([0, value], np.float32)}
    with pytest.raises(UserError, match="runs/a: weights 'a/b' hold NaN or infinity"):
        check_weights("runs/a", tensors)
    with pytest.raises(UserError, match="weights 'a/w' are float64, not float32"):
        check_weights("runs/a", {"a/w": np.ones(3)})
    with pytest.raises(UserError, match="holds no weights"):
        check_weights("runs/a", {})


def pending() -> PendingSamples:
    layout = SampleLayout(ObservationRows(spaces.Dict(x=spaces.Box(0, 1, (2,)))), 1)
    samples, seen = PendingSamples(layout, 8), layout.allocate(1)
    seen.rows["float32"][:] = 1.0
    for step in range(3):
        said = np.array([[1.0, -0.5, 0.25]], np.float32)
        samples.append(seen, said, step, np.array([step]), np.array([0], np.uint8), np.ones((1, 3), bool))
    return samples


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step", np.array([0, 1, 4], np.int32)),
        ("step", np.array([-1, 1, 2], np.int32)),
        ("slot", np.array([0, 1, 5], np.int32)),
        ("population", np.array([0, 0, 2], np.uint8)),
        ("step", np.zeros((3, 1), np.int32)),
        ("said", np.zeros((3, 2), np.float32)),
        ("observation/float32", np.zeros((2, 2), np.float32)),
        ("acts", np.zeros(3, np.int8)),
    ],
)
def test_samples_that_wait_name_places_that_there_are(name: str, value: np.ndarray) -> None:
    """Their numbers are indices: out of range they would read what is not theirs."""
    bounds = {"step": (0, 3), "slot": (0, 4), "population": (0, 1)}
    saved, fresh = pending().save(), pending()
    fresh.load(saved, "shard 0", bounds)
    assert fresh.count == 3
    assert all(np.array_equal(array, saved[key]) for key, array in fresh.save().items())
    assert saved["observation/float32"].all()
    with pytest.raises(UserError, match="shard 0"):
        fresh.load({**saved, name: value}, "shard 0", bounds)


def test_a_trajectory_is_that_of_the_run() -> None:
    buffer = TrajectoryBuffer(2, 3, (4, 1))
    saved = buffer.save()
    TrajectoryBuffer(2, 3, (4, 1)).load(saved)
    for other in (TrajectoryBuffer(1, 3, (4, 1)), TrajectoryBuffer(2, 3, (5, 1))):
        with pytest.raises(UserError, match="array reward is"):
            other.load(saved)
    with pytest.raises(UserError, match="trajectory: array ended is missing"):
        buffer.load({name: array for name, array in saved.items() if name != "ended"})


class Player:
    """Remembers a number, a flag and a generator."""

    def __init__(self) -> None:
        self.count, self.seen, self.rng = 3, np.zeros(2, bool), np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", np.arange(2)),
        ("rng", np.zeros(3)),
        ("rng", np.frombuffer(b"[" * 5000, np.uint8)),
        ("rng", np.frombuffer(b'{"bit_generator": "MT19937"}', np.uint8)),
        ("rng", np.frombuffer(b'{"state": -1e999}', np.uint8)),
    ],
)
def test_what_a_policy_remembers_is_as_it_was_saved(name: str, value: Any) -> None:
    saved = {**remember(Player()), name: value}
    with pytest.raises(UserError, match=f"Player: its {name} is not as saved") as caught:
        recall(Player(), saved)
    assert "\n" not in str(caught.value)
