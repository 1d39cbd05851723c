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
