"""Policies live in [-1, 1] and Boxes of any size: one curve for environments that differ in units alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import Env, spaces

import interplay
from interplay.train.distributions import Distribution
from interplay.train.export import plain

pytestmark = pytest.mark.slow

NONE = np.finfo(np.float32).max
SEEN = np.zeros(1, np.float32)


@pytest.mark.parametrize(
    ("box", "number", "right"),
    [
        (spaces.Box(100, 200, (1,)), [-1.0, 0.5, 3.0], [100, 175, 200]),
        (spaces.Box(-1, 1, (1,)), [-1.5, 0.1, 0.7], [-1, np.float32(0.1), np.float32(0.7)]),
        (spaces.Box(0, 5000, (1,), np.int64), [-1.0, 0.0003, 0.0001], [0, 2501, 2500]),
        (spaces.Box(0, 255, (1,), np.uint8), [-2.0, 0.0, 1.0], [0, 128, 255]),
        (spaces.Box(1e9, 1e9 + 1, (1,), np.float64), [-1.0, 0.5, 1.0], [1e9, 1e9 + 0.75, 1e9 + 1]),
        (spaces.Box(-np.inf, np.inf, (1,)), [-7.0, 0.5, 7.0], [-7, 0.5, 7]),
        (spaces.Box(0, np.inf, (1,)), [-7.0, 0.5, 7.0], [0, 0.5, 7]),
        (spaces.Box(-NONE, NONE, (1,)), [-7.0, 0.5, 7.0], [-7, 0.5, 7]),
        (spaces.Box(-1e30, 1e30, (1,), np.float64), [-7.0, 0.5, 7.0], [-7, 0.5, 7]),
        (spaces.Box(0, 2**31 - 1, (1,), np.int32), [-7.0, 1.6, 7.0], [0, 2, 7]),
        (spaces.Box(4, 4, (1,)), [-7.0, 0.5, 7.0], [4, 4, 4]),
    ],
)
def test_numbers_of_a_box_in_its_own_units(box: spaces.Box, number: list[float], right: list[float]) -> None:
    distribution = Distribution(box)
    rows = np.array(number, np.float32)[:, None]
    found = distribution.to_world(rows)
    assert found.dtype == box.dtype
    assert found.ravel().tolist() == pytest.approx(right, rel=1e-15)
    assert all(box.contains(own) for own in found)
    assert np.asarray(distribution.in_units(jnp.asarray(rows), jnp)).ravel() == pytest.approx(right, rel=1e-6)


def test_each_element_has_units_of_its_own_and_choices_none() -> None:
    mixed = spaces.Dict(
        a=spaces.Discrete(5, start=2),
        b=spaces.Box(np.array([0, -np.inf]), np.array([10, 3]), dtype=np.float64),
    )
    rows = np.array([[4.0, 0.5, 2.5], [1.0, -9.0, 5.0]], np.float32)
    world = Distribution(mixed).to_world(rows)
    assert world["a"].tolist() == [6, 3]
    assert world["b"].tolist() == [[7.5, 2.5], [0.0, 3.0]]
    assert Distribution(mixed).in_units(rows).tolist() == [[4.0, 7.5, 2.5], [1.0, 0.0, 3.0]]


class Middle(Env):
    """Pays 1 for the middle of the Box, 0 at its sides, as `aim` says in shares of the half range."""

    def __init__(self, low: float, high: float, aim: float, dtype: Any = np.float32) -> None:
        self.observation_space = spaces.Box(0, 1, (1,), np.float32)
        self.action_space = spaces.Box(low, high, (1,), dtype)
        self._middle, self._half, self._aim = (low + high) / 2, (high - low) / 2, aim

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._steps = 0
        return SEEN, {}

    def step(self, action: np.ndarray) -> Any:
        self._steps += 1
        away = abs((float(action[0]) - self._middle) / self._half - self._aim)
        return SEEN, 1 - min(away, 1.0), False, self._steps == 10, {}


def trained(tmp_path: Path, steps: int, *box: Any) -> Any:
    settings = {
        "workers": 1,
        "num_worlds": 8,
        "network": {"kind": "mlp", "hidden": [16]},
        "ppo": {"rollout": 64, "learning_rate": 3e-3, "minibatch": 64},
        "train": {"quiet": True, "writers": []},
        "record": {"every": 0},
    }
    return interplay.train(lambda: Middle(*box), tmp_path / "run", steps=steps, **settings)


def curve(tmp_path: Path, *box: Any) -> list[float]:
    trained(tmp_path, 4_000, *box)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    return [line["episode_return"] for line in map(json.loads, lines) if "episode_return" in line]


def test_environments_that_differ_in_units_alone_learn_alike(tmp_path: Path) -> None:
    one, bits, near = (
        curve(tmp_path / name, *box)
        for name, box in {
            "one": (-1, 1, 0.5),
            "bits": (-4, 4, 0.5),
            "near": (100, 200, 0.5, np.float64),
        }.items()
    )
    assert len(one) > 3
    assert one == bits
    assert near == pytest.approx(one, abs=1e-3)


def test_a_box_far_from_zero_is_learnt_and_everything_speaks_its_units(tmp_path: Path) -> None:
    run = trained(tmp_path, 15_000, 100, 200, 0.4)
    assert run.evaluate(episodes=4, greedy=True)["return"].mean() / 10 > 0.85
    policy = run.policy()
    look = policy.look(SEEN)
    assert look.mean == pytest.approx([170], abs=7)
    assert look.action == pytest.approx(look.mean)
    assert 1 < look.deviation[0] < 50
    policy.export(tmp_path / "policy.npz")
    said = plain.load(tmp_path / "policy.npz")(
        {next(iter(policy.world.kinds[0].observation_space)): SEEN[None]}
    )
    assert said["action"][0] == pytest.approx(look.action, rel=1e-6)
    assert said["mean"][0] == pytest.approx(look.mean, rel=1e-6)
    assert said["deviation"][0] == pytest.approx(look.deviation, rel=1e-5)
