"""Discrete observations are names: one-hots and embeddings, against forward passes by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.core.errors import UserError
from interplay.core.seals import Sealed
from interplay.train.observations import encode_all, find_names, input_space
from interplay.train.run.settings_file import settings_in
from interplay.train.settings import NetworkGroup
from tests.train.named import SPACE, Named, Table
from tests.train.test_exporting import made

pytestmark = pytest.mark.slow

SEEN = {"room": 4, "speed": np.array([0.5, -1.0], np.float32), "suits": np.array([2, 1]), "word": 777}
FLAT = "tests.train.named:Named"


def test_names_become_one_hots_and_large_ones_stay_numbers_of_a_table() -> None:
    names = find_names(SPACE, NetworkGroup(kind="mlp"))
    leaves = encode_all({key: jnp.asarray(leaf)[None] for key, leaf in SEEN.items()}, names)
    assert leaves["room"].tolist() == [[0, 0, 1, 0, 0]]
    assert leaves["suits"].tolist() == [[0, 0, 1, 0, 1, 0, 0]]
    assert leaves["word"].tolist() == [[777]]
    assert leaves["speed"].tolist() == [[0.5, -1.0]]


@pytest.mark.parametrize(
    ("sizes", "one_hot"),
    [((256,), (True,)), ((257,), (False,)), ((200, 56), (True, True)), ((200, 57), (False, True))],
)
def test_the_smallest_are_one_hots_as_long_as_there_is_room(sizes: Any, one_hot: Any) -> None:
    space = spaces.Dict([(str(i), spaces.Discrete(size)) for i, size in enumerate(sizes)])
    names = find_names(space, NetworkGroup(kind="mlp"))
    assert tuple(own.one_hot for own in names.values()) == one_hot


@pytest.mark.parametrize("discrete", ["auto", "one_hot", "embedding", "number"])
def test_a_network_says_what_a_forward_pass_by_hand_gives(discrete: str) -> None:
    policy, _ = made(FLAT, {"kind": "mlp", "hidden": [8], "discrete": discrete, "input_scale": True})
    tensors = {name.removeprefix("agent/"): array for name, array in policy.weights[0].items()}
    tables = iter([tensors[name] for name in sorted(tensors) if name.startswith("embeddings/")])
    table_of = {key: [next(tables) for _ in range(count)] for key, count in _tables(discrete)}
    row = np.concatenate([_by_hand(discrete, key, table_of.get(key, [])) for key in SEEN])
    hidden = np.tanh(row @ tensors["policy/layers/0/weight"] + tensors["policy/layers/0/bias"])
    logits = hidden @ tensors["policy_head/dense/weight"] + tensors["policy_head/dense/bias"]
    assert policy.look(SEEN).logits == pytest.approx(logits, abs=1e-5)


def _tables(discrete: str) -> list[tuple[str, int]]:
    """Leaves that have tables, and how many, in the order of the space."""
    return {"embedding": [("room", 1), ("suits", 2), ("word", 1)], "auto": [("word", 1)]}.get(discrete, [])


def _by_hand(discrete: str, key: str, tables: list[np.ndarray]) -> np.ndarray:
    start = {"room": 2}.get(key, 0)
    numbers = np.ravel(SEEN[key])
    if key == "speed":
        return numbers
    if tables:
        return np.concatenate([table[int(n) - start] for table, n in zip(tables, numbers, strict=True)])
    sizes = np.ravel(getattr(SPACE[key], "nvec", getattr(SPACE[key], "n", 0)))
    if discrete == "number":  # scaled by the bounds to [-1, 1]
        return 2 * (numbers - start) / (sizes - 1) - 1
    return np.concatenate([np.eye(size)[int(n) - start] for n, size in zip(numbers, sizes, strict=True)])


def test_the_input_of_a_network_reaches_both_bounds_of_its_space() -> None:
    settings = NetworkGroup(kind="mlp", discrete="one_hot")
    names, seen = find_names(SPACE, settings), input_space(SPACE, settings)
    leaves = encode_all({key: jnp.asarray(leaf)[None] for key, leaf in SEEN.items()}, names)
    for key in names:
        assert (leaves[key].min(), leaves[key].max()) == (seen[key].low.min(), seen[key].high.max())


def test_boxes_alone_leave_a_network_as_it_was() -> None:
    space = spaces.Dict(a=spaces.Box(0, 1, (3,)), b=spaces.MultiBinary(4))
    for kind in ("mlp", "attention", "pictures"):
        assert not find_names(space, NetworkGroup(kind=kind))
    assert input_space(space, NetworkGroup(kind="mlp")) == space
    assert not find_names(SPACE, NetworkGroup(kind="tests.train.crafted:Net"))


def test_runs_of_earlier_versions_are_refused() -> None:
    written = Sealed({"world": {"id": "x"}, "network": {"kind": "mlp"}}, "none", ())
    with pytest.raises(UserError, match=r"network\.scale_pictures"):
        settings_in(written, Path("settings.toml"))


@pytest.mark.parametrize("discrete", ["auto", "embedding"])
def test_a_table_of_states_is_learnt(discrete: str, tmp_path: Path) -> None:
    settings = {
        "workers": 1,
        "num_worlds": 8,
        "network": {"kind": "mlp", "hidden": [32], "discrete": discrete},
        "ppo": {"rollout": 64, "learning_rate": 3e-3, "minibatch": 64, "entropy_coefficient": 0.0},
        "train": {"quiet": True, "writers": []},
        "record": {"every": 0},
    }
    run = interplay.train(Table, tmp_path / "run", steps=15_000, **settings)
    assert run.evaluate(episodes=40, greedy=True)["return"].mean() / 10 > 0.95


def test_an_environment_with_names_is_trained_through_frames(tmp_path: Path) -> None:
    settings = {
        "workers": 1,
        "num_worlds": 2,
        "network": {"kind": "mlp", "hidden": [8], "stack": 2},
        "ppo": {"rollout": 8, "minibatch": 16, "epochs": 1},
        "train": {"quiet": True, "writers": [], "max_updates": 1},
    }
    run = interplay.train(Named, tmp_path / "run", steps=100, **settings)
    assert run.policy().look(SEEN).logits.shape == (3,)
