"""Running moments of observations: of all rows that were played, and exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from gymnasium import Env, spaces

import interplay
from interplay.train.export import plain
from interplay.train.losses import NUM_TERMS, Terms
from interplay.train.making import registry_factory
from interplay.train.networks.flat import MOST, merged
from tests.train.runs import short_run, worker_of
from tests.train.test_exporting import made

pytestmark = pytest.mark.slow


class Far(Env):
    """Says a number's sign, which is seen around 5,000; every observation that is acted on is noted."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(2)
    noted: ClassVar[list[list[np.ndarray]]] = []

    def __init__(self) -> None:
        self._mine: list[np.ndarray] = []
        self.noted.append(self._mine)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._steps = 0
        return self._draw(), {}

    def step(self, action: Any) -> Any:
        paid = float((self._number > 0) == bool(action))
        self._steps += 1
        over = self._steps == 10
        return self._draw(acted=not over), paid, False, over, {}

    def _draw(self, acted: bool = True) -> np.ndarray:
        self._number = float(self.np_random.normal())
        seen = np.array([5_000 + 10 * self._number, -3.0], np.float32)
        if acted:
            self._mine.append(seen)
        return seen


def test_moments_in_parts_are_those_of_all_rows() -> None:
    rows = np.random.default_rng(0).normal(1e4, [1.0, 30.0], (2, 900, 2))  # two populations
    mean, deviation, count = np.zeros((2, 2)), np.full((2, 2), 1e30), np.zeros((2, 1))
    for part in (slice(0, 1), slice(1, 400), slice(400, 400), slice(400, 900)):
        own = rows[:, part]
        sums = [np.full((2, 1), own.shape[1]), own.sum(axis=1), (own**2).sum(axis=1)]
        mean, deviation, count = merged(mean, deviation, count, np.concatenate(sums, axis=1))
    assert mean == pytest.approx(rows.mean(axis=1), rel=1e-6)
    assert deviation == pytest.approx(rows.std(axis=1), rel=1e-3)
    assert count.tolist() == [[900], [900]]


def test_sums_are_taken_of_boxes_and_by_population() -> None:
    policy, _ = made("tests.train.named:Named", {"kind": "mlp", "normalise": True})
    network = next(iter(policy.networks.values()))
    rows = network.layout.allocate(3)
    seen = {
        "room": [2, 3, 4],
        "speed": [[0.5, 1], [-1, 0], [0.5, 0.5]],
        "suits": np.zeros((3, 2)),
        "word": [5, 6, 7],
    }
    network.layout.write({key: np.asarray(leaf) for key, leaf in seen.items()}, None, rows)
    sums = network.row_sums(rows, np.zeros(3, np.uint8))
    width = 5 + 2 + 7 + 1
    assert sums.shape == (1, 1 + 2 * width)
    assert sums[0, 0] == 3
    assert sums[0, 1 + 5 : 1 + 7].tolist() == [0.0, 1.5]
    assert sums[0, 1 + width + 5 : 1 + width + 7].tolist() == [1.5, 1.25]
    assert np.count_nonzero(sums) == 4


def test_weight_decay_moves_weights_and_no_moments() -> None:
    """Without a gradient Adam's first step is the learning rate, towards 0."""
    own = {"policy_gradient": {"weight_decay": 0.5}, "network": {"kind": "mlp", "normalise": True}}
    settings = short_run("matrix/credit", algorithm="policy_gradient", **own)
    learner = worker_of(settings, registry_factory(settings)).learner
    (kind,) = learner.networks
    before = np.maximum(learner.vectors[kind], 2.0)  # deviations stay the 1e30 before the first rows
    learner.begin_with({kind: before})
    total = np.zeros(learner.size, np.float32)
    total[-NUM_TERMS:][Terms._fields.index("rows")] = 1.0
    learner.apply(total)
    moved = learner.networks[kind].split((before - np.array(learner.vectors[kind]))[0])
    for name, array in moved.items():
        rate = 0.0 if name.startswith("normaliser/") else settings.policy_gradient.learning_rate
        assert array == pytest.approx(np.full(array.shape, rate), rel=1e-3), name
    learner.load(learner.save())


def test_what_is_far_from_zero_is_learnt_with_the_moments_of_all_that_was_seen(tmp_path: Path) -> None:
    Far.noted.clear()
    settings = {
        "workers": 1,
        "num_worlds": 8,
        "network": {"kind": "mlp", "hidden": [16], "normalise": True},
        "ppo": {"rollout": 64, "learning_rate": 3e-3, "minibatch": 64},
        "train": {"quiet": True, "writers": [], "max_updates": 20},
        "record": {"every": 0},
    }
    run = interplay.train(Far, tmp_path / "run", steps=10**9, **settings)
    seen = np.concatenate([own[: 20 * 64] for own in Far.noted if len(own) > 1000])
    assert run.evaluate(episodes=20, greedy=True)["return"].mean() / 10 > 0.95
    policy = run.policy()
    row = np.array([5_010.0, -3.0], np.float32)
    look = policy.look(row)
    tensors = {name.split("/", 1)[1]: array for name, array in policy.weights[0].items()}
    assert tensors["normaliser/count"] == len(seen) == 20 * 64 * 8
    assert tensors["normaliser/mean"] == pytest.approx(seen.mean(axis=0, dtype=np.float64), rel=1e-6)
    assert tensors["normaliser/deviation"][0] == pytest.approx(seen[:, 0].std(dtype=np.float64), rel=1e-4)
    scaled = (row - tensors["normaliser/mean"]) / tensors["normaliser/deviation"]
    hidden = np.tanh(
        np.clip(scaled, -MOST, MOST) @ tensors["policy/layers/0/weight"] + tensors["policy/layers/0/bias"]
    )
    by_hand = hidden @ tensors["policy_head/dense/weight"] + tensors["policy_head/dense/bias"]
    assert look.logits == pytest.approx(by_hand, abs=1e-4)
    exported = plain.load(policy.export(tmp_path / "policy.npz"))
    said = exported({name: row[None] for name in exported.inputs if name != "action_mask"})
    assert said["logits"][0] == pytest.approx(look.logits, abs=1e-4)
