"""The number of workers is data to the compiled programs: one program serves any number, so every bit is the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.train.apart import SHARDS, Comparison, compiled_with, knows, settings_of, unaligned
from tests.train.meadow import make_meadow
from tests.train.test_minibatches import Crowded
from tests.train.toy_worlds import make_corridor, make_two_kinds

pytestmark = pytest.mark.slow

SIDES = {"by": "name", "groups": {"a": ["*_0"], "b": ["*_1"]}, "block": 16}
MLP = {"kind": "mlp", "hidden": [8]}
RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "mlp": (make_corridor, {"network": MLP}),
    "two populations": (make_corridor, {"network": MLP, "population": SIDES}),
    "two kinds": (make_two_kinds, {"network": MLP}),
    "gru": (
        make_corridor,
        {
            "network": MLP | {"memory": "gru", "memory_size": 5},
            "ppo": {"rollout": 21, "minibatch": 36 * SHARDS, "sequence": 7, "target_kl": "off"},
        },
    ),
    "attention": (Crowded, {"network": {"kind": "attention", "width": 4, "heads": 1, "tail": 4}}),
    "tiles": (make_meadow, {"network": {"kind": "tiles", "width": 8}, "population": {"block": 8}}),
    "whole vectors": (
        make_corridor,
        {"network": MLP, "num_worlds": 8 * SHARDS, "ppo": {"rollout": 32, "minibatch": 64 * SHARDS}},
    ),
    "one vector a shard": (  # gave other bits once
        make_corridor,
        {
            "network": {"kind": "mlp", "hidden": [16]},
            "num_worlds": 2,
            "train": {"shards": 2},
            "ppo": {"rollout": 16, "minibatch": 64, "target_kl": "off"},
        },
    ),
    "one step": (
        make_corridor,
        {"network": MLP, "algorithm": "policy_gradient", "policy_gradient": {"rollout": 19}},
    ),
}
SUITE = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"xla_backend_optimization_level": 3, "xla_cpu_use_fusion_emitters": True},
    {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": True},
    {"xla_backend_optimization_level": 3, "xla_cpu_use_fusion_emitters": False},
    SUITE,
    {**SUITE, "xla_cpu_parallel_codegen_split_count": 1},
    {"xla_cpu_enable_fast_math": True, "xla_cpu_prefer_vector_width": 128},
]


def check(make: Any, own: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """What is played, added up and learnt is the same with one worker, with two, ... and with one for each shard."""
    with compiled_with(options):
        compared = Comparison(settings_of(**own), make)
    first, *more = compared.teams
    compared.play(first, *more[:-1])
    with unaligned():
        compared.play(more[-1])
    together = compared.samples(first)
    for size in more:
        for mine, theirs in zip(compared.samples(size), together, strict=True):
            assert {name: array.tobytes() for name, array in mine.items()} == {
                name: array.tobytes() for name, array in theirs.items()
            }
    compared.estimate()
    steps = compared.steps(first)
    assert not np.array_equal(steps[0][0], steps[1][0])
    for size in more:
        with unaligned():
            apart = compared.steps(size)
        for mine, theirs in zip(apart, steps, strict=True):
            assert [leaf.tobytes() for leaf in mine] == [leaf.tobytes() for leaf in theirs]
    assert set(compared.programs().values()) == {1}


@pytest.mark.parametrize("run", ["two populations", "gru", "attention"])
def test_workers_change_no_bit_as_the_suite_compiles(run: str) -> None:
    check(*RUNS[run], {option: value for option, value in SUITE.items() if knows({option: value})})


@pytest.mark.parametrize("run", ["mlp", "one vector a shard"])
def test_workers_change_no_bit_as_users_compile(run: str) -> None:
    check(*RUNS[run], {"xla_backend_optimization_level": 3})


@pytest.mark.parametrize("run", RUNS)
def test_workers_change_no_bit_however_programs_are_compiled(run: str) -> None:
    tried = [options for options in OPTIONS if knows(options)]
    assert len(tried) > 2
    for options in tried:
        check(*RUNS[run], options)
