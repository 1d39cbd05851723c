"""One agent at a time acts by its network's probabilities; many rows are computed piece by piece."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.settings import build
from interplay.core.world import Kind
from interplay.train.learner import Learner
from interplay.train.play import single, trained_policy
from interplay.train.play.single import SingleActor
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.populations import Populations
from interplay.train.settings import TrainSettings
from tests.train.test_exporting import CASES, made, seen_in

SEEN = spaces.Dict(place=spaces.Box(-3, 3, (2,), np.float32))
ACTS = spaces.Dict(a=spaces.Discrete(3), b=spaces.Discrete(4))


def test_an_agent_alone_acts_by_its_network_s_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask of one part leaves the other part free; each draw is another, and those of a seed are the same."""
    kind = Kind("agent", (0, 1), SEEN, ACTS)
    settings = build(TrainSettings, {"world": {"id": "x"}, "network": {"hidden": [8]}}, "test")
    learner, rng = Learner((kind,), settings, Populations(("pop0",), None)), np.random.default_rng(0)
    vectors = np.asarray(learner.vectors["agent"]) + 0.5 * rng.normal(size=learner.vectors["agent"].shape)
    learner.begin_with({"agent": vectors.astype(np.float32)})
    monkeypatch.setattr(single, "settings_of", lambda *_: settings)
    monkeypatch.setattr(single, "read_checkpoint", lambda _: SimpleNamespace(record={}))
    monkeypatch.setattr(single, "weights_of", lambda *_: learner.weights("pop0"))
    one, same, other = (SingleActor(Path("0"), [kind], seed) for seed in (1, 1, 2))
    network = learner.networks["agent"]
    inference, likeliest = network.precompute(learner.vectors["agent"]), set()
    for place in rng.uniform(-3, 3, (10, 2)).astype(np.float32):
        rows = network.layout.allocate(1)
        network.layout.write({"place": place[None]}, None, rows)
        told = np.asarray(network.probabilities(inference, np.int32(0), rows, np.ones((1, 7), bool)))[0]
        best = {"a": told[:3].argmax(), "b": told[3:].argmax()}
        assert one.act("agent", {"place": place}) == best
        legal = {"b": np.array([0, 1, 0, 1], bool)}
        assert one.act("agent", {"place": place}, legal) == best | {"b": 1 + 2 * (told[4] < told[6])}
        likeliest.add((best["a"], best["b"]))
    assert len(likeliest) > 2
    draws: list[Any] = [
        [tuple(actor.act("agent", {"place": place}, None, True).values()) for _ in range(300)]
        for actor in (one, same, other)
    ]
    for drawn in draws:
        a, b = np.array(drawn).T
        often = np.concatenate([np.bincount(a, minlength=3), np.bincount(b, minlength=4)]) / 300
        assert (np.abs(often - told) < 4 * np.sqrt(told * (1 - told) / 300) + 1e-3).all()
    assert draws[0][:280] == draws[1][20:]  # which had not acted before
    assert draws[1] != draws[2]


def test_rows_of_one_call_are_drawn_apart_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained_policy, "AT_ONCE", 64)
    policy, world = made(*CASES["mlp"])
    policy.greedy = False
    seen = {key: np.repeat(leaf[None], 128, axis=1) for key, leaf in seen_in(world, 1)[0].items()}
    index, kind = np.arange(128), world.kinds[0].name
    acted = policy.choose(kind, seen, None, index, 0 * index, np.uint32(5), None)[0]
    assert not np.array_equal(acted[:64], acted[64:])
    assert np.array_equal(acted, policy.choose(kind, seen, None, index, 0 * index, np.uint32(5), None)[0])


def test_each_row_has_its_own_memory_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained_policy, "AT_ONCE", 2)
    policy, world = made(*CASES["gru"])
    seen, _ = seen_in(world, 6)
    memory = np.random.default_rng(1).normal(size=(1, 6, policy.networks["agent"].memory)).astype(np.float32)
    before, index = memory[0].copy(), np.array([1, 3, 4])
    batch = {key: leaf[None] for key, leaf in seen.items()}
    policy.choose("agent", batch, None, index, 0 * index, np.uint32(0), memory)
    for row in range(6):
        after = policy.look({key: leaf[row] for key, leaf in seen.items()}, memory=before[row]).memory
        expected = after if row in index else before[row]
        assert np.allclose(memory[0, row], expected, atol=1e-5)


def test_each_row_is_read_by_its_population_s_network_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Network n gives 10^n times what it sees, and the mask or 1; populations are played by the networks 2, 0 and 1."""
    monkeypatch.setattr(trained_policy, "AT_ONCE", 2)

    def write(given: Any, picked: np.ndarray, out: Any) -> None:
        out["x"][:] = given["x"][picked]

    def outputs(_: Any, number: int, rows: Any, legal: Any = None) -> np.ndarray:
        second = np.ones(2) if legal is None else legal[:, 1]
        return np.stack([10.0**number * rows["x"][:, 0], second], axis=1)

    policy: Any = TrainedPolicy.__new__(TrainedPolicy)
    policy.settings = build(TrainSettings, {"world": {"id": "x"}, "belief": {"about": "a"}}, "test")
    layout = SimpleNamespace(allocate=lambda count: {"x": np.zeros((count, 1))}, write=write)
    distribution, kind = SimpleNamespace(choices=2), SimpleNamespace(slots=(0, 1))
    network = SimpleNamespace(layout=layout, distribution=distribution, kind=kind)
    network.probabilities = network.beliefs = outputs
    policy.networks, policy.inference = {"agent": network}, {"agent": None}
    policy.names, world = ("a", "b", "c"), SimpleNamespace(population_names=("c", "a", "b"))
    policy._populations = Populations(world.population_names, np.array([2, 0], np.uint8))
    policy._moved_by = policy._match(world)
    assert policy._moved_by.tolist() == [2, 0, 1]
    assert [policy.mover(slot) for slot in (0, 1)] == [1, 2]
    seen, population = {"x": np.arange(1.0, 9)[:, None]}, np.array([0, 2, 2, 1, 2, 0, 1, 2])
    mask = np.arange(16).reshape(8, 2) % 3 > 0
    expected = 10.0 ** policy._moved_by[population] * np.arange(1, 9)
    assert policy.beliefs(seen, population)[:, 0].tolist() == expected.tolist()
    found = policy.probabilities(seen, mask, population)
    assert (found[:, 0].tolist(), found[:, 1].tolist()) == (expected.tolist(), mask[:, 1].tolist())
